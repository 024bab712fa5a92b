// The translator on a page: sentences that were recorded, and, once its model is there, the reader's own.
// The engine runs in a worker where the browser lets it; worker.js says what it is asked and answers.
(() => {
  "use strict";
  const { make, icon, language, percent, name, inPieces, list, weights, looked, threads, map, bars, table, caption, byStep, asRun } = nlp104web.view;
  const { fetchParts, connect } = nlp104web.loading;
  const PAUSE = { recorded: 900, written: 260 }; // milliseconds for each word; the model is faster
  const BEAMS = 4, ALPHA = 0.6;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let figures = 0;

  function mount(root) {
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    const [from, to] = [0, 1].map((place) => (data.languages[place] ? ` in ${language(data.languages[place])}` : ""));
    const recorded = data.recorded.map((each) => ({ ...each, cross: byStep(each.cross, 100), done: true }));
    const id = `translator-${++figures}`, off = new Set();
    let run = recorded[0] ?? null, step = data.step ?? 0, reached = run ? run.target.length - 1 : -1;
    let look = { layer: data.layer, head: null }, engine = null, config = {}, asked = 0, aside = 0, clock = 0, whole = run;
    root.querySelector(".instead")?.remove();

    // ----- the frame -----
    const button = (label, onclick, properties = {}) => make("button", { type: "button", textContent: label, onclick, ...properties });
    const picture = (kind, label, onclick) => make("button", { type: "button", title: label, innerHTML: icon(kind), onclick, data: { "aria-label": label } });
    const field = make("input", { type: "text", id, maxLength: 2000, autocomplete: "off", spellcheck: false, enterKeyHint: "go", lang: data.languages[0] ?? "", placeholder: `A sentence${from}` });
    const go = make("button", { className: "main", textContent: "Translate" });
    const ask = make("form", { className: "ask", hidden: true, onsubmit(event) {
      event.preventDefault();
      if (field.value.trim()) translate(field.value);
      else complain("Type a sentence first."), field.focus();
    } }, make("label", { className: "unseen", htmlFor: id, textContent: `A sentence${from}` }), field, go);
    const picks = make("div", { className: "picks", data: { role: "group", "aria-label": "Sentences" } }, ...data.examples.map((text) => button(text, () => pick(text))));
    const invite = make("div", { className: "invite" }), problem = make("p", { className: "problem", hidden: true, data: { role: "alert" } });
    const spoken = make("p", { className: "unseen", data: { role: "status", "aria-live": "polite" } });
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("class", "threads"), lines.setAttribute("aria-hidden", "true");
    const source = make("ol", { className: "tokens source", lang: data.languages[0] ?? "", data: { "aria-label": `What it read${from}` } });
    const target = make("ol", { className: "tokens target", lang: data.languages[1] ?? "", data: { "aria-label": `What it wrote${to}: choose a word` } });
    const unknown = make("p", { className: "quiet", hidden: true, textContent: "unk stands for something that is not in the vocabulary: the model cannot tell what it was." });
    const result = make("p", { className: "result", lang: data.languages[1] ?? "" }), withAll = make("p", { className: "quiet with-all", hidden: true });
    const weave = make("div", { className: "weave" }, lines, source, target, result, withAll, unknown);
    const count = make("span", { className: "count", data: { "aria-hidden": "true" } });
    const player = make("button", { type: "button", className: "play", onclick: () => (clock ? pause() : play(PAUSE.recorded)) });
    const back = picture("back", "One word back", () => leap(step - 1)), next = picture("next", "One word on", () => leap(step + 1));
    const reset = picture("reset", "Start again", () => ((reached = -1), leap(0)));
    const words = make("figcaption", { data: { "aria-live": "polite", "aria-atomic": "true" } });
    const heading = make("p", { className: "over", textContent: "The likeliest next words" }), ended = make("p", { className: "over ended", textContent: "What the beams ended with, and its score" }), chances = make("ol", { className: "bars" }), found = make("ol", { className: "candidates" });
    const piece = make("p", { className: "quiet", textContent: "· goes on with the word before" });
    const grid = make("div", { className: "grid", data: { role: "group", "aria-label": "Whose weights are shown" } }), switches = make("div", { className: "switches", hidden: true });
    const heads = make("details", { ontoggle: () => show() }, make("summary", { textContent: "Its heads, a row for each word written: choose one" }), grid, switches);
    const panels = make("div", { className: "panels" }, make("div", {}, heading, chances, piece, ended, found), heads);
    const choice = make("fieldset", { hidden: true }, make("legend", { className: "unseen", textContent: "Search" }), make("div", { className: "choice" }, ...[[1, "greedy"], [BEAMS, `${BEAMS} beams`]].map(([value, text], i) =>
      make("label", {}, make("input", { type: "radio", name: `${id}-beams`, value, checked: !i, onchange: () => run && translate(run.text) }), make("span", { textContent: text })))));
    const bar = make("div", { className: "bar" }, reset, back, player, next, count, choice), time = make("p", { className: "quiet time" });
    const numbers = make("table"), all = make("details", { className: "numbers", ontoggle: () => show() }, make("summary", { textContent: "All weights as numbers, in per cent" }),
      make("div", { className: "scroll", tabIndex: 0, data: { role: "region", "aria-label": "A row for each token written, a column for each token read" } }, numbers));
    root.append(make(data.heading ?? "p", { className: "title", textContent: data.title }), make("p", { className: "lead", textContent: data.lead }),
      ask, picks, invite, problem, spoken, weave, bar, words, panels, time, all);

    // ----- one state -----
    function show() {
      const playing = Boolean(clock), here = run?.target.length > 0 && step >= 0;
      if (!run) for (const part of [weave, bar, words, panels, all]) part.hidden = true;
      for (const each of picks.children) each.setAttribute("aria-pressed", String(each.textContent === run?.text));
      Object.assign(root.dataset, { step, engine: engine ? (config.layers ? "ready" : "starting") : "none", writing: String(Boolean(run && !run.done)) });
      player.innerHTML = playing ? `${icon("pause")}Pause` : `${icon("play")}Play`;
      if (!run?.source.length) return; // a moment ago it was asked: what was there stays as long
      for (const part of [weave, bar, words, panels, all]) part.hidden = false;
      const pieces = inPieces(run), last = run.target.length - 1, row = here ? weights(run, step, look) : run.source.map(() => 0);
      list(source, run.source, pieces, "span", (token, j) => {
        const note = token.querySelector("small") ?? token.appendChild(make("small"));
        note.textContent = here && row[j] >= 0.01 ? percent(row[j]) : "";
        token.style.setProperty("--w", row[j].toFixed(3));
      });
      list(target, run.target, pieces, "button", (token, t) => {
        token.type = "button";
        token.onclick = () => leap(t);
        token.tabIndex = t === step ? 0 : -1;
        token.setAttribute("aria-pressed", String(t === step));
        token.classList.toggle("unwritten", t > reached);
        token.classList.toggle("later", t > step && t <= reached);
        token.classList.toggle("fresh", playing && t === step);
      });
      spin();
      unknown.hidden = ![...run.source, ...run.target].includes("[UNK]");
      result.textContent = reached >= last && run.done ? run.translation ?? "" : "";
      count.textContent = `${step + 1} / ${last + 1}`;
      back.disabled = step <= 0;
      next.disabled = step >= last;
      if (!here) return;
      words.setAttribute("aria-live", playing ? "off" : "polite");
      const said = caption(run, step, look, pieces), text = said.map((part) => part.textContent ?? part).join("");
      if (words.textContent !== text) words.replaceChildren(...said);
      const options = run.words[step];
      chances.replaceChildren(...bars(options, run.target[step], pieces));
      piece.hidden = !options.some(([token]) => name(token, pieces).startsWith("·"));
      const several = run.beams > 1 ? run.candidates ?? [] : [];
      ended.hidden = !several.length;
      chances.classList.toggle("few", several.length > 0);
      found.replaceChildren(...several.map(([translation, score]) => make("li", {}, make("span", { textContent: translation || "(nothing)" }), make("span", { textContent: score.toFixed(2).replace("-", "−") }))));
      time.textContent = run.milliseconds ? `Computed here in ${Math.round(run.milliseconds.encoder + run.milliseconds.step * run.target.length)} ms${calm.matches ? "" : ", shown slower"}.` : "";
      if (heads.open) showHeads();
      if (all.open) numbers.replaceChildren(...table(run, step, look, pieces));
    }
    function spin() {
      if (run?.cross.length) threads(lines, source.querySelectorAll(".token"), target.querySelectorAll(".token"), run, step, Math.min(reached, run.cross.length - 1), look);
    }
    function showHeads() {
      const layers = run.cross[0].length, per = run.cross[0][0].length, upTo = run.cross.slice(0, reached + 1), colour = getComputedStyle(grid).color;
      if (!grid.children.length) {
        grid.style.setProperty("--heads", per);
        const choose = (layer, head, label, className) => button(label, () => ((look = { layer, head }), show()), { className, data: { "data-look": `${layer}:${head}` } });
        const tile = (layer, head) => {
          const element = choose(layer, head, "", "tile");
          element.append(make("canvas", { className: "map" }));
          return element;
        };
        grid.replaceChildren(choose(null, null, "all", "whole"), ...Array.from({ length: per }, (_, h) => make("span", { className: "quiet column", textContent: h + 1 })),
          ...Array.from({ length: layers }, (_, l) => [choose(l, null, `layer ${l + 1}`, "whole"), ...Array.from({ length: per }, (_, h) => tile(l, h))]).flat());
      }
      for (const element of grid.querySelectorAll("button")) {
        const [layer, head] = element.dataset.look.split(":").map((x) => (x === "null" ? null : Number(x)));
        const pressed = layer === look.layer && head === look.head;
        element.setAttribute("aria-pressed", String(pressed));
        element.tabIndex = pressed ? 0 : -1;
        if (head === null) continue;
        const dark = off.has(`${layer}:${head}`), row = run.cross[step][layer][head], most = row.indexOf(Math.max(...row));
        element.classList.toggle("off", dark);
        element.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}${dark ? ", off" : ""}: looks most at ${name(run.source[most])}, ${percent(row[most])}`);
        map(element.firstChild, upTo.map((each) => each[layer][head]), step, colour);
      }
      const chosen = within(), dark = chosen.every((head) => off.has(head));
      switches.hidden = !config.layers;
      const label = `Switch ${look.layer === null ? "all heads" : looked(look)} ${dark ? "on" : "off"}`;
      const parts = [button(label, () => turn(chosen, dark))];
      if (off.size && (off.size > chosen.length || !dark)) parts.push(button("All on", () => turn([...off], true)));
      if (switches.textContent !== parts.map((each) => each.textContent).join("")) switches.replaceChildren(...parts);
    }
    const within = () => run.cross[0].flatMap((heads, l) => heads.map((_, h) => [l, h])).filter(([l, h]) => (look.layer ?? l) === l && (look.head ?? h) === h).map(([l, h]) => `${l}:${h}`);
    function turn(chosen, on) {
      for (const head of chosen) off[on ? "delete" : "add"](head);
      translate(run.text);
    }

    // ----- steps -----
    function leap(to) {
      pause(false);
      step = Math.max(0, Math.min(to, run.target.length - 1));
      reached = Math.max(reached, step);
      show();
    }
    function play(pace) {
      if (step >= run.target.length - 1 && run.done) step = reached = -1;
      const onward = () => {
        if (step < run.target.length - 1) step += 1, (reached = Math.max(reached, step));
        else if (run.done) return pause();
        show();
      };
      clock = setInterval(onward, pace);
      onward();
    }
    function pause(redraw = true) {
      clearInterval(clock);
      clock = 0;
      if (redraw) show();
    }
    function begin(next, pace) {
      pause(false);
      withAll.hidden = true;
      [run, step, reached] = [next, -1, -1];
      if (calm.matches) reached = step = next.target.length - 1;
      else play(pace);
      show();
    }

    // ----- sentences -----
    function complain(text) {
      problem.textContent = text;
      problem.hidden = !text;
    }
    function pick(text) {
      field.value = text;
      if (config.layers) return translate(text);
      const kept = recorded.find((each) => each.text === text);
      if (kept) begin((whole = kept), PAUSE.recorded);
    }
    function translate(text) {
      if (!engine) return;
      complain("");
      const beams = Number(choice.querySelector("input:checked").value);
      begin({ text, beams, source: [], target: [], words: [], cross: [], done: false }, PAUSE.written);
      send(++asked, run, [...off]);
    }
    const send = (number, { text, beams }, heads) => engine.send({ kind: "translate", id: number, text, beams, alpha: ALPHA, off: heads.map((head) => ["cross", ...head.split(":").map(Number)]) });
    function cancel() {
      if (!run || run.done) return;
      asked += 1; // what still comes is not listened to
      run.done = true;
      if (!run.target.length) run = whole, step = reached = run ? run.target.length - 1 : -1;
      pause();
    }
    // Some heads are off: what would be written with all of them?
    function compare() {
      if (whole?.text !== run.text || (whole.beams ?? 1) !== run.beams) return send((aside = ++asked), run, []);
      withAll.hidden = false;
      withAll.textContent = whole.translation === run.translation ? "With all heads it writes the same." : `With all heads: ${whole.translation}`;
    }

    // ----- what the engine says -----
    const answers = {
      loaded(message) {
        config = message.config;
        invite.replaceChildren();
        invite.hidden = true;
        ask.hidden = choice.hidden = false;
        spoken.textContent = `The model is here: type a sentence${from}.`;
        if (run) field.focus({ preventScroll: true });
        else look.layer = config.layers - 1;
        if (!run && (field.value || data.examples.length)) pick(field.value || data.examples[0]);
        show();
      },
      source: ({ tokens }) => Object.assign(run, { source: tokens }),
      step({ words: likely, token, attention }) {
        if (run.beams > 1) return; // the best beginning may be another one each time
        run.target.push(token);
        run.words.push(likely);
        run.cross.push(attention.cross);
      },
      done(message) {
        Object.assign(run, asRun(message));
        if (off.size) compare();
        else whole = run;
        spoken.textContent = `Translation: ${run.translation}`;
        if (calm.matches) reached = step = run.target.length - 1;
      },
      refused({ message }) {
        run = whole;
        complain(message);
        pause(false);
        [step, reached] = run ? [run.target.length - 1, run.target.length - 1] : [-1, -1];
      },
    };
    function heard({ data: message }) {
      if (message.id !== undefined && message.id !== asked) return;
      if (message.id !== aside) answers[message.kind](message);
      else if (message.kind === "done") whole = { ...run, ...asRun(message) }, compare();
      show();
    }

    // ----- loading -----
    const offer = (...parts) => invite.replaceChildren(...parts);
    function propose(text = "") {
      const size = root.dataset.size;
      complain(text);
      if (!root.dataset.model) return offer(make("p", { className: "quiet", textContent: data.elsewhere }));
      offer(button(text ? "Try again" : `Type your own: load the model${size ? ` (${size})` : ""}`, load, { className: "main" }), make("p", { className: "quiet", textContent: "Nothing you type is sent anywhere." }));
    }
    async function load() {
      let stopped = false;
      const parts = Number(root.dataset.parts), meter = make("progress", { max: parts, value: 0, data: { "aria-label": "Loading the model" } }), note = make("p", { className: "quiet", textContent: `Loading ${root.dataset.size} …` });
      complain("");
      offer(meter, button("Stop", () => ((stopped = true), propose())), note);
      try {
        const texts = await fetchParts(root.dataset.model, parts, (count) => {
          meter.value = count;
          note.textContent = `Loading ${root.dataset.size}: ${count} of ${parts} parts`;
        }, () => stopped);
        if (texts) start(texts);
      } catch ({ message }) {
        if (!stopped) propose(`${message} Is the connection up? A copy of the book on a disk needs its folder _models, too.`);
      }
    }
    function start(texts) {
      offer(make("p", { className: "quiet", textContent: "Unpacking the model …" }));
      engine = connect(texts, heard);
      show();
    }

    // ----- hands and keys -----
    root.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") cancel();
      if (!way || event.altKey || event.ctrlKey || event.metaKey || !event.target.closest(".target, .grid")) return;
      event.preventDefault();
      if (event.target.closest(".target")) {
        leap(step + way);
        return target.querySelectorAll(".token")[step]?.focus();
      }
      const tiles = [...grid.querySelectorAll("button")], other = tiles[tiles.indexOf(event.target) + way];
      other?.click(), other?.focus();
    });
    new ResizeObserver(spin).observe(weave);
    heads.open = root.clientWidth > 560;
    if (data.inside) start({ engine: nlp104web.source, model: nlp104web.models[data.name] });
    else propose();
    if (calm.matches || run) show();
  }

  document.querySelectorAll(".nlp104.translator:not([data-step])").forEach(mount);
})();
