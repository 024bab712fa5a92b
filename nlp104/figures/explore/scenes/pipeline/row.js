// The row that is followed: a number of it written out, the sums, its way so far.
nlp104.share("pipeline", ({ whole, write, sum, box, area, line, step, shares, ledger }) => {
  // A row of the left factor meets a column of the right one, and their products are written out.
  function meet(view, left, place, written) {
    const { frame } = nlp104.pipeline;
    const { size, rowHeight } = view;
    const { row: y, base } = view.y;
    const { x, y: top, w, h } = place;
    const [one, two] = written.concepts;
    const bands = [
      area("b1", box(left - 3, y - 1, x + w + 4 - left, rowHeight + 2), {
        concept: one,
        strength: 0.13,
      }),
      area("b2", box(x - 2, top - 3, w + 4, y + rowHeight + 4 - top), {
        concept: two,
        strength: 0.17,
      }),
      frame(view, "now", x, w),
    ];
    const readable = h > 4 && (view.width > 340 || whole(view.query));
    if (!readable) return bands;
    const ys = written.a.map((_, k) => top + (k + 0.5) * h);
    return [...bands, ledger(two, { ...written, ys, y: base + 14, size })];
  }

  function openScore(view) {
    const { places, strokes } = nlp104.pipeline;
    const { depth, x, y, size, pad, keyHeight, scoreWidth, query, key, dots, row, score } = view;
    const named = 0.6 * size * Math.max(0, ...view.features.map((name) => name.length));
    const width = x.scores - x.query - 2 * pad;
    const place = box(x.scores + score * scoreWidth, y.key, scoreWidth, keyHeight);
    const marks = meet(view, x.query, place, {
      x: x.query,
      width: width - named,
      a: query[row],
      b: key[score],
      concepts: ["q", "k", "r"],
      digits: [query, key, dots].map(places),
      total: dots[row][score],
    });
    if (depth <= 12) return marks;
    const products = key[score].map((value, k) => value * query[row][k]);
    const look = { ...box(x.query, y.key, width, keyHeight), concept: "r", upright: true };
    return [...marks, strokes("P", [products], look)];
  }

  function openOutput(view) {
    const { places } = nlp104.pipeline;
    const { x, y, valueWidth, valueHeight, value, weights, output, row, column } = view;
    const place = box(x.value + column * valueWidth, y.value, valueWidth, valueHeight);
    return meet(view, x.scores, place, {
      x: x.names + 10,
      width: x.value - x.names - 18,
      a: weights[row],
      b: value.map((numbers) => numbers[column]),
      concepts: ["a", "v", "v"],
      digits: [2, places(value), 2],
      total: output[row][column],
    });
  }

  const opened = (view) => ({ score: openScore, output: openOutput })[view.open]?.(view);

  // Exponentials of every row as bars, then stretched to fill 1.
  function bars(view) {
    const { STAGES, note, aside, power } = nlp104.pipeline;
    const { rows, x, y, at, powers, sums, weights } = view;
    if (!view.late || view.mixing || !view.answers) return [];
    const longest = Math.max(...sums) || 1;
    const row = (_, i) => {
      const done = view.stageOf(i) === STAGES.NORM;
      const middle = y.scores + (i + 0.5) * view.rowHeight;
      const parts = done ? weights[i] : powers[i].map((x) => (0.94 * x) / longest);
      const total = done ? write(sum(weights[i])) : power(sums[i]);
      return [
        shares(`u${i},`, parts, {
          ...box(x.value, middle - 7, x.right - x.value, 14),
          of: (k) => ({ strength: 0.3 + 0.6 * weights[i][k] }),
        }),
        !view.slim &&
          note(view, `us${i}`, x.value - 8, middle, total, { anchor: "end", strong: done }),
      ];
    };
    return [
      aside(view, "u", x.right, y.columns, "row sum"),
      at === STAGES.NORM &&
        line("one", `M${x.right} ${y.scores}V${y.trace - 16}`, { concept: "edge" }),
      rows.map(row),
    ];
  }

  // What was done to it, line by line.
  function trace(view) {
    const { STAGES, note, aside, cellText } = nlp104.pipeline;
    const { DOT, SCALE, MASK, EXP, NORM } = STAGES;
    const done = [
      [DOT, "$q·k$"],
      [SCALE, view.state.scale ? "÷ $√d_k$" : "÷ 1"],
      ...(view.canMask ? [[MASK, "+ $M$"]] : []),
      [EXP, "$e^x$"],
      [NORM, "÷ sum"],
    ];
    const { columns, x, y, slim, size, pill, scoreWidth, row } = view;
    const reached = view.stageOf(row);
    const lines = done.map(([stage, source], n) => {
      const middle = y.trace + 26 * n + 13;
      const lit = stage === reached && !view.mixing;
      const concept = stage < EXP ? "r" : "a";
      const number = (_, k) => {
        const text = cellText(view, stage, row, k);
        const centre = x.scores + (k + 0.5) * scoreWidth;
        return note(view, `t${n},${k}`, centre, middle, text, { concept, strong: lit });
      };
      return [
        step(`t${n}`, box(x.pill, middle - 11, pill, 22), { source, size, lit, concept }),
        line(`tl${n}`, `M${x.scores} ${middle - 13}H${x.end}`),
        lit &&
          area("t", box(x.scores, middle - 12, x.end - x.scores, 24), { concept, strength: 0.1 }),
        stage <= reached && columns.map(number),
      ];
    });
    const name = `row of **${view.word}**`;
    return [lines, !slim && aside(view, "of", x.pill - 10, y.trace + 13, name)];
  }

  return { opened, bars, trace };
});
