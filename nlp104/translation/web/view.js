// What is drawn of a translation: words, threads between them, bars, the map of each head. When it
// is drawn is the business of show.js. A run is what both speak of:
//   {text, source, target, words, cross, translation, …}: tokens read and written; for each step
//   the likeliest tokens with their probabilities, and the weights [layer][head][source].
globalThis.nlp104web ??= {};
nlp104web.view ??= (() => {
  "use strict";
  const { make } = nlp104elements;

  // The English name of a language; a run may call its languages as it likes.
  function language(code) {
    try {
      return new Intl.DisplayNames("en", { type: "language" }).of(code);
    } catch {
      return code;
    }
  }
  const percent = (p) => (p < 0.005 ? "< 1" : Math.round(100 * p)) + "\u00a0%";
  const mean = (rows) =>
    rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);

  // ---------- tokens ----------
  const sign = (token) => /^\[(END|UNK|START|PAD)\]$/.test(token);
  // What a reader is shown; a space that is a token by itself is called so.
  const bare = (token) => {
    if (sign(token)) return token.slice(1, -1).toLowerCase();
    return token === "▁" ? "space" : token.replace(/^▁/u, "");
  };
  // Where words come in pieces, ▁ begins one; a letter without it goes on with the word before.
  const inPieces = ({ source, target }) =>
    [...source, ...target].some((token) => token.startsWith("▁"));
  const goesOn = (token, pieces) => pieces && !sign(token) && !token.startsWith("▁");
  const name = (token, pieces) =>
    (goesOn(token, pieces) && /^[\p{L}\p{N}]/u.test(token) ? "·" : "") + bare(token);
  // The places of the tokens of each word.
  const words = (tokens, pieces) =>
    tokens.reduce((all, token, i) => {
      if (i && goesOn(token, pieces) && !sign(tokens[i - 1])) all.at(-1).push(i);
      else all.push([i]);
      return all;
    }, []);
  // A list of words, each a row of tokens; one that is there already stays, for the sake of its
  // focus.
  function list(element, tokens, pieces, tag, dress) {
    const grouped = words(tokens, pieces);
    const shape = JSON.stringify([tokens, grouped]);
    const special = (token) => sign(token) || token === "▁";
    const single = (token) =>
      make(tag, {
        className: `token${special(token) ? " sign" : ""}`,
        textContent: bare(token),
      });
    const word = (places) =>
      make("li", { className: "word" }, ...places.map((i) => single(tokens[i])));
    if (element.dataset.shape !== shape) {
      const focused = [...element.querySelectorAll(".token")].indexOf(document.activeElement);
      element.dataset.shape = shape;
      element.replaceChildren(...grouped.map(word));
      element.querySelectorAll(".token")[focused]?.focus();
    }
    element.querySelectorAll(".token").forEach(dress);
  }

  // ---------- where a step looked ----------
  // [layer][head][step][source] → [step][layer][head][source]
  const byStep = (cross, scale = 1) =>
    cross[0][0].map((_, t) =>
      cross.map((layer) => layer.map((head) => head[t].map((w) => w / scale))),
    );
  // What the engine says at the end, as a run.
  const asRun = ({ translation, target, words, weights: { cross }, candidates, milliseconds }) => ({
    translation,
    target,
    words,
    cross: byStep(cross),
    candidates,
    milliseconds,
    done: true,
  });
  // `look` is {layer, head}; without a head the mean of the layer, without a layer that of all.
  function weights({ cross }, step, { layer, head }) {
    const layers = layer === null ? cross[step] : [cross[step][layer]];
    return mean(layers.map((heads) => (head === null ? mean(heads) : heads[head])));
  }
  const looked = ({ layer, head }) => {
    if (layer === null) return "all heads";
    return head === null ? `layer ${layer + 1}` : `head ${head + 1} of layer ${layer + 1}`;
  };
  const order = (row) => row.map((_, i) => i).sort((a, b) => row[b] - row[a]);

  // Threads from the tokens read to the word that is written, and a thin one to each word before.
  function threads(svg, source, target, run, step, look) {
    const last = Math.min(step, run.cross.length - 1);
    const frame = svg.getBoundingClientRect();
    const path = (from, to, width, opacity, name) => {
      const [a, b] = [from, to].map((element) => element.getBoundingClientRect());
      const [x, u] = [a, b].map(({ left, right }) => (left + right) / 2 - frame.left);
      const [y, v] = [a.bottom - frame.top - 2, b.top - frame.top + 2];
      const bend = (v - y) * 0.55;
      const points = [x, y, x, y + bend, u, v - bend, u, v].map((place) => place.toFixed(1));
      const [start, ...curve] = [0, 2, 4, 6].map((i) => `${points[i]} ${points[i + 1]}`);
      const element = document.createElementNS("http://www.w3.org/2000/svg", "path");
      element.setAttribute("d", `M${start}C${curve.join(" ")}`);
      element.setAttribute("stroke-width", width.toFixed(1));
      element.setAttribute("stroke-opacity", opacity.toFixed(2));
      element.setAttribute("class", name);
      return element;
    };
    const found = [];
    for (let t = 0; t <= last; t++) {
      const row = weights(run, t, look);
      const [most] = order(row);
      if (t !== step)
        found.push(path(source[most], target[t], 1.5, 0.15 + 0.2 * row[most], "before"));
    }
    if (step >= 0 && step <= last)
      weights(run, step, look).forEach((w, j) => {
        if (w >= 0.015)
          found.push(path(source[j], target[step], 1 + 13 * w, 0.25 + 0.6 * w, "now"));
      });
    svg.replaceChildren(...found);
  }

  // The weights of a head as a picture, a row for each word that is written.
  function map(canvas, rows, now, colour) {
    const context = canvas.getContext("2d");
    const wide = rows[0]?.length ?? 1;
    Object.assign(canvas, { width: wide, height: Math.max(1, rows.length) });
    context.fillStyle = colour;
    rows.forEach((row, t) =>
      row.forEach((w, j) => {
        context.globalAlpha = Math.min(1, w * (t === now ? 1 : 0.6));
        context.fillRect(j, t, 1, 1);
      }),
    );
  }

  // ---------- numbers ----------
  const bars = (pairs, won, pieces) =>
    pairs.map(([token, p]) => {
      const said = name(token, pieces);
      const filled = make("i", { style: `width:${(100 * p).toFixed(1)}%` });
      const gauge = { className: "gauge", data: { "aria-hidden": "true" } };
      return make(
        "li",
        { className: token === won ? "won" : "" },
        make("span", { className: "name", textContent: said, title: said }),
        make("span", gauge, filled),
        make("span", { className: "share", textContent: percent(p) }),
      );
    });

  function table(run, step, look, pieces) {
    const heading = (token, scope) => make("th", { scope, textContent: name(token, pieces) });
    return [
      make(
        "thead",
        {},
        make("tr", {}, make("td"), ...run.source.map((token) => heading(token, "col"))),
      ),
      make(
        "tbody",
        {},
        ...run.target.map((token, t) =>
          make(
            "tr",
            { className: t === step ? "now" : "" },
            heading(token, "row"),
            ...weights(run, t, look).map((w) =>
              make("td", { textContent: Math.round(100 * w), style: `--w:${w.toFixed(3)}` }),
            ),
          ),
        ),
      ),
    ];
  }

  // What a step shows, in a sentence or two: strings and elements.
  function caption(run, step, look, pieces) {
    const bold = (token, className = "") =>
      make("b", { className, textContent: name(token, pieces) });
    const token = run.target[step];
    const row = weights(run, step, look);
    const [first, second] = order(row);
    const read = (j) =>
      run.source[j] === "[END]"
        ? ["the ", make("b", {}, "end"), " of the sentence"]
        : [bold(run.source[j])];
    const share = (j) => make("b", { className: "look", textContent: percent(row[j]) });
    const said = token === "[END]" ? ["To end here, "] : ["To write ", bold(token), ", "];
    said.push(looked(look), " looked most at ", ...read(first), " (", share(first), ")");
    if (row[second] >= 0.05) said.push(", then at ", ...read(second), " (", share(second), ")");
    const [, p] = run.words[step].find(([word]) => word === token) ?? [];
    const [other, chance] = run.words[step].find(([word]) => word !== token) ?? [];
    if (p !== undefined) said.push(`. The model was ${percent(p)} sure`);
    if (p !== undefined && chance >= 0.01)
      said.push("; next in line: ", bold(other), ` (${percent(chance)})`);
    said.push(".");
    return said;
  }

  return {
    language,
    percent,
    name,
    inPieces,
    list,
    weights,
    looked,
    threads,
    map,
    bars,
    table,
    caption,
    byStep,
    asRun,
  };
})();
