// Shows the states that nlp104.figures.explore.evolution computed; computes nothing itself.
document.querySelectorAll(".nlp104-evolution:not([data-version])").forEach((root) => {
  "use strict";
  const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  const group = `nlp104-${Math.random().toString(36).slice(2)}`; // no two sets of buttons share a name

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const pills = (title, name, options, chosen) =>
    make("fieldset", { name }, make("legend", {}, title), make("div", { className: "pills" }, ...options.map(
      ([value, text]) => make("label", {}, make("input", {
        type: "radio", name: `${group}-${name}`, value, checked: value === chosen, onchange: show,
      }), text))));
  const picked = (name) => root.querySelector(`[name="${group}-${name}"]:checked`).value;

  const versions = pills("Version", "version", data.versions.map(({ name }, i) => [`${i}`, name]), "0");
  const last = pills("The sentence ends with", "last", data.last.map((word) => [word, word]), data.last[0]);
  const heads = pills("Heads", "heads", [["1", "1"], ["2", "2"]], "2");
  const row = make("select", { onchange: show });
  const follow = make("label", { className: "field" }, make("span", { className: "label" }, "Follow the query of"), row);
  const box = make("input", { type: "checkbox", onchange: show });
  const causal = make("label", { className: "field" }, make("span", { className: "label" }, "Causal mask"),
    make("span", {}, box, " nobody sees the future"));
  const formula = make("p"), news = make("p"), tables = make("div"), said = make("p", { className: "said", role: "status" });

  // Text for a cell: weights in per cent, zeros left out.
  const written = (number, weights) => weights ? `${Math.round(100 * number)}`
    : Math.abs(number) < 0.05 ? "" : `${+number.toFixed(Math.abs(number) < 9.95 ? 1 : 0)}`;

  // Light enough for letters on it, in both themes.
  const shade = (colour, share) => `color-mix(in srgb, ${colour} ${Math.round(5 + 40 * share)}%, transparent)`;

  function table(panel, chosen, looks) {
    const weights = panel.role === "weights";
    const largest = weights ? 1 : Math.max(0.001, ...panel.numbers.flat().map(Math.abs)); // null counts as 0
    const cell = (number) => {
      if (number === null) return make("td", { className: "off", title: "masked" });
      const td = make("td", {}, written(number, weights));
      if (td.textContent) td.style.background = number < 0 ? shade("currentColor", (0.67 * -number) / largest)
        : shade(data.colours[panel.role], number / largest);
      return td;
    };
    const line = (numbers, i) => {
      const tr = make("tr", {}, make("th", { scope: "row" }, panel.rows[i]), ...numbers.map(cell));
      if (panel.queries) {
        if (i === chosen) tr.className = "chosen";
        if (!follow.hidden) tr.onclick = () => { row.selectedIndex = i; show(); };
      } else if (looks[i]) // how much the chosen query looks at this word
        tr.firstChild.style.background = shade(data.colours.weights, looks[i]);
      return tr;
    };
    const columns = panel.columns.map((name) => make("th", { scope: "col" }, name));
    return make("div", { className: panel.new ? "new" : "" }, make(
      "table", { className: panel.queries && !follow.hidden ? "heat choose" : "heat" },
      make("caption", {}, panel.title, make("span", {}, ` ${panel.numbers.length} × ${panel.numbers[0].length}${weights ? ", in %" : ""}`)),
      make("thead", {}, make("tr", {}, make("td"), ...columns)),
      make("tbody", {}, ...panel.numbers.map(line)),
    ));
  }

  function show() {
    const number = +picked("version"), version = data.versions[number];
    causal.hidden = number < 5;
    heads.hidden = number < 6;
    const key = [number, picked("last"), +(box.checked && number > 4), number > 5 ? picked("heads") : 1].join();
    const state = data.states[key];
    follow.hidden = state.rows.length < 3; // a question from outside is chosen by its last word
    if (row.length !== state.rows.length || row.dataset.last !== picked("last")) {
      const before = row.length === state.rows.length ? row.selectedIndex : state.chosen;
      row.replaceChildren(...state.rows.map((name) => make("option", {}, name)));
      row.selectedIndex = before;
      row.dataset.last = picked("last");
    }
    const chosen = follow.hidden ? state.chosen : row.selectedIndex;
    formula.innerHTML = version.formula; // MathML, written in evolution.py
    news.textContent = version.news;
    tables.replaceChildren(...state.groups.flatMap(({ title, panels }) => {
      const weights = panels.find(({ role }) => role === "weights");
      const looks = weights ? weights.numbers[chosen] : [];
      const box = make("div", { className: "tables" }, ...panels.map((panel) => table(panel, chosen, looks)));
      return title ? [make("p", { className: "head" }, title), box] : [box];
    }));
    said.textContent = state.said[chosen];
    Object.assign(root.dataset, { version: number, state: key, row: chosen });
  }

  root.append(versions, formula, news, make("div", { className: "controls" }, last, heads, follow, causal),
    said, tables, make("p", { className: "note" }, data.note));
  show();
});
