// The heads of a translation: a map of each, to choose from, and switches that put heads out.
globalThis.nlp104web ??= {};
nlp104web.heads ??= (() => {
  "use strict";
  const { make } = nlp104elements;
  const { map, name, percent, looked } = nlp104web.view;
  const { button } = nlp104web.frame;
  const count = (length) => Array.from({ length }, (_, i) => i);

  // Fills an empty grid: a button for all, for each layer, for each head.
  const fill = (grid, [layers, heads], choose) => {
    const choice = (layer, head, label, className) =>
      button(label, () => choose({ layer, head }), {
        className,
        data: { "data-look": `${layer}:${head}` },
      });
    const tile = (layer, head) => {
      const element = choice(layer, head, "", "tile");
      element.append(make("canvas", { className: "map" }));
      return element;
    };
    const column = (head) => make("span", { className: "quiet column", textContent: head + 1 });
    const row = (layer) => [
      choice(layer, null, `layer ${layer + 1}`, "whole"),
      ...count(heads).map((head) => tile(layer, head)),
    ];
    grid.style.setProperty("--heads", heads);
    grid.replaceChildren(
      choice(null, null, "all", "whole"),
      ...count(heads).map(column),
      ...count(layers).flatMap(row),
    );
  };

  const read = (text) => (text === "null" ? null : Number(text));

  // One button of the grid: whether it is chosen, and the map of its head.
  const update = (element, { run, step, reached, look, off, colour }) => {
    const [layer, head] = element.dataset.look.split(":").map(read);
    const pressed = layer === look.layer && head === look.head;
    element.setAttribute("aria-pressed", String(pressed));
    element.tabIndex = pressed ? 0 : -1;
    if (head === null) return;
    const dark = off.has(`${layer}:${head}`);
    const row = run.cross[step][layer][head];
    const most = row.indexOf(Math.max(...row));
    const which = `Layer ${layer + 1}, head ${head + 1}${dark ? ", off" : ""}`;
    const says = `${which}: looks most at ${name(run.source[most])}, ${percent(row[most])}`;
    element.classList.toggle("off", dark);
    element.setAttribute("aria-label", says);
    const rows = run.cross.slice(0, reached + 1).map((each) => each[layer][head]);
    map(element.firstChild, rows, step, colour);
  };

  const showGrid = (grid, state, choose) => {
    const { cross } = state.run;
    if (!grid.children.length) fill(grid, [cross[0].length, cross[0][0].length], choose);
    const colour = getComputedStyle(grid).color;
    for (const element of grid.querySelectorAll("button")) update(element, { ...state, colour });
  };

  // The heads that are looked at, as "layer:head".
  const within = ({ cross }, { layer, head }) =>
    cross[0]
      .flatMap((heads, l) => heads.map((_, h) => [l, h]))
      .filter(([l, h]) => (layer ?? l) === l && (head ?? h) === h)
      .map(([l, h]) => `${l}:${h}`);

  // Buttons that put out the heads that are looked at; `turn` is called with them.
  const showSwitches = (element, { run, look, off }, turn) => {
    const chosen = within(run, look);
    const dark = chosen.every((head) => off.has(head));
    const which = look.layer === null ? "all heads" : looked(look);
    const parts = [
      button(`Switch ${which} ${dark ? "on" : "off"}`, () => turn(chosen, dark)),
      off.size && (off.size > chosen.length || !dark)
        ? button("All on", () => turn([...off], true))
        : "",
    ].filter(Boolean);
    // What says the same stays, for the sake of its focus.
    if (element.textContent !== parts.map(({ textContent }) => textContent).join(""))
      element.replaceChildren(...parts);
  };

  return { showGrid, showSwitches };
})();
