// The words, the factors, their product: all that stands in cells.
nlp104.share("pipeline", ({ transpose, most, write, box, area, label, token, line, matrix }) => {
  const note = ({ size }, key, x, y, source, look) =>
    label(key, x, y, source, { size, anchor: "middle", ...look });
  const aside = (view, key, x, y, source) =>
    note(view, key, x, y, source, { anchor: "end", muted: true });
  const frame = ({ y, rowHeight }, key, x, w) =>
    area(key, box(x, y.row - 1, w, rowHeight + 2), {
      outline: true,
      concept: "ink",
      layer: 2,
    });
  // What makes a mark a button that opens `what`.
  const button = (view, what, i, k, says) => {
    const followed = { row: 0, score: view.score, output: view.column };
    const first = i === view.row && k === followed[what];
    const act = `${what}:${i}:${k}`;
    return { act, at: act, first, pressed: first, says };
  };
  const cut = (word, width, letter = 7.1) => {
    const sign = word[0] === "["; // its brackets are not drawn
    const long = letter * (word.length - (sign ? 2 : 0)) > width + 1;
    return long ? `${word.slice(0, (width - 11) / letter)}…` : word;
  };

  function words(view) {
    const { rows, columns, x, y, slim, size, pill, rowHeight, scoreWidth } = view;
    const asking = rows.map((word, i) =>
      token(`r${i}`, box(x.pill, y.scores + i * rowHeight + 4, pill, rowHeight - 8), {
        word: cut(word, pill),
        size,
        chosen: i === view.row,
        ...button(view, "row", i, 0, `follow ${word}`),
      }),
    );
    const named = !slim || (view.mixing && view.answers);
    const answering = columns.map((word, k) => [
      token(`c${k}`, box(x.scores + k * scoreWidth + 1, y.columns - 12, scoreWidth - 2, 24), {
        word: cut(word, scoreWidth, 6.4),
        size: 12,
        bare: scoreWidth < 54,
      }),
      named && aside(view, `m${k}`, x.names, y.value + (k + 0.5) * view.valueHeight, word),
    ]);
    return [asking, answering];
  }

  // Long vectors: one stroke a number, up (or to the right) if positive.
  function strokes(key, A, { x, y, w, h, concept, upright, of = () => ({}) }) {
    const size = A[0].length;
    const part = 0.45 / most(A);
    const across = (value, k) => `M${w / 2} ${(k + 0.5) * h}h${value * part * w}`;
    const along = (value, k) => `M${(k + 0.5) * w} ${h / 2}v${-value * part * h}`;
    return A.flatMap((vector, i) => {
      const start = upright ? { x: x + i * w, y } : { x, y: y + i * h };
      const place = { ...start, concept, ...of(i) };
      const [long, width] = upright
        ? [{ w: w - 2, h: size * h }, h]
        : [{ w: size * w, h: h - 2 }, w];
      const path = vector.map(upright ? across : along).join("");
      return [
        place.known !== false &&
          line(`${key}l${i}`, path, { ...place, width: 0.6 * width, act: "" }),
        area(`${key}b${i}`, { ...place, ...long }, { strength: 0.09, layer: 1 }),
      ];
    });
  }
  // Short ones: one cell a number. `of(i, k)` may change that of vector i.
  function vectors(key, A, look) {
    const { upright, of, ...rest } = look;
    if (A[0].length > 12) return strokes(key, A, look);
    return matrix(key, upright ? transpose(A) : A, {
      max: most(A),
      ...rest,
      of: upright ? (k, i) => of(i, k) : of,
    });
  }

  // A factor with its name, with numbers where it is in use.
  function factor({ slim, size }, name, A, { used, title: [x, y], ...look }) {
    const { places, fits } = nlp104.pipeline;
    const digits = Math.min(places(A), slim && !fits(A, 2, size, look.w) ? 1 : 2);
    return [
      vectors(name, A, { ...look, size, digits, numbers: used && fits(A, digits, size, look.w) }),
      label(`n${name}`, x, y, `$${name}$`, { size: 18, anchor: "middle", concept: look.concept }),
    ];
  }

  function factors(view) {
    const { x, y, rowHeight, scoreWidth, asks, answers, open, mixing, pairs, mixes } = view;
    // Pale without a number.
    const fade = (used, mine) => (used && (!open || mine) ? {} : { opacity: 0.45, numbers: false });
    const queries = () =>
      factor(view, "Q", view.query, {
        ...box(x.query, y.scores, view.queryWidth, rowHeight),
        title: [x.query + 9, y.columns],
        concept: "q",
        used: pairs,
        of: (i) => fade(pairs, i === view.row),
      });
    const keys = () =>
      factor(view, "K^T", view.key, {
        ...box(x.scores, y.key, scoreWidth, view.keyHeight),
        title: [(x.scores + x.end) / 2, y.key - 14],
        concept: "k",
        used: pairs,
        of: (k) => fade(pairs, k === view.score),
        upright: true,
      });
    const features = view.features.map((name, j) =>
      aside(view, `d${j}`, x.scores - 6, y.key + (j + 0.5) * view.keyHeight, name),
    );
    const values = () =>
      factor(view, "V", view.value, {
        ...box(x.value, y.value, view.valueWidth, view.valueHeight),
        title: [(x.value + x.right) / 2, y.value - 14],
        concept: "v",
        used: mixes,
        of: (_, k = view.column) => fade(mixes, k === view.column),
      });
    return [
      asks && queries(),
      open !== "output" && (asks || !mixing) && [keys(), features],
      answers && values(),
      answers && (mixing || !view.late) && outputs(view),
    ];
  }

  function outputs(view) {
    const { rows, x, y, output, column, mixing, at } = view;
    const known = (i) => mixing && (i === view.row || at === nlp104.pipeline.STAGES.ALL);
    const says = (i, k) => `${rows[i]}, output ${k + 1}: ${write(output[i][k])}`;
    return factor(view, "AV", output, {
      ...box(x.value, y.scores, view.valueWidth, view.rowHeight),
      title: [(x.value + x.right) / 2, y.columns],
      concept: "v",
      used: mixing,
      of: (i, k = column) =>
        known(i) ? button(view, "output", i, k, says(i, k)) : { known: false },
    });
  }

  // The one matrix; its row that is followed is framed.
  function scores(view) {
    const { STAGES, cellText } = nlp104.pipeline;
    const { rows, columns, x, y, size, rowHeight, scoreWidth, at, late, dots, powers } = view;
    const of = (i, k) => {
      const stage = view.stageOf(i);
      const hidden = stage >= STAGES.MASK && !view.seen[i][k];
      const text = cellText(view, stage, i, k);
      const says = `${rows[i]} to ${columns[k]}: ${text}`;
      return {
        value: hidden ? 0 : view.stages[stage][i][k],
        text,
        hidden,
        max: stage === STAGES.NORM ? 0.9 : most(late ? powers : dots),
        ...(at && button(view, "score", i, k, says)),
      };
    };
    return [
      matrix("S", dots, {
        ...box(x.scores, y.scores, scoreWidth, rowHeight),
        size,
        known: at,
        concept: late ? "a" : "r",
        of,
      }),
      frame(view, "row", x.scores - 2, x.end - x.scores + 4),
    ];
  }

  return { note, aside, frame, strokes, words, factors, scores };
});
