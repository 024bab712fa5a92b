// Q, K and V, with what the reader has changed, and which of their cells is in question.
nlp104.share("projection", ({ multiply, whole, range }) => {
  // The first matrix: the row of one word cell by cell, then its other rows; the others row by row.
  function stepsOf({ names, given, count, follow }) {
    const steps = [{ kind: "all words" }];
    names.forEach((letter, n) => {
      if (n === 0)
        for (const c of range(given[letter][0].length))
          steps.push({ kind: "cell", letter, r: follow, c });
      for (const r of range(count))
        if (n > 0 || r !== follow) steps.push({ kind: "row", letter, r });
    });
    return [...steps, { kind: "end" }];
  }

  // What no state changes.
  function describe(data) {
    const { tokens, inputs, kernels } = data;
    const given = Object.fromEntries(kernels.map(({ letter, values }) => [letter, values]));
    const names = Object.keys(given);
    const digits = whole(inputs) && Object.values(given).every(whole) ? 0 : 1;
    const figure = { ...data, given, names, digits, count: tokens.length, depth: inputs[0].length };
    return { ...figure, steps: stepsOf(figure) };
  }

  // The weights; an edit is "letter:row:column:value".
  function weightsOf({ names, given }, { edits }) {
    const weights = Object.fromEntries(
      names.map((name) => [name, given[name].map((row) => [...row])]),
    );
    for (const edit of edits.split(" ").filter(Boolean)) {
      const [name, j, k, value] = edit.split(":");
      weights[name][j][k] = Number(value);
    }
    return weights;
  }

  // "Q2,1" is column 1 of the query of word 2.
  function parse(cell) {
    if (!cell) return null;
    const [row, column] = cell.split(",");
    return { letter: cell[0], r: Number(row.slice(1)), c: Number(column) };
  }

  // All that a state comes to, but for the places.
  function look(figure, state) {
    const { inputs, names, steps } = figure;
    const weights = weightsOf(figure, state);
    const order = state.order.split(",").map(Number); // the words, from the first row on
    const places = order.map((_, word) => order.indexOf(word)); // of each word, its row
    const now = steps[state.step];
    const chosen = parse(state.cell) ?? (now.letter && { ...now, r: order[now.r] });
    const first = (name, r, c) =>
      steps.findIndex((s) => s.letter === name && s.r === r && (s.c === undefined || s.c === c));
    const [held, ...place] = state.weight.split(":");
    const end = now.kind === "end" && !state.cell;
    return {
      ...figure,
      state,
      weights,
      results: Object.fromEntries(names.map((name) => [name, multiply(inputs, weights[name])])),
      order,
      places,
      chosen,
      single: chosen?.c !== undefined, // a cell, not a row
      end,
      letter: chosen?.letter ?? names[0],
      held: held && !end ? { name: held, j: Number(place[0]), k: Number(place[1]) } : null,
      known: (name, word, c) =>
        state.step >= first(name, places[word], c) ||
        (chosen && chosen.letter === name && chosen.r === word && chosen.c === c),
    };
  }

  const conceptOf = (name) => name.toLowerCase();

  return { describe, weightsOf, look, conceptOf };
});
