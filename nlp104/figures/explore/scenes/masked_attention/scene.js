// A decoder writes: with every word the matrix of its self-attention gets a row and a column.
nlp104.scene("masked_attention", (data, { range, masked_attention }) => {
  const figure = masked_attention.describe(data);
  const { words, steps } = figure;
  const heads = data.scores.length;
  const bare = (word) => word.replace(/^\[(.+)\]$/, (_, sign) => sign.toLowerCase());
  const option = (name, label, values) => ({ name, label, values });

  return {
    lead:
      `A decoder writes “${words.slice(2).join(" ")}”. ` +
      "Each word becomes a new row and a new column. Tap a row to follow it.",
    start: {
      step: figure.opening,
      future: "hidden",
      padding: "off",
      when: "before",
      head: 0,
      row: -1,
    },
    keep: ["future", "padding", "when", "head"],
    chapters: [...words.slice(1).map(bare), "training"],
    options: [
      option("future", "Future", [
        ["hidden", "hidden"],
        ["visible", "visible"],
      ]),
      option("padding", "Padding on the left", [
        ["off", "off"],
        ["on", "on"],
      ]),
      option("when", "Mask before softmax", [
        ["before", "yes"],
        ["after", "no"],
      ]),
      option(
        "head",
        "Head",
        range(heads).map((head) => [head, `${head + 1}`]),
      ),
    ].filter(({ values }) => values.length > 1),
    draw(state, width) {
      const { headings, rows, caret, trace } = masked_attention;
      const numbers = masked_attention.look(figure, state);
      const view = { ...numbers, ...masked_attention.layout(numbers, width) };
      return {
        marks: [headings, rows, caret, trace].map((part) => part(view)),
        height: view.height,
        caption: masked_attention.caption(view),
        table: masked_attention.table(view),
      };
    },
    move: (state) => (state.row = -1),
    option(state, name, value) {
      // something to be seen must be there
      if ((value === "visible" || value === "after") && state.step < 2) state.step = figure.opening;
      // or there is nothing to hide
      if (name === "when" && value === "after") state.future = "hidden";
      if (name === "padding") state.row = -1;
    },
    press: (state, [, row]) => (state.row = Number(row)),
  };
});
