// The relatives of the Transformer by year: who keeps which part, and the machine of each.
nlp104.scene("family_tree", ({ models, parts, lanes }, { family_tree }) => {
  const { placeTree, tree, placeMachine, machine } = family_tree;
  const START = models.findIndex(({ name }) => name === "Transformer");
  const years = [...new Set(models.map(({ year }) => year))];
  const QUESTION =
    "In 2017 the Transformer translates. Three years on its parts write, fill in blanks, " +
    "name images and find objects. Who keeps which part? " +
    "(Dashed: attention in networks of another kind.)";

  const table = {
    caption: "Who keeps which part",
    rows: models.map(({ name }) => name),
    columns: parts.map(({ tab }) => tab),
    values: models.map((model) => parts.map(({ key }) => Number(model.keeps.includes(key)))),
  };

  function draw(state, width) {
    const part = parts[state.step - 1];
    const chosen = models[state.model] ?? models[START];
    const view = { models, lanes, years, width, slim: width < 680, part, chosen };
    const start = view.slim ? placeMachine(view, { wide: 0 }).bottom + 18 : 0;
    const left = placeTree(view, start);
    const right = placeMachine(view, left);
    return {
      marks: [tree(view, left), machine(view, right)],
      height: Math.max(left.foot, right.bottom) + 6,
      caption: part?.says ?? QUESTION,
      table,
    };
  }

  return {
    lead:
      "Step from part to part and see who keeps it. " +
      "Tap a name to see its machine and its parents.",
    start: { model: START },
    keep: ["model"],
    chapters: ["all", ...parts.map(({ tab }) => tab)],
    draw,
    pause: () => 4200,
    press(state, [, i]) {
      state.model = Number(i);
    },
  };
});
