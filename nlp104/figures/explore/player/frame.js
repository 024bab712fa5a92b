// Explorables: the frame around a scene, as elements of the page, and the numbers as a table.
{
  const { svg, rich, plain, write } = nlp104;
  const { make, picture } = nlp104elements;

  // One choice above the drawing; `choose` is called with what is chosen.
  const choice = ({ name, label, values }, address, choose) => {
    const button = ([value, text]) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: `${address}-${name}`,
          value: String(value),
          onchange: () => choose(value),
        }),
        make("span", { innerHTML: rich(text) }),
      );
    const buttons = make("div", { className: "choice" }, ...values.map(button));
    const data = { "data-option": name };
    return make("fieldset", { data }, make("legend", {}, label), buttons);
  };

  const spoken = (title) =>
    `${title}. Arrow keys: step by step. Space: play. Tab: to what can be pressed.`;
  const makeStage = (title, drawing) => {
    const data = {
      role: "group",
      "aria-roledescription": "figure in steps",
      "aria-label": spoken(title),
    };
    return make("div", { className: "stage", tabIndex: 0, data }, drawing);
  };

  // The bar below: buttons, a slider, and room for the names of the chapters.
  const makeBar = (player) => {
    const { steps } = player;
    const reset = picture("reset", "Start again", () => player.reset());
    // At an end they do nothing, but are not disabled: that would take the focus away.
    const turn = (by) => (event) =>
      event.currentTarget.matches("[aria-disabled=true]") || player.go(player.state.step + by);
    const back = picture("back", "One step back", turn(-1));
    const next = picture("next", "One step on", turn(1));
    const play = make("button", {
      type: "button",
      className: "play",
      onclick: () => (player.playing ? player.pause() : player.play()),
    });
    const slider = make("input", {
      type: "range",
      min: 0,
      max: steps - 1,
      step: 1,
      oninput: () => player.go(Number(slider.value)),
      data: { "aria-label": "Step" },
    });
    const titles = make("div", { className: "chapters" });
    const count = make("div", { className: "count", data: { "aria-hidden": "true" } });
    const buttons = make("div", { className: "buttons" }, reset, back, play, next);
    const track = make("div", { className: "track" }, slider, titles);
    const bar = make("div", { className: "bar", hidden: steps < 2 }, buttons, track, count);
    return { bar, back, next, play, slider, titles, count };
  };

  // Builds the frame into the figure of a player; gives its elements by name.
  const frame = (player) => {
    const { root, scene, title, options, address } = player;
    const tools = make("div", { className: "tools" });
    for (const option of options) {
      const choose = (value) => player.choose(option.name, value);
      tools.append(option.field?.(choose) ?? choice(option, address, choose));
    }
    const equation =
      scene.equation &&
      make("div", { className: "equation", innerHTML: scene.equation, data: { role: "img" } });
    const drawing = svg("svg", { role: "presentation" });
    const stage = makeStage(title, drawing);
    const live = { "aria-live": "polite", "aria-atomic": "true" };
    const caption = make("figcaption", { data: live });
    const table = make("table");
    const below = makeBar(player);
    const lead = make("p", { className: "lead", innerHTML: rich(scene.lead) });
    const words = make("div", {}, make("p", { className: "title" }, title), lead);
    root.append(
      make("div", { className: "head" }, words, tools),
      ...(equation ? [equation] : []),
      stage,
      caption,
      below.bar,
      make("div", { className: "unseen" }, table),
    );
    return { tools, equation, drawing, stage, caption, table, ...below };
  };

  // What a screen reader reads instead of the drawing.
  const tabulate = ({ caption, rows, columns, values }) => {
    const head = columns.map((column) => make("th", { scope: "col" }, column));
    const number = (x) => make("td", {}, x === null ? "hidden" : write(x));
    return [
      make("caption", {}, plain(caption)),
      make("tr", {}, make("td"), ...head),
      ...values.map((row, i) =>
        make("tr", {}, make("th", { scope: "row" }, rows[i]), ...row.map(number)),
      ),
    ];
  };

  Object.assign(nlp104, { frame, tabulate });
}
