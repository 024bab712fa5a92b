// X · W three times: a row of X meets a column of W, and their products add up to a cell.
nlp104.scene("projection", (data, { range, tidy, projection }) => {
  const figure = projection.describe(data);
  const { steps, count, digits } = figure;
  const named = Object.keys(data.meanings).length; // then the first cell says something
  const chapter = ({ kind, letter }) => ({ "all words": "$X$", end: "all" })[kind] ?? `$${letter}$`;

  const actions = {
    cell: (state, cell) => Object.assign(state, { cell, weight: "" }),
    // It is followed into a word that it acts on.
    weight(state, name, j, k) {
      const weight = `${name}:${j}:${k}`;
      const met = range(count).filter((word) => data.inputs[word][j]);
      const word = met.includes(data.follow) || !met.length ? data.follow : met[0];
      state.weight = state.weight === weight ? "" : weight;
      state.cell = `${name}${word},${k}`;
    },
    swap(state, word) {
      const order = state.order.split(",");
      const place = order.indexOf(word);
      const other = (place + 1) % order.length;
      [order[place], order[other]] = [order[other], order[place]];
      Object.assign(state, { order: order.join(), swapped: true, cell: "", weight: "" });
    },
    change(state, sign) {
      const [name, j, k] = state.weight.split(":");
      const old = projection.weightsOf(figure, state)[name][j][k];
      const value = tidy(old + Number(sign) * (digits ? 0.5 : 1));
      const others = state.edits
        .split(" ")
        .filter((edit) => edit && !edit.startsWith(`${state.weight}:`));
      state.edits = [...others, `${state.weight}:${value}`].join(" ");
    },
  };

  return {
    lead: "Tap a cell of a result to see what makes it, a weight to change it, a word to move it.",
    start: {
      step: named ? 1 : 0,
      cell: "",
      weight: "",
      edits: "",
      order: range(count).join(),
      swapped: false,
    },
    chapters: steps.map(chapter),
    draw(state, width) {
      const { words, inputs, products, names, selection, held } = projection;
      const numbers = projection.look(figure, state);
      const view = { ...numbers, ...projection.layout(numbers, width) };
      return {
        marks: [words, inputs, products, names, selection, held].map((part) => part(view)),
        height: view.height,
        caption: projection.caption(view),
        table: projection.table(view),
      };
    },
    pause: (state) => ({ cell: 3000, row: 1900 })[steps[state.step].kind] ?? 1600,
    move: (state) => Object.assign(state, { cell: "", weight: "" }),
    press: (state, [what, ...values]) => actions[what](state, ...values),
  };
});
