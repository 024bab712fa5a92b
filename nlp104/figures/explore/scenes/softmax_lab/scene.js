// Scores of random vectors, or of the reader's hand, and how sure the softmax is of them.
nlp104.scene("softmax_lab", (data, { softmax_lab }) => {
  const figure = softmax_lab.describe(data);
  return {
    lead:
      "What happens to the weights as vectors get longer? Step through the widths $d$, " +
      "switch the scale, or pull a score by its handle.",
    start: { step: data.start.step, scale: false, sample: data.start.sample, word: 0, hand: "" },
    keep: ["scale", "sample"],
    chapters: data.widths.map(String),
    options: [
      {
        name: "scale",
        label: "Scale",
        values: [
          [false, "off"],
          [true, "÷ $√d$"],
        ],
      },
    ],
    draw(state, width) {
      const { scores, weights, meter } = softmax_lab;
      const numbers = softmax_lab.look(figure, state);
      const view = { ...numbers, ...softmax_lab.layout(numbers, width) };
      return {
        marks: [scores, weights, meter].map((part) => part(view)),
        height: view.end + 10,
        caption: softmax_lab.caption(view),
        table: softmax_lab.table(view),
      };
    },
    pause: () => 1900,
    move: (state) => (state.hand = ""),
    press(state, [what, i]) {
      if (what === "score") state.word = Number(i);
      else Object.assign(state, { sample: (state.sample + 1) % figure.samples || 0, hand: "" });
    },
    slide(state, [, i], value) {
      state.hand = softmax_lab.pull(figure, state, Number(i), value).join(",");
    },
  };
});
