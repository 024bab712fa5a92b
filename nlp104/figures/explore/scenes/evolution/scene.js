// Versions 0 to 6 of attention on one sentence: what goes in, who looks where, which noun gets the
// votes.
nlp104.scene("evolution", (data, { evolution }) => {
  const { NAMES, EQUATIONS, caption, compute, followed, poll } = evolution;
  const { layout, inputs, asked, projections, meanings, weights, votes } = evolution;
  const names = NAMES.slice(0, data.versions.length);

  // All that is drawn and told.
  function look(state, width) {
    const { step, ending } = state;
    const made = compute(data, state);
    const head = step === 6 ? state.head : 0;
    const row = followed(data, state, made.rows);
    const depth = data.features.length;
    const sizes = { step, count: names.length, rows: made.rows.length, depth };
    return {
      ...{ step, ending, head, row, depth, nouns: data.nouns, features: data.features },
      ...made,
      it: data.words.indexOf("it"),
      looked: made.heads[head],
      poll: poll(data, made.output, row),
      place: layout(sizes, width),
    };
  }

  function draw(state, width) {
    const view = look(state, width);
    const { step, words, rows, looked, place } = view;
    const { bottom, height } = place;
    return {
      marks: [
        ...[inputs(view), asked(view), projections(view), meanings(view)],
        ...[weights(view), votes(view)],
      ],
      height,
      focus: step < 6 ? [-72, bottom] : [place.weights.y, bottom], // with the equation; the votes
      caption: caption(view),
      table: { caption: `Weights of ${names[step]}`, rows, columns: words, values: looked.A },
    };
  }

  const outside = "What here can be **tired**, and what **wide**?";
  const asks = names.length > 4 ? "Who is **it**?" : outside;
  const tap = names.length > 5 ? ", tap a word to follow its query" : "";
  const variants = EQUATIONS.slice(0, names.length).map(
    (html, step) => `<span class="variant" data-term="${step}">${html}</span>`,
  );
  return {
    lead:
      `“The animal crossed the street. It was …” ${asks} ` +
      `Choose how the sentence ends${tap}. Framed in orange: what is new in a version.`,
    start: { step: data.start, ending: "tired", row: -1, head: 0 },
    keep: ["ending"],
    chapters: names.map((name) => name.slice(0, 2)),
    options: [
      {
        name: "ending",
        label: "The sentence ends with",
        values: Object.keys(data.endings).map((word) => [word, word]),
      },
    ],
    equation: variants.join(""),
    spoken: "The equation of this version",
    lit: ({ step }) => [`${step}`],
    draw,
    pause: () => 4500,
    move: (state) => Object.assign(state, { row: -1, head: 0 }),
    press(state, [what, value]) {
      if (what === "row" && state.step > 4) state.row = Number(value);
      else if (what === "row") state.ending = Object.keys(data.endings)[value];
      else state.head = Number(value);
    },
  };
});
