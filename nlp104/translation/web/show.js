// What a state of the translator looks like: puts it into the elements of frame.js.
globalThis.nlp104web ??= {};
nlp104web.show ??= (() => {
  "use strict";
  const { make, icon } = nlp104elements;
  const { percent, name, inPieces, list, weights } = nlp104web.view;
  const { threads, bars, table, caption } = nlp104web.view;
  const { showGrid, showSwitches } = nlp104web.heads;

  // What is hidden as long as there is no sentence.
  const sentenceParts = ({ weave, bar, words, panels, all }) => [weave, bar, words, panels, all];

  const stage = ({ engine, config }) => {
    if (!engine) return "none";
    return config.layers ? "ready" : "starting";
  };

  const showState = (page) => {
    const { root, run, step, parts } = page;
    if (!run) for (const part of sentenceParts(parts)) part.hidden = true;
    for (const each of parts.picks.children)
      each.setAttribute("aria-pressed", String(each.textContent === run?.text));
    const writing = String(Boolean(run && !run.done));
    Object.assign(root.dataset, { step, engine: stage(page), writing });
    parts.play.innerHTML = page.clock ? `${icon("pause")}Pause` : `${icon("play")}Play`;
  };

  // The words read, as strong as they were looked at, and those written.
  const showWords = (page, row, pieces) => {
    const { run, step, reached, last, parts } = page;
    list(parts.source, run.source, pieces, "span", (token, j) => {
      const note = token.querySelector("small") ?? token.appendChild(make("small"));
      note.textContent = row[j] >= 0.01 ? percent(row[j]) : "";
      token.style.setProperty("--w", row[j].toFixed(3));
    });
    list(parts.target, run.target, pieces, "button", (token, t) => {
      token.type = "button";
      token.onclick = () => page.leap(t);
      token.tabIndex = t === step ? 0 : -1;
      token.setAttribute("aria-pressed", String(t === step));
      token.classList.toggle("unwritten", t > reached);
      token.classList.toggle("later", t > step && t <= reached);
      token.classList.toggle("fresh", Boolean(page.clock) && t === step);
    });
    const whole = reached >= last && run.done;
    parts.unknown.hidden = ![...run.source, ...run.target].includes("[UNK]");
    parts.result.textContent = whole ? (run.translation ?? "") : "";
    parts.count.textContent = `${step + 1} / ${last + 1}`;
    parts.back.disabled = step <= 0;
    parts.next.disabled = step >= last;
  };

  const duration = ({ milliseconds, target }, calm) => {
    if (!milliseconds) return "";
    const total = Math.round(milliseconds.encoder + milliseconds.step * target.length);
    return `Computed here in ${total} ms${calm ? "" : ", shown slower"}.`;
  };

  // The likeliest words of a step, and what the beams ended with.
  const showChances = ({ run, step, parts, calm }, pieces) => {
    const options = run.words[step];
    const several = run.beams > 1 ? (run.candidates ?? []) : [];
    const candidate = ([translation, score]) => {
      const text = make("span", { textContent: translation || "(nothing)" });
      const number = make("span", { textContent: score.toFixed(2).replace("-", "−") });
      return make("li", {}, text, number);
    };
    parts.chances.replaceChildren(...bars(options, run.target[step], pieces));
    parts.chances.classList.toggle("few", several.length > 0);
    parts.piece.hidden = !options.some(([token]) => name(token, pieces).startsWith("·"));
    parts.ended.hidden = !several.length;
    parts.found.replaceChildren(...several.map(candidate));
    parts.time.textContent = duration(run, calm);
  };

  const showCaption = ({ run, step, look, parts, clock }, pieces) => {
    const said = caption(run, step, look, pieces);
    const text = said.map((part) => part.textContent ?? part).join("");
    parts.words.setAttribute("aria-live", clock ? "off" : "polite");
    if (parts.words.textContent !== text) parts.words.replaceChildren(...said);
  };

  const showHeads = (page) => {
    const { grid, switches } = page.parts;
    showGrid(grid, page, (look) => page.lookAt(look));
    switches.hidden = !page.config.layers;
    showSwitches(switches, page, (heads, on) => page.turn(heads, on));
  };

  const showThreads = ({ run, step, look, parts }) => {
    if (!run?.cross.length) return;
    const [read, written] = [parts.source, parts.target].map((part) =>
      part.querySelectorAll(".token"),
    );
    threads(parts.lines, read, written, run, step, look);
  };

  const show = (page) => {
    const { run, step, look, parts } = page;
    showState(page);
    if (!run?.source.length) return; // a moment ago it was asked: what was there stays as long
    const here = run.target.length > 0 && step >= 0;
    const pieces = inPieces(run); // whether words come in pieces
    for (const part of sentenceParts(parts)) part.hidden = false;
    showWords(page, here ? weights(run, step, look) : run.source.map(() => 0), pieces);
    showThreads(page);
    if (!here) return;
    showCaption(page, pieces);
    showChances(page, pieces);
    if (parts.heads.open) showHeads(page);
    if (parts.all.open) parts.numbers.replaceChildren(...table(run, step, look, pieces));
  };

  return { show, showThreads };
})();
