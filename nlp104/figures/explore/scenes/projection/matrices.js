// The words, X, the matrices of weights, and what comes out: all that stands in cells.
nlp104.share("projection", ({ most, write, range, label, token, matrix }) => {
  const rowOf = ({ rows, rowHeight, places }, word) => rows + places[word] * rowHeight;

  function words(view) {
    const { tokens, places, chosen, end, rowHeight } = view;
    return tokens.map((word, i) =>
      token(
        `t${i}`,
        { x: 0, y: rowOf(view, i) + 4, w: view.pill, h: rowHeight - 8 },
        {
          word,
          size: view.large,
          chosen: chosen?.r === i && !end,
          act: `swap:${i}`,
          at: `t:${places[i]}:0`,
          first: !places[i],
          says: `${word}, row ${places[i] + 1}. Press to move it one place down.`,
        },
      ),
    );
  }

  function inputs(view) {
    const { count, depth, chosen, end, size, rows, digits } = view;
    if (!view.factors) return [];
    const cells = view.inputs.flatMap((vector, word) =>
      matrix(`X${word}-`, [vector], {
        x: view.left,
        y: rowOf(view, word),
        w: view.inputWidth,
        h: view.rowHeight,
        max: most(view.inputs),
        digits,
        size,
        faint: chosen && !end && chosen.r !== word,
      }),
    );
    return [
      cells,
      label("X", view.left, view.titles, "$X$", { size: 18, concept: "r" }),
      !end &&
        label("Xs", view.left + 22, view.titles, `${count} × ${depth}`, { size, muted: true }),
    ];
  }

  const title = (view, key, name, y, source) =>
    label(key, view.x[name] + (view.columns[name] * view.w[name]) / 2, y, source, {
      size: 18,
      concept: nlp104.projection.conceptOf(name),
      anchor: "middle",
    });

  function weights(view, name) {
    const { chosen, end, top, digits, features, state } = view;
    const values = view.weights[name];
    const active = name === view.letter && !end;
    const button = (j, k) => {
      const place = `${features[j] ?? `row ${j + 1}`}, column ${k + 1}`;
      return {
        act: `weight:${name}:${j}:${k}`,
        at: `w:${j}:${k}`,
        first: !j && !k,
        pressed: state.weight === `${name}:${j}:${k}`,
        says:
          `Weight of ${name}, ${place}: ${write(values[j][k], digits)}. ` + "Press to change it.",
      };
    };
    const cells = matrix(`W${name}`, values, {
      x: view.x[name],
      y: top,
      w: view.w[name],
      h: view.weightHeight,
      concept: nlp104.projection.conceptOf(name),
      max: most(values),
      digits,
      size: view.size,
      of: (j, k) => ({
        faint: end || (active && chosen && chosen.c !== undefined && chosen.c !== k),
        ...(active && button(j, k)),
      }),
    });
    return [cells, title(view, `lW${name}`, name, top - 16, `$W_${name}$`)];
  }

  function results(view, name) {
    const { tokens, places, chosen, known, digits } = view;
    const values = view.results[name];
    const button = (word, k) => {
      const number = known(name, word, k) ? `: ${write(values[word][k], digits)}` : "";
      return {
        act: `cell:${name}${word},${k}`,
        at: `${name}:${places[word]}:${k}`,
        first: !places[word] && !k,
        pressed: chosen?.letter === name && chosen.r === word && chosen.c === k,
        says: `${name}, ${tokens[word]}, column ${k + 1}${number}`,
      };
    };
    const cells = values.flatMap((vector, word) =>
      matrix(`${name}${word}-`, [vector], {
        x: view.x[name],
        y: rowOf(view, word),
        w: view.w[name],
        h: view.rowHeight,
        concept: nlp104.projection.conceptOf(name),
        max: most(values),
        digits,
        size: view.large,
        of: (_, k) => ({ known: known(name, word, k), ...button(word, k) }),
      }),
    );
    return [cells, title(view, `l${name}`, name, view.titles, `$${name}$`)];
  }

  const products = (view) =>
    view.shown.map((name) => [view.factors && weights(view, name), results(view, name)]);

  const long = (word) => 6.8 * word.length; // of small letters

  // A word's features are written above its numbers and beside the rows of W that they meet.
  function features(view) {
    const { shown, chosen, depth, left, x, top, rows, weightHeight, inputWidth, slim } = view;
    if (view.end || !view.features.length) return [];
    return range(depth).map((j) => {
      const muted = !chosen || !view.inputs[chosen.r][j];
      const y = top + (j + 0.5) * weightHeight;
      const name = slim ? view.brief[j] : view.features[j];
      const beside = { anchor: "end", size: 12, muted };
      const above = { anchor: "middle", size: 12, muted };
      const room = slim ? (muted ? 0 : 1.4 * inputWidth) : inputWidth;
      return [
        label(`f${j}`, x[shown[0]] - (slim ? 6 : 8), y, name, beside),
        long(view.brief[j]) < room &&
          label(`g${j}`, left + (j + 0.5) * inputWidth, rows - 9, view.brief[j], above),
      ];
    });
  }

  // What a column of a result says of a word: above it, and its verb beside the name.
  function meanings(view, name) {
    const { chosen, x, w, columns, rows, titles, end, slim } = view;
    const phrases = view.meanings[name];
    if (!phrases || (end && slim)) return [];
    const least = Math.max(...phrases.brief.map(long));
    if (least > w[name] + 6) return [];
    const mine = (k) => chosen?.letter === name && chosen.c === k && !end;
    const concept = nlp104.projection.conceptOf(name);
    const [verb] = phrases.whole[0].split(" ");
    return [
      label(`v${name}`, x[name] + (columns[name] * w[name]) / 2 + 12, titles, verb, {
        size: 12,
        concept,
      }),
      phrases.brief.map(
        (word, k) =>
          (mine(k) || least < w[name] - 1 || columns[name] < 4) &&
          label(`m${name}${k}`, x[name] + (k + 0.5) * w[name], rows - 9, word, {
            anchor: "middle",
            size: 12,
            concept,
            strong: mine(k),
          }),
      ),
    ];
  }

  const names = (view) => [features(view), view.shown.map((name) => meanings(view, name))];

  return { rowOf, words, inputs, products, names };
});
