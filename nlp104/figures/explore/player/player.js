// Explorables: the player, which shows a scene step by step.
//
// A scene's last file calls nlp104.scene(name, (data, nlp104) => ({
//   lead,                        one sentence: what to do
//   start, keep,                 the first state; what a reset keeps of it
//   chapters,                    one name for each step; neighbours with one name are one chapter
//   options: [{name, label, values: [[value, text], …], when(state, width)}], or {name, field},
//                                a function that makes an element with an input
//   equation, lit(state),        HTML with data-term="…"; the terms that are lit
//   draw(state, width) → {marks, height, caption, table: {caption, rows, columns, values}, focus},
//   last(state),                 its last step, where that depends on the state
//   press(state, action), move(state, step), option(state, name, value, before),
//   slide(state, action, value)  change the state; the last where a mark is pulled that has
//                                slide: {value, low, high, by, length}, in pixels, upwards
// }))
nlp104.scene ??= (() => {
  const { limit, tidy, range, set, rich, plain, frame, tabulate } = nlp104;
  const { Stage, Chapters, remember, recall, listen } = nlp104;
  const { make, icon } = nlp104elements;
  const SLIM = 560; // pixels: what is narrower is a phone's
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const copies = {}; // how many figures of a name the page has

  class Player {
    constructor(root, name, build) {
      const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
      copies[name] = (copies[name] ?? 0) + 1;
      this.root = root;
      this.title = data.title;
      this.address = copies[name] > 1 ? `${name}-${copies[name]}` : name;
      this.scene = build(data, nlp104);
      this.steps = this.scene.chapters.length;
      this.options = this.scene.options ?? [];
      this.start = { step: 0, ...this.scene.start };
      this.state = { ...this.start };
      this.width = 0;
      this.playing = false;
      this.timer = 0;
      this.follow = true; // whether the page goes where the step is
      this.tall = 0; // the height of the longest caption, and for what it was measured
      this.reserved = "";
      root.querySelector(".instead").hidden = true;
      this.frame = frame(this);
      this.picture = new Stage(this.frame.drawing);
      const { titles } = this.frame;
      this.chapters = new Chapters(this.scene.chapters, titles, (step) => this.go(step));
      listen(this);
      this.live();
    }

    get last() {
      return this.scene.last?.(this.state) ?? this.steps - 1;
    }

    // ---------- one state ----------
    show({ still = calm.matches, write = true, texts = false } = {}) {
      if (!this.width) return;
      const { scene, state, width, playing, root } = this;
      state.step = Math.min(state.step, this.last);
      if (texts) this.reserve(); // there may be others now
      const { drawing, table } = this.frame;
      const { marks, height, caption, table: numbers, focus } = scene.draw(state, width);
      const tall = Math.ceil(height);
      set(drawing, { width, height: tall, viewBox: `0 0 ${width} ${tall}` });
      this.picture.draw(marks, still);
      this.showCaption(caption);
      this.showChoices();
      if (this.frame.equation) this.showEquation();
      this.showBar(caption);
      if (numbers && !playing) table.replaceChildren(...tabulate(numbers));
      Object.assign(root.dataset, { step: state.step, state: JSON.stringify(state) });
      if (write && !playing) remember(this);
      return focus;
    }

    showCaption(words) {
      const { caption } = this.frame;
      const html = rich(words);
      if (caption.dataset.html !== html) caption.innerHTML = caption.dataset.html = html;
      caption.setAttribute("aria-live", this.playing ? "off" : "polite");
    }

    showChoices() {
      for (const { name, when } of this.options) {
        const choice = this.frame.tools.querySelector(`[data-option="${name}"]`);
        choice.hidden = Boolean(when) && !when(this.state, this.width);
        const chosen = String(this.state[name]);
        for (const input of choice.querySelectorAll("input"))
          if (input.type === "radio") input.checked = input.value === chosen;
          else input.value = chosen;
      }
    }

    showEquation() {
      const { scene, state } = this;
      const { equation } = this.frame;
      const lit = scene.lit(state);
      for (const term of equation.querySelectorAll("[data-term]")) {
        const names = term.dataset.term.split(" ");
        term.classList.toggle(
          "lit",
          names.some((name) => lit.includes(name)),
        );
      }
      const now = plain(scene.chapters[state.step]);
      equation.setAttribute("aria-label", `${scene.spoken}. Now: ${now}`);
    }

    showBar(words) {
      const { last, playing, width } = this;
      const { step } = this.state;
      const { slider, count, back, next, play } = this.frame;
      const part = step / Math.max(1, last);
      Object.assign(slider, { max: last, value: step });
      slider.style.setProperty("--done", `calc(10px + (100% - 20px) * ${part})`);
      slider.setAttribute("aria-valuetext", `${step + 1} of ${last + 1}: ${plain(words)}`);
      count.textContent = `${step + 1} / ${last + 1}`;
      this.chapters.show(step, last, width);
      set(back, { "aria-disabled": step === 0 });
      set(next, { "aria-disabled": step === last });
      play.innerHTML = playing ? `${icon("pause")}Pause` : `${icon("play")}Play`;
    }

    // The caption has the height of the longest one, or the buttons below it would move from step
    // to step.
    reserve() {
      const { scene, state, steps, width, root } = this;
      const { caption } = this.frame;
      const asked = `${width} ${JSON.stringify({ ...state, step: 0 })}`;
      if (steps < 2 || asked === this.reserved) return;
      this.reserved = asked;
      const others = range(steps).map((step) => ({ ...state, step }));
      for (const other of others) scene.move?.(other, other.step);
      const texts = [state, ...others].map((one) => rich(scene.draw(one, width).caption));
      const lines = [...new Set(texts)].map((innerHTML) => make("div", { innerHTML }));
      const wide = caption.getBoundingClientRect().width;
      const style = `position: absolute; visibility: hidden; width: ${wide}px`;
      const probe = root.appendChild(make("figcaption", { style }, ...lines));
      const heights = lines.map((line) => Math.ceil(line.getBoundingClientRect().height));
      probe.remove();
      this.tall = Math.max(this.tall, ...heights); // a switch never makes it lower
      caption.style.minHeight = `${this.tall}px`;
    }

    // ---------- steps ----------
    go(step, { keep = false } = {}) {
      if (!keep) {
        this.follow = true;
        this.pause(false);
      }
      this.state.step = limit(step, 0, this.last);
      this.scene.move?.(this.state, this.state.step);
      const focus = this.show();
      if (this.follow) this.bring(focus);
    }

    // On a phone what a step is about, or all that fits a screen, comes out from behind the caption
    // or from above the screen.
    bring(focus) {
      const { stage, equation, caption, bar } = this.frame;
      const end = (element, side) => element.getBoundingClientRect()[side];
      const padding = getComputedStyle(document.documentElement).scrollPaddingTop;
      const roof = parseFloat(padding) || 0;
      const floor = innerHeight - caption.offsetHeight - bar.offsetHeight - 12;
      const whole = [end(equation || stage, "top"), end(stage, "bottom")];
      const [from, to] = focus?.map((y) => end(stage, "top") + y) ?? whole;
      const by = Math.min(Math.max(0, to - floor), from - roof);
      if (by && this.width < SLIM && (focus || to - from <= floor - roof))
        scrollBy({ top: by, behavior: calm.matches ? "auto" : "smooth" });
    }

    play() {
      if (this.state.step === this.last) this.go(0);
      this.playing = this.follow = true;
      this.show();
      const onward = () => {
        if (this.state.step >= this.last) {
          this.pause();
          return;
        }
        this.go(this.state.step + 1, { keep: true });
        this.timer = setTimeout(onward, this.scene.pause?.(this.state) ?? 2400);
      };
      this.timer = setTimeout(onward, 500);
    }

    pause(redraw = true) {
      clearTimeout(this.timer);
      if (!this.playing) return;
      this.playing = false;
      if (redraw) this.show();
    }

    reset() {
      const { scene, state } = this;
      const kept = Object.fromEntries((scene.keep ?? []).map((key) => [key, state[key]]));
      Object.assign(state, scene.start, kept);
      if (this.width) this.reserve();
      this.go(0);
    }

    // ---------- what is pressed, pulled, chosen ----------
    press(element) {
      this.pause(false);
      this.scene.press(this.state, element.dataset.act.split(":"));
      this.show({ texts: true });
    }

    pull(element, value) {
      this.pause(false);
      const { low, high, by } = this.picture.slider(element);
      const place = limit(tidy(Math.round(value / by) * by), low, high);
      this.scene.slide(this.state, element.dataset.act.split(":"), place);
    }

    choose(name, value) {
      this.pause();
      const before = this.state[name];
      this.state[name] = value;
      this.scene.option?.(this.state, name, value, before);
      this.show({ texts: true });
    }

    // ---------- life on the page ----------
    live() {
      const { root } = this;
      const { stage } = this.frame;
      const quiet = { still: true, write: false, texts: true };
      const here = recall(this);
      addEventListener("hashchange", () => recall(this) && this.show(quiet));
      new ResizeObserver(() => this.measure(quiet)).observe(stage);
      new IntersectionObserver(([entry]) => entry.isIntersecting || this.pause()).observe(root);
      // Half way up the screen, the caption and the bar are pinned to its end.
      const low = ([entry]) => root.classList.toggle("low", !entry.isIntersecting);
      new IntersectionObserver(low, { rootMargin: "0px 0px -50%" }).observe(stage);
      // While it plays, the page is the reader's.
      for (const moved of ["wheel", "touchmove"])
        addEventListener(moved, () => (this.follow = false), { passive: true });
      this.measure(quiet);
      if (here) root.scrollIntoView();
    }

    measure(quiet) {
      const width = Math.floor(this.frame.stage.clientWidth);
      if (!width || width === this.width) return;
      this.width = width;
      this.tall = 0;
      this.root.classList.toggle("slim", width < SLIM);
      this.show(quiet);
    }
  }

  return (name, build) => {
    const found = `.nlp104.explore[data-scene="${name}"]:not([data-step])`;
    for (const root of document.querySelectorAll(found)) new Player(root, name, build);
  };
})();
