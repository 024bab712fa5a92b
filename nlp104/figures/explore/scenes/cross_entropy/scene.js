// The scores of one place, pulled by hand or pushed by training, and what their loss rewards.
nlp104.scene("cross_entropy", (data, { limit, range, cross_entropy }) => {
  const { look, layout, columns, costs, caption, table } = cross_entropy;
  const view = (state, width) => {
    const numbers = look(data, state);
    return { ...numbers, ...layout(numbers, width) };
  };
  return {
    lead:
      `Pull **${data.words[data.right]}** up: how far does it pay? ` +
      "The curve is its loss at each height. Then press Play, and training pulls.",
    start: { step: 0, smoothing: data.smoothing, place: "word", word: data.right, hand: "" },
    keep: ["smoothing", "place"],
    chapters: range(data.steps + 1).map((step) =>
      step ? `to ${25 * Math.ceil(step / 25)}` : "start",
    ),
    options: [
      {
        name: "smoothing",
        label: "Smoothing ε",
        values: data.smoothings.map((each) => [each, `${each / 100}`]),
      },
      {
        name: "place",
        label: "Right word",
        values: [
          ["word", data.words[data.right]],
          ["padding", "padding"],
        ],
      },
    ],
    draw(state, width) {
      const all = view(state, width);
      return {
        marks: [columns(all), costs(all)],
        height: all.height,
        caption: caption(all),
        table: table(all),
      };
    },
    pause: ({ step }) => (step < 10 ? 240 : 90),
    press(state, [, i]) {
      state.word = Number(i);
    },
    // The hand takes over: what it has set is where the next run starts.
    slide(state, [, i], value) {
      const { x } = look(data, state);
      const set = x.map((old, k) => (k === Number(i) ? value : Number(old.toFixed(2))));
      Object.assign(state, { hand: set.join(","), step: 0, word: Number(i) });
    },
  };
});
