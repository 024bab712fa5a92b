// The elements of a translator on a page, by name. What they do when they are pressed is the
// business of front.js: `on` holds what it answers to each.
globalThis.nlp104web ??= {};
nlp104web.frame ??= (() => {
  "use strict";
  const { make, picture } = nlp104elements;
  const { language } = nlp104web.view;
  const HEADS = "Its heads, a row for each word written: choose one";
  const NUMBERS = "All weights as numbers, in per cent";
  const ROWS = "A row for each token written, a column for each token read";
  const UNKNOWN =
    "unk stands for something that is not in the vocabulary: the model cannot tell what it was.";

  const button = (label, onclick, properties = {}) =>
    make("button", { type: "button", textContent: label, onclick, ...properties });
  const quiet = (textContent, properties = {}) =>
    make("p", { className: "quiet", textContent, ...properties });

  // Where a sentence is typed.
  const makeForm = (id, lang, read, on) => {
    const field = make("input", {
      type: "text",
      id,
      maxLength: 2000,
      autocomplete: "off",
      spellcheck: false,
      enterKeyHint: "go",
      lang,
      placeholder: read,
    });
    const onsubmit = (event) => {
      event.preventDefault();
      on.submit();
    };
    const label = make("label", { className: "unseen", htmlFor: id, textContent: read });
    const send = make("button", { className: "main", textContent: "Translate" });
    const ask = make("form", { className: "ask", hidden: true, onsubmit }, label, field, send);
    return { ask, field };
  };

  // The words read and written, and the threads between them.
  const makeWeave = ([reads, writes], [from, to]) => {
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("class", "threads");
    lines.setAttribute("aria-hidden", "true");
    const tokens = (className, lang, label) =>
      make("ol", { className: `tokens ${className}`, lang, data: { "aria-label": label } });
    const source = tokens("source", reads, `What it read${from}`);
    const target = tokens("target", writes, `What it wrote${to}: choose a word`);
    const result = make("p", { className: "result", lang: writes });
    const withAll = make("p", { className: "quiet with-all", hidden: true });
    const unknown = quiet(UNKNOWN, { hidden: true });
    const parts = [lines, source, target, result, withAll, unknown];
    const weave = make("div", { className: "weave" }, ...parts);
    return { weave, lines, source, target, result, withAll, unknown };
  };

  // Buttons for the steps, and the choice of a search.
  const makeBar = (id, beams, on) => {
    const search = ([value, text], i) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: `${id}-beams`,
          value,
          checked: !i,
          onchange: on.search,
        }),
        make("span", { textContent: text }),
      );
    const searches = [
      [1, "greedy"],
      [beams, `${beams} beams`],
    ];
    const choice = make(
      "fieldset",
      { hidden: true },
      make("legend", { className: "unseen", textContent: "Search" }),
      make("div", { className: "choice" }, ...searches.map(search)),
    );
    const reset = picture("reset", "Start again", on.reset);
    const back = picture("back", "One word back", on.back);
    const next = picture("next", "One word on", on.next);
    const play = make("button", { type: "button", className: "play", onclick: on.play });
    const count = make("span", { className: "count", data: { "aria-hidden": "true" } });
    const bar = make("div", { className: "bar" }, reset, back, play, next, count, choice);
    return { bar, back, next, play, count, choice };
  };

  // The likeliest words, what beams ended with, and the heads.
  const makePanels = (on) => {
    const over = (textContent, className = "over") => make("p", { className, textContent });
    const heading = over("The likeliest next words");
    const chances = make("ol", { className: "bars" });
    const piece = quiet("· goes on with the word before");
    const ended = over("What the beams ended with, and its score", "over ended");
    const found = make("ol", { className: "candidates" });
    const data = { role: "group", "aria-label": "Whose weights are shown" };
    const grid = make("div", { className: "grid", data });
    const switches = make("div", { className: "switches", hidden: true });
    const summary = make("summary", { textContent: HEADS });
    const heads = make("details", { ontoggle: on.unfold }, summary, grid, switches);
    const left = make("div", {}, heading, chances, piece, ended, found);
    const panels = make("div", { className: "panels" }, left, heads);
    return { panels, chances, piece, ended, found, heads, grid, switches };
  };

  const makeNumbers = (on) => {
    const numbers = make("table");
    const data = { role: "region", "aria-label": ROWS };
    const scroll = make("div", { className: "scroll", tabIndex: 0, data }, numbers);
    const summary = make("summary", { textContent: NUMBERS });
    const properties = { className: "numbers", ontoggle: on.unfold };
    return { all: make("details", properties, summary, scroll), numbers };
  };

  // Builds all of it into the figure.
  const frame = (root, id, data, beams, on) => {
    const languages = [0, 1].map((place) => data.languages[place] ?? "");
    const named = languages.map((code) => (code ? ` in ${language(code)}` : ""));
    const form = makeForm(id, languages[0], `A sentence${named[0]}`, on);
    const examples = data.examples.map((text) => button(text, () => on.pick(text)));
    const group = { role: "group", "aria-label": "Sentences" };
    const picks = make("div", { className: "picks", data: group }, ...examples);
    const invite = make("div", { className: "invite" });
    const problem = make("p", { className: "problem", hidden: true, data: { role: "alert" } });
    const status = { role: "status", "aria-live": "polite" };
    const spoken = make("p", { className: "unseen", data: status });
    const weave = makeWeave(languages, named);
    const bar = makeBar(id, beams, on);
    const live = { "aria-live": "polite", "aria-atomic": "true" };
    const words = make("figcaption", { data: live });
    const panels = makePanels(on);
    const time = quiet("", { className: "quiet time" });
    const numbers = makeNumbers(on);
    root.append(
      make(data.heading ?? "p", { className: "title", textContent: data.title }),
      make("p", { className: "lead", textContent: data.lead }),
      form.ask,
      picks,
      invite,
      problem,
      spoken,
      weave.weave,
      bar.bar,
      words,
      panels.panels,
      time,
      numbers.all,
    );
    const parts = { picks, invite, problem, spoken, words, time, from: named[0] };
    return { ...parts, ...form, ...weave, ...bar, ...panels, ...numbers };
  };

  return { frame, button, quiet };
})();
