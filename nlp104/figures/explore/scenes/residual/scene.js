// A signal on its way up a stack, and a gradient on its way down, with and without skips and norms.
nlp104.scene("residual", (data, { range, write, token, residual }) => {
  const { NORMS, size, reading, caption, put } = residual;
  const { placeTower, tower, measurements, reached, large } = residual;
  const TURN = data.layers + 1;

  function nameOf(skip, norm) {
    if (!norm) return skip ? "skips" : "neither";
    return skip ? `skips, ${NORMS[norm]}` : `${NORMS[norm]}-norm`;
  }

  // The end of one of the six towers; pressed, it is shown.
  function ending(view, run, i) {
    const { width, slim, depth } = view;
    const skip = i > 2 ? 1 : 0;
    const norm = i % 3;
    const [row, column] = slim ? [skip, norm] : [norm, skip];
    const w = slim ? (width - 16) / 3 : 96;
    const x = column * (w + 8);
    const y = slim ? 80 * row : 58 + 96 * row;
    const chosen = run === view.run;
    const word = nameOf(skip, norm);
    const name = token(
      `c${i}`,
      { x, y, w, h: 26 },
      {
        word,
        size: 12,
        chosen,
        act: `run:${skip}:${norm}`,
        at: `c:${row}:${column}`,
        first: chosen,
        pressed: chosen,
        says: word,
      },
    );
    const texts = [
      `↑ ${size(run.signal[depth])}`,
      `↓ ${size(run.gradient[0])}`,
      `own word ${write(run.own[depth])}`,
    ];
    return [
      name,
      texts.map((text, k) => put(view, `c${i},${k}`, x + (slim ? 1 : 10), y + 36 + 16 * k, text)),
    ];
  }
  const endings = (view) => view.six.map((run, i) => ending(view, run, i));

  function table({ run, depth, rose, fell }) {
    const levels = range(depth + 1);
    return {
      caption: "Powers of ten; cosine with the own word",
      rows: levels.map((i) => `above ${i}`),
      columns: ["signal", "gradient", "own word"],
      values: levels.map((i) => [
        rose(i) ? run.signal[i] : null,
        fell(i) ? run.gradient[i] : null,
        rose(i) ? run.own[i] : null,
      ]),
    };
  }

  function draw(state, width) {
    const slim = width < 560;
    const view = { ...reading(data, state), width, slim, size: slim ? 12 : 13 };
    view.mine = { concept: view.down ? "ink" : "r" }; // the colour of what is on its way
    const at = placeTower(view);
    const beside = view.done ? endings(view) : [reached(view, at), slim ? [] : large(view)];
    return {
      marks: [tower(view, at), measurements(view, at), beside],
      height: at.ground + 56,
      caption: caption(view),
      table: table(view),
    };
  }

  return {
    lead: "Guess, step up and down, then switch on skips and norms.",
    start: { step: 1, skip: 0, norm: 0, gain: 1 }, // some of it is gone already
    keep: ["skip", "norm", "gain"],
    chapters: [...range(TURN).fill("up"), ...range(TURN).fill("down"), "all six"],
    options: [
      ["skip", "Skips", ["off", "on"]],
      ["norm", "Norm", NORMS],
      ["gain", "First weights", ["× ½", "× 1", "× 2"]],
    ].map(([name, label, texts]) => ({ name, label, values: texts.map((text, i) => [i, text]) })),
    draw,
    pause: () => 600,
    press: (state, [, skip, norm]) =>
      Object.assign(state, { skip: Number(skip), norm: Number(norm) }),
  };
});
