// Sizes are set with faders; every box says what it takes, gives and holds, and draws it to scale.
nlp104.scene("shapes", (data, { shapes }) => {
  const { sizes, presets, boxes, says } = data;
  const { see, turn, faders, tensors, details, parameters, caption } = shapes;

  function table({ made, shown, fits }) {
    const shapesOf = ({ gives }) => gives.map(([, word]) => shown(word)).join(" ");
    return {
      caption: says.table,
      rows: made.map((box) => `${box.title} ${shapesOf(box)}`),
      columns: ["numbers", "parameters", "multiply-adds"],
      values: made.map((box) =>
        [box.numbers, box.parameters, box.work].map((x) => (fits ? x : null)),
      ),
    };
  }

  function draw(state, width) {
    const view = see(data, state, width);
    const marks = [faders(view), tensors(view), details(view), parameters(view)];
    return {
      marks: marks,
      height: view.matricesTop + view.matricesHeight,
      caption: caption(view),
      table: table(view),
    };
  }

  return {
    lead: says.lead,
    start: data.start,
    keep: ["preset", ...sizes.map(({ name }) => name), "english"],
    chapters: ["all", ...boxes.map(({ stack, layer }) => says.chapters[stack][+layer]), "sum"],
    options: [
      {
        name: "preset",
        label: "Sizes",
        values: [...Object.keys(presets), "own"].map((name) => [name, name]),
      },
    ],
    draw,
    pause: () => 3200,
    move(state) {
      state.was = "";
    },
    option: (state) => Object.assign(state, presets[state.preset], { was: "" }),
    press(state, [kind, i, notch]) {
      if (kind === "turn") turn(data, state, i, notch);
      else Object.assign(state, { step: +i + 1, was: "" });
    },
    slide: (state, [, i], notch) => turn(data, state, i, notch),
  };
});
