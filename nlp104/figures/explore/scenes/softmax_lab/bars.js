// The scores as bars that can be pulled, and the weights that they get.
nlp104.share("softmax_lab", ({ tidy, write, area, token, line, step }) => {
  function axis(view) {
    const { text } = nlp104.softmax_lab;
    const { slim, panel, high, state, samples } = view;
    const { left, y } = view.scoresAt;
    const title = `scores ${state.scale ? "$q·x / √d$" : "$q·x$"}`;
    const sample = {
      word: "another sample",
      size: 13,
      act: "sample",
      at: "n:0:0",
      first: true,
      says: `Another sample: a new query, five new keys. Now ${state.sample + 1} of ${samples}`,
    };
    const ticks = [
      ["high", high],
      ["zero", 0],
      ["low", -high],
    ].map(([name, x]) => [
      text(view, `t${name}`, left - 8, y(x), write(x, 0), { size: 12, anchor: "end", muted: true }),
      line(`g${name}`, `M${left} ${y(x)}h${panel}`, { concept: x ? "line" : "edge", layer: 0 }),
    ]);
    return [
      text(view, "ls", left, 13, title, { size: slim ? 14 : 15 }),
      token("sample", { x: left + panel - 122, y: 0, w: 122, h: 28 }, sample),
      ticks,
    ];
  }

  // A handle as wide as a finger; a step is one tenth of what the scores spread by.
  function grip({ words, column, high, d, touched, state, scoresAt }, x, i, middle, end) {
    return area(
      `grip${i}`,
      { x: middle - column / 2 + 2, y: end - 22, w: column - 4, h: 44 },
      {
        strength: 0,
        layer: 2,
        act: `score:${i}`,
        at: `s:0:${i}`,
        first: i === touched,
        says: `Score of ${words[i]}`,
        slide: {
          value: tidy(Number(x.toFixed(2))),
          low: -high,
          high,
          by: state.scale ? 0.1 : Math.max(1, Math.round(Math.sqrt(d))) / 10,
          length: scoresAt.height,
        },
      },
    );
  }

  function score(view, x, i) {
    const { text, beside, some } = nlp104.softmax_lab;
    const { words, slim, size, column, bar, held, given } = view;
    const { left, top, height, zero, y } = view.scoresAt;
    const middle = left + (i + 0.5) * column;
    const end = y(x);
    const changed = held && Math.abs(x - given[i]) > 0.05;
    const below = x < 0 && end < top + height - 12; // its number
    return [
      area(
        `s${i}`,
        {
          x: middle - bar / 2,
          y: Math.min(end, zero),
          w: bar,
          h: Math.max(1, Math.abs(end - zero)),
        },
        { strength: x < 0 ? 0 : 0.45, edge: true, radius: 3, layer: 1 },
      ),
      changed && line(`was${i}`, beside(view, middle, y(given[i])), { concept: "ink", width: 1.5 }),
      area(
        `knob${i}`,
        { x: middle - 14, y: end - 5, w: 28, h: 10 },
        { concept: "ink", radius: 5, layer: 1 },
      ),
      text(view, `v${i}`, middle, end + (below ? 17 : -16), some(x), {
        anchor: "middle",
        strong: changed,
      }),
      grip(view, x, i, middle, end),
      token(
        `w${i}`,
        { x: left + i * column + 3, y: top + height + (slim ? 18 : 22), w: column - 6, h: 24 },
        { word: words[i], size, chosen: changed },
      ),
    ];
  }

  const scores = (view) => [axis(view), view.logits.map((x, i) => score(view, x, i))];

  // From the scores to the weights.
  function arrow({ slim, panel, scoresAt: { left, zero }, weightsAt }) {
    if (slim) return [];
    const start = left + panel;
    const path = `M${start + 8} ${zero}H${weightsAt.left - 10}m-6 -5l6 5l-6 5`;
    return [
      line("arrow", path, { concept: "edge" }),
      step(
        "softmax",
        { x: start + 6, y: zero - 13, w: 72, h: 26 },
        { source: "softmax", lit: true, concept: "a" },
      ),
    ];
  }

  function weight(view, p, i) {
    const { text, beside } = nlp104.softmax_lab;
    const { words, slim, size, column, bar, held, before, best } = view;
    const { left, height, ground } = view.weightsAt;
    const middle = left + (i + 0.5) * column;
    const high = p * height;
    const changed = held && Math.abs(p - before[i]) > 0.005;
    const old = beside(view, middle, ground - before[i] * height);
    return [
      area(
        `p${i}`,
        { x: middle - bar / 2, y: ground - Math.max(1, high), w: bar, h: Math.max(1, high) },
        { concept: "a", strength: 0.85, radius: 3, layer: 1 },
      ),
      changed && line(`had${i}`, old, { concept: "ink", width: 1.5 }),
      text(view, `q${i}`, middle, ground - high - 11, write(p), {
        anchor: "middle",
        concept: "a",
        strong: i === best,
      }),
      !slim &&
        token(
          `x${i}`,
          { x: left + i * column + 3, y: ground + 22, w: column - 6, h: 24 },
          { word: words[i], size, bare: true },
        ),
    ];
  }

  function weights(view) {
    const { text } = nlp104.softmax_lab;
    const { slim, panel } = view;
    const { left, top, ground } = view.weightsAt;
    return [
      text(view, "lw", slim ? 0 : left, slim ? top - 29 : 13, "[a|weights]", {
        size: slim ? 14 : 15,
      }),
      arrow(view),
      line("ground", `M${left} ${ground}h${panel}`, { concept: "edge", layer: 0 }),
      line("full", `M${left} ${top}h${panel}`, { layer: 0 }),
      text(view, "one", left - 8, top, "1", { size: 12, anchor: "end", muted: true }),
      text(view, "none", left - 8, ground, "0", { size: 12, anchor: "end", muted: true }),
      view.weights.map((p, i) => weight(view, p, i)),
    ];
  }

  return { scores, weights };
});
