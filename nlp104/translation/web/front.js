// The translator on a page: sentences that were recorded, and, once its model is there, the
// reader's own. The engine runs in a worker where the browser lets it; worker.js says what it is
// asked and answers.
(() => {
  "use strict";
  const { byStep, asRun } = nlp104web.view;
  const { frame, quiet } = nlp104web.frame;
  const { show, showThreads } = nlp104web.show;
  const { propose } = nlp104web.invite;
  const { connect } = nlp104web.loading;
  const { answers } = nlp104web;
  const PAUSE = { recorded: 900, written: 260 }; // milliseconds for each word; the model is faster
  const BEAMS = 4;
  const ALPHA = 0.6;
  const WIDE = 560; // pixels: from here on there is room for the heads
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let figures = 0;

  class Translator {
    constructor(root) {
      const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
      this.root = root;
      this.data = data;
      this.recorded = data.recorded.map((each) => {
        return { ...each, cross: byStep(each.cross, 100), done: true };
      });
      // What is shown, see view.js, the word that is looked at, and the last that was shown. Where
      // there is little room, a sentence of one line, and its first word.
      const first = this.recorded[0] ?? null;
      this.run = root.clientWidth < WIDE ? this.shortest : first;
      this.whole = this.run; // the last one that was written with all heads
      this.step = this.run === first ? (data.step ?? 0) : 0;
      this.reached = this.last;
      this.look = { layer: data.layer, head: null };
      this.off = new Set(); // heads put out
      this.engine = null;
      this.config = {}; // the model's, once it is there
      this.asked = 0; // the number of the last question, and of that which only compares
      this.aside = 0;
      this.clock = 0; // runs while words are shown one by one
      root.querySelector(".instead")?.remove();
      this.parts = frame(root, `translator-${++figures}`, data, BEAMS, this.answersToHands());
      this.listen();
      if (data.inside) this.begin({ engine: nlp104web.source, model: nlp104web.models[data.name] });
      else propose(this);
      if (calm.matches || this.run) this.show();
    }

    get calm() {
      return calm.matches; // no motion is wanted
    }

    get shortest() {
      const length = ({ text }) => text.length;
      return [...this.recorded].sort((one, other) => length(one) - length(other))[0] ?? null;
    }

    get last() {
      return this.run ? this.run.target.length - 1 : -1;
    }

    answersToHands() {
      return {
        submit: () => this.submit(),
        pick: (text) => this.pick(text),
        search: () => this.run && this.translate(this.run.text),
        reset: () => {
          this.reached = -1;
          this.leap(0);
        },
        back: () => this.leap(this.step - 1),
        next: () => this.leap(this.step + 1),
        play: () => (this.clock ? this.pause() : this.play(PAUSE.recorded)),
        unfold: () => this.show(),
      };
    }

    show() {
      show(this);
    }

    lookAt(look) {
      this.look = look;
      this.show();
    }

    // ---------- steps ----------
    leap(to) {
      this.pause(false);
      this.step = Math.max(0, Math.min(to, this.last));
      this.reached = Math.max(this.reached, this.step);
      this.show();
    }

    play(pace) {
      if (this.step >= this.last && this.run.done) this.step = this.reached = -1;
      const onward = () => {
        if (this.step < this.last) {
          this.step += 1;
          this.reached = Math.max(this.reached, this.step);
        } else if (this.run.done) {
          this.pause();
          return;
        }
        this.show();
      };
      this.clock = setInterval(onward, pace);
      onward();
    }

    pause(redraw = true) {
      clearInterval(this.clock);
      this.clock = 0;
      if (redraw) this.show();
    }

    // Shows another sentence from its first word on.
    take(run, pace) {
      this.pause(false);
      this.parts.withAll.hidden = true;
      this.run = run;
      this.step = this.reached = -1;
      if (calm.matches) this.reached = this.step = this.last;
      else this.play(pace);
      this.show();
    }

    // ---------- sentences ----------
    complain(text) {
      this.parts.problem.textContent = text;
      this.parts.problem.hidden = !text;
    }

    submit() {
      const { field } = this.parts;
      if (field.value.trim()) {
        this.translate(field.value);
        return;
      }
      this.complain("Type a sentence first.");
      field.focus();
    }

    pick(text) {
      this.parts.field.value = text;
      if (this.config.layers) {
        this.translate(text);
        return;
      }
      const kept = this.recorded.find((each) => each.text === text);
      if (!kept) return;
      this.whole = kept;
      this.take(kept, PAUSE.recorded);
    }

    translate(text) {
      if (!this.engine) return;
      this.complain("");
      const beams = Number(this.parts.choice.querySelector("input:checked").value);
      const empty = { source: [], target: [], words: [], cross: [] };
      this.take({ text, beams, ...empty, done: false }, PAUSE.written);
      this.ask([...this.off]);
    }

    // Asks for the sentence that is shown, without some heads.
    ask(heads) {
      const { text, beams } = this.run;
      const off = heads.map((head) => ["cross", ...head.split(":").map(Number)]);
      this.asked += 1;
      this.engine.send({ kind: "translate", id: this.asked, text, beams, alpha: ALPHA, off });
    }

    cancel() {
      const { run } = this;
      if (!run || run.done) return;
      this.asked += 1; // what still comes is not listened to
      run.done = true;
      if (!run.target.length) {
        this.run = this.whole;
        this.step = this.reached = this.last;
      }
      this.pause();
    }

    // Puts heads out, or on again.
    turn(heads, on) {
      for (const head of heads) this.off[on ? "delete" : "add"](head);
      this.translate(this.run.text);
    }

    // Some heads are off: what would be written with all of them?
    compare() {
      const { whole, run } = this;
      const { withAll } = this.parts;
      if (whole?.text !== run.text || (whole.beams ?? 1) !== run.beams) {
        this.aside = this.asked + 1; // before it is asked: an engine in the page answers at once
        this.ask([]);
        return;
      }
      withAll.hidden = false;
      withAll.textContent =
        whole.translation === run.translation
          ? "With all heads it writes the same."
          : `With all heads: ${whole.translation}`;
    }

    // ---------- the engine ----------
    begin(texts) {
      this.parts.invite.replaceChildren(quiet("Unpacking the model …"));
      this.engine = connect(texts, ({ data }) => this.heard(data));
      this.show();
    }

    heard(message) {
      if (message.id !== undefined && message.id !== this.asked) return;
      if (message.id !== this.aside) answers[message.kind](this, message);
      else if (message.kind === "done") {
        this.whole = { ...this.run, ...asRun(message) };
        this.compare();
      }
      this.show();
    }

    // ---------- keys and sizes ----------
    listen() {
      const { root, parts } = this;
      root.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => showThreads(this)).observe(parts.weave);
      parts.heads.open = root.clientWidth > WIDE;
    }

    key(event) {
      const { target, key } = event;
      const { grid } = this.parts;
      const way = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (key === "Escape") this.cancel();
      if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
      if (!target.closest(".target, .grid")) return;
      event.preventDefault();
      if (target.closest(".target")) {
        this.leap(this.step + way);
        this.parts.target.querySelectorAll(".token")[this.step]?.focus();
        return;
      }
      const tiles = [...grid.querySelectorAll("button")];
      const other = tiles[tiles.indexOf(target) + way];
      other?.click();
      other?.focus();
    }
  }

  for (const root of document.querySelectorAll(".nlp104.translator:not([data-step])"))
    new Translator(root);
})();
