// A translation is written: greedily, with beams or by dice, on what a trained model said.
nlp104.scene("decoding", (data, { range, decoding }) => {
  const { sentences, limit, beams, alphas, temperatures } = data;
  const { searcher, see, written, choice, caption } = decoding;
  const search = searcher(data);

  function draw(state, width) {
    const view = see(data, search, state, width);
    const step = choice(view);
    const marks = [written(view), step.marks];
    return { ...step, marks, caption: caption(view, search) };
  }

  // The value of an option is its number in a list.
  const option = (name, label, values, mode) => ({
    name,
    label,
    values: values.map((text, i) => [i, `${text}`]),
    when: mode && ((state) => state.mode === mode),
  });

  const options = [
    option(
      "sentence",
      "Sentence",
      sentences.map(({ english }) => english),
    ),
    {
      name: "mode",
      label: "Choose by",
      values: ["greedy", "beam", "sampling"].map((mode) => [mode, mode]),
    },
    option("k", "Beams k", beams, "beam"),
    option("alpha", "Length penalty α", alphas, "beam"),
    option("heat", "Temperature", temperatures, "sampling"),
    option("cut", "Draw from", data.cuts, "sampling"),
    option("draw", "Dice", range(data.dice.length, 1), "sampling"),
  ];

  return {
    lead: data.lead,
    // It opens where the first word is to be chosen.
    start: {
      step: 2,
      sentence: 0,
      mode: "greedy",
      k: 2,
      alpha: 0,
      heat: 1,
      cut: 0,
      draw: 0,
      first: 0,
    },
    keep: options.map(({ name }) => name),
    chapters: ["vector", "logits", "softmax", "word 1", ...range(limit - 1, 2).map(String)],
    options,
    draw,
    last: (state) => search(state).frames.length + 2,
    press: (state, [, word]) => Object.assign(state, { first: Number(word), step: 3 }),
  };
});
