// What is in question: a row meets a column, or all columns; a weight in the reader's hand.
nlp104.share("projection", ({ write, range, area, label, token, ledger }) => {
  // Bands behind the row of X and the column of W, or all of them.
  function bands(view) {
    const { tokens, chosen, single, letter, left, top, size, rowHeight, columns } = view;
    const y = nlp104.projection.rowOf(view, chosen.r);
    const w = view.w[letter];
    const from = view.x[letter] + (single ? chosen.c : 0) * w;
    const right = view.x[letter] + columns[letter] * w;
    const column = single ? `column **${chosen.c + 1}**` : "every column";
    return [
      area(
        "row",
        { x: left - 4, y: y - 1, w: (single ? from + w : right) - left + 8, h: rowHeight + 2 },
        { strength: 0.13, radius: 7 },
      ),
      area(
        "column",
        {
          x: from - 2,
          y: top - 3,
          w: (single ? w : right - view.x[letter]) + 4,
          h: y + rowHeight + 6 - top,
        },
        { concept: nlp104.projection.conceptOf(letter), strength: 0.15, radius: 7 },
      ),
      label("what", 0, top - 16, `row **${tokens[chosen.r]}** · ${column}`, { size, muted: true }),
    ];
  }

  // The cell, and its products written out.
  function cell(view) {
    const { chosen, letter, depth, digits, size, base, weightHeight, weights, results } = view;
    const { rowOf, conceptOf } = nlp104.projection;
    const concept = conceptOf(letter);
    const w = view.w[letter];
    const place = {
      x: view.x[letter] + chosen.c * w,
      y: rowOf(view, chosen.r),
      w,
      h: view.rowHeight,
    };
    const longest = Math.max(...view.brief.map((word) => word.length));
    const named = view.features.length && (view.slim ? 6.8 * longest + 10 : 84); // need room
    const end = named ? view.x[view.shown[0]] - named : view.left + depth * view.inputWidth;
    return [
      area("now", place, { outline: true, concept, layer: 2 }),
      ledger(`L${letter}`, {
        x: 0,
        width: end - 6,
        ys: range(depth).map((j) => view.top + (j + 0.5) * weightHeight),
        y: base + 14,
        a: view.inputs[chosen.r],
        b: weights[letter].map((row) => row[chosen.c]),
        concepts: ["r", concept, concept],
        digits: [digits, digits, digits],
        size,
        total: results[letter][chosen.r][chosen.c],
      }),
    ];
  }

  // The numbers of a row, one a column.
  function row(view) {
    const { chosen, letter, depth, digits, size, slim, top, weightHeight, columns } = view;
    const concept = nlp104.projection.conceptOf(letter);
    const space = (depth * weightHeight) / columns[letter];
    return view.results[letter][chosen.r].map((value, k) => {
      const y = top + (k + 0.5) * space;
      return [
        label(`C${k}`, 0, y, `$x$ · [${concept}|column ${k + 1}]`, { size }),
        label(`V${k}`, slim ? 128 : 150, y, write(value, digits), {
          anchor: "end",
          size: size + 1,
          strong: true,
          concept,
        }),
      ];
    });
  }

  // Before anything is in question: the three equations.
  const equations = ({ names, depth, slim, top, weightHeight }) =>
    names.map((name, i) => {
      const concept = nlp104.projection.conceptOf(name);
      const source = `[${concept}|$${name}$] $=$ $X$ [${concept}|$W_${name}$]`;
      const y = top + depth * weightHeight * (0.25 + 0.25 * i);
      return label(`F${name}`, 0, y, source, { size: slim ? 19 : 24 });
    });

  function selection(view) {
    if (view.end) return [];
    if (!view.chosen) return equations(view);
    return [bands(view), view.single ? cell(view) : row(view)];
  }

  // The weight that is held, with buttons below it, or above it in the last row.
  function held(view) {
    const { depth, top, weightHeight } = view;
    if (!view.held || !view.shown.includes(view.held.name)) return [];
    const { name, j, k } = view.held;
    const place = {
      x: view.x[name] + k * view.w[name],
      y: top + j * weightHeight,
      w: view.w[name],
      h: weightHeight,
    };
    const y = place.y + (j < depth - 1 ? weightHeight + 2 : -weightHeight - 2);
    const buttons = ["−", "+"].map((word, i) =>
      token(
        `h${i}`,
        { x: place.x + place.w / 2 - 38 + 42 * i, y, w: 34, h: 30 },
        {
          word,
          layer: 2,
          act: `change:${i ? 1 : -1}`,
          at: `h:0:${i}`,
          first: !i,
          says: i ? "more" : "less",
        },
      ),
    );
    return [area("held", place, { outline: true, concept: "ink", layer: 2 }), buttons];
  }

  return { selection, held };
});
