// A trained translator: where its heads look, and what it writes next without some of them.
nlp104.scene("trained_heads", (data, { trained_heads }) => {
  const { reading, twins, caption, layout, overview, details } = trained_heads;
  const NOTHING = { at: -1, head: -1, row: -1, off: -1 }; // is chosen: the step says what is shown

  function table({ map, head, where, rows, columns, future }) {
    const value = (weights, i, k) => (future(i, k) ? null : weights[k] / 100);
    return {
      caption: `Weights of head ${head + 1} of ${where}`,
      rows,
      columns,
      values: map.map((weights, i) => columns.map((_, k) => value(weights, i, k))),
    };
  }

  function draw(state, width) {
    const slim = width < 560;
    const measures = { width, slim, narrow: width < 340, size: slim ? 12 : 13 };
    const view = { ...reading(data, state), ...measures };
    const places = layout(view);
    return {
      marks: [overview(view, places), details(view, places)],
      height: places.height,
      caption: caption(data, state, view),
      table: table(view),
    };
  }

  // Another attention: the same head, and the same row where its words are the same.
  function turnTo(state, at) {
    const view = reading(data, state);
    const same = view.kindOf(at) === view.kindOf(view.at);
    Object.assign(state, { at, head: view.head, off: 0, row: same ? view.row : -1 });
  }

  return {
    lead:
      "Choose a head, follow a word, switch heads off. " +
      "A map says where a head looks, not why.",
    start: { step: data.opens, sentence: 0, ...NOTHING },
    keep: ["sentence"],
    chapters: ["encoder", "encoder", "decoder", "cross", "one off", "two off"],
    options: [
      {
        name: "sentence",
        label: "Sentence",
        values: data.sentences.map(({ label }, i) => [i, label]),
      },
    ].filter(({ values }) => values.length > 1),
    draw,
    pause: () => 4500,
    move: (state) => Object.assign(state, NOTHING),
    // The word that was followed is another one in another sentence.
    option(state, _, now, before) {
      if (now !== before && !twins(data.sentences[now], data.sentences[before])) state.row = -1;
    },
    press(state, [what, value]) {
      const chosen = Number(value);
      if (what === "at") turnTo(state, chosen);
      else if (what === "off") state.off = reading(data, state).off ^ (1 << chosen);
      else state[what] = chosen;
    },
  };
});
