// Two heads: split, attend, join, W_O. The wrong reshape cuts between words instead of columns.
nlp104.scene("heads", (data, { range, heads }) => {
  const { STEPS, sizesOf, cut, compute, layout, inputs, head, output, tapped, followed } = heads;
  const { words: first, other, kernels } = data;
  const third = 2; // the word that can be replaced
  const sizes = sizesOf(data);
  const { n, d, k, h } = sizes;
  const groups = range(h);
  const chapters = ["X", "project", "split", "attend", "mix", "join", "out"];

  function look({ step, reshape, word, follow, cell }, width) {
    const right = reshape !== "wrong";
    const changed = word === 1;
    const act = [STEPS.split, STEPS.join].filter((start) => step >= start).length;
    const ways = cut(sizes, right);
    const X = data.inputs.map((row, w) => (changed && w === third ? data.otherInput : row));
    const place = layout(sizes, act, width);
    return {
      ...{ ...data, ...sizes, ...ways, groups, first, third },
      ...{ step, act, right, changed, cell, width, place },
      words: first.map((word, w) => (changed && w === third ? other : word)),
      follow: range(n).includes(follow) ? follow : third,
      now: compute(X, kernels, sizes, ways),
      before: compute(data.inputs, kernels, sizes, ways),
      size: place.slim ? 12 : 13,
    };
  }

  function draw(state, width) {
    const view = look(state, width);
    const bands = [
      inputs(view),
      view.act && groups.map((g) => head(view, g)),
      view.act === 2 && output(view),
    ];
    const marks = bands.flat(Infinity).filter(Boolean);
    const shown = marks.some(({ kind, act }) => kind === "cell" && act === state.cell);
    const looked = shown ? tapped(view) : followed(view); // elsewhere there may be no such number
    return {
      marks: [...marks, ...looked.marks],
      height: Math.max(...range(3).map((act) => layout(sizes, act, width).height)),
      caption: looked.caption,
      table: table(view),
    };
  }

  // What is heard: the numbers of this step, row by row.
  function table({ step, act, now, words }) {
    const beside = (all) => range(n).map((i) => all.flatMap((A) => A[i]));
    const name = (letters, count) =>
      letters.flatMap((letter) => range(count).map((c) => `${letter} ${c + 1}`));
    const each = (...parts) => groups.flatMap((g) => parts.map((part) => `Head ${g + 1}, ${part}`));
    const pieces = groups.flatMap((g) => now.split.map((A) => A[g]));
    const [values, columns] = [
      [now.X, name(["X"], d)],
      [beside(now.wide), name(["Q", "K", "V"], h * k)],
      [beside(pieces), name(each("Q", "K", "V"), k)],
      [beside(now.A), name(each("weight"), n)],
      [beside(now.Y), name(each("answer"), k)],
      [now.J, name(["Joined"], h * k)],
      [now.O, name(["Output"], d)],
    ][step];
    const rows = act === 1 ? range(n).map((i) => `Row ${i + 1}`) : words;
    return { caption: chapters[step], rows, columns, values };
  }

  return {
    lead: "Follow a word through both heads, tap any number, then switch to the wrong cut.",
    start: { step: STEPS.split, reshape: "right", word: 0, follow: third, cell: "" },
    keep: ["reshape", "word", "follow"],
    chapters,
    options: [
      {
        name: "reshape",
        label: "Reshape",
        values: [
          ["right", "right"],
          ["wrong", "wrong"],
        ],
      },
      {
        name: "word",
        label: "Word 3",
        values: [
          [0, first[third]],
          [1, other],
        ],
      },
    ],
    draw,
    pause: () => 4200,
    move: (state) => Object.assign(state, { cell: "" }),
    press(state, [what, ...at]) {
      const cell = [what, ...at].join(":");
      if (what === "word") Object.assign(state, { follow: Number(at[0]), cell: "" });
      else state.cell = state.cell === cell ? "" : cell;
    },
  };
});
