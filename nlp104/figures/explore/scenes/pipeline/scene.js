// One matrix is compared, scaled, masked, normalised and mixed.
nlp104.scene("pipeline", (data, { pipeline }) => {
  const { TITLES, STAGES } = pipeline;
  const figure = pipeline.describe(data);
  const { steps, canMask } = figure;

  // A term of the equation in the colour of a concept; lit at these stages.
  const term = (stages, concept, html) =>
    `<span data-term="${stages}" style="--concept:var(--${concept});` +
    `--concept-ink:var(--${concept}-ink)">${html}</span>`;
  const soft = (html, size = 1) =>
    term("4 5", "a", `<span class="up" style="font-size:${size}em">${html}</span>`);
  const above = term("0 1", "q", "Q") + term("0 1", "k", "K<sup>T</sup>");
  const below = term("2", "r", '√<span class="root">d<sub>k</sub></span>');

  return {
    lead:
      "One matrix is transformed in place. " +
      "Tap a word to follow its row, a number to see its sum.",
    start: {
      // a mask that was chosen is seen at once
      step: data.mask === "none" ? data.opening : STAGES.MASK,
      mask: data.mask,
      scale: true,
      head: 0,
      row: data.follow,
      score: -1,
      output: -1,
      open: "",
    },
    keep: ["mask", "scale", "head", "row"],
    chapters: steps.map(({ at }) => TITLES[at]),
    options: [
      { name: "mask", label: "Mask", values: Object.keys(data.masks).map((name) => [name, name]) },
      {
        name: "scale",
        label: "Scale",
        values: [
          [true, "÷ $√d_k$"],
          [false, "off"],
        ],
      },
      { name: "head", label: "Head", values: data.heads.map((_, i) => [i, `${i + 1}`]) },
    ].filter(({ values }) => values[1]),
    equation:
      soft("softmax") +
      soft("(", 1.6) +
      `<span class="over"><span>${above}</span><span>${below}</span></span>` +
      (canMask ? term("3", "r", "+ M") : "") +
      soft(")", 1.6) +
      term("0 6", "v", "V"),
    spoken: `softmax of Q K transposed over root d k${canMask ? " plus M" : ""}, times V`,
    lit: ({ step }) => (steps[step].at === STAGES.ALL ? "0123456" : `${steps[step].at}`),
    draw(state, width) {
      const { words, factors, scores, opened, bars, trace } = pipeline;
      const numbers = pipeline.look(figure, state);
      const view = { ...numbers, ...pipeline.layout(numbers, width) };
      return {
        marks: [words, factors, scores, opened, bars, trace].map((part) => part(view)),
        height: view.y.end,
        caption: pipeline.caption(view),
        table: pipeline.table(view),
      };
    },
    pause: ({ step }) => (steps[step].turn < data.rows.length ? 1600 : 3600),
    move: (state) => Object.assign(state, { open: "" }),
    option(state, name) {
      // shown where its effect begins
      if (name === "head") state.score = -1;
      else state.step = Math.max(state.step, name === "mask" ? STAGES.MASK : STAGES.SCALE);
    },
    press: (state, [what, i, k]) =>
      Object.assign(state, {
        score: -1,
        output: -1,
        open: what,
        [what]: Number(k),
        row: Number(i),
      }),
  };
});
