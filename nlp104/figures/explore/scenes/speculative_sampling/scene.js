// A draft's guesses are kept or refused, and what is drawn instead makes up for what it lacks.
nlp104.scene("speculative_sampling", (data, { speculative_sampling }) => ({
  lead: "Pull the draft by a handle: does what comes out stay the model's?",
  start: { step: 3, draft: 1, again: false, hand: "", token: 1 },
  keep: ["again"],
  chapters: ["guess", "keep", "refuse", "draw"],
  options: [
    { name: "draft", label: "The draft", values: data.drafts.map(([name], i) => [i, name]) },
    {
      name: "again",
      label: "After a refusal",
      values: [
        [false, "draw what lacks"],
        [true, "draw from p again"],
      ],
    },
  ],
  draw(state, width) {
    const { look, layout, columns, caption, table } = speculative_sampling;
    const numbers = look(data, state);
    const view = { ...numbers, ...layout(numbers, width) };
    return {
      marks: columns(view),
      height: view.meter + 40,
      caption: caption(view),
      table: table(view),
    };
  },
  option(state, name) {
    if (name === "draft") state.hand = "";
  },
  press(state, [, i]) {
    state.token = Number(i);
  },
  slide(state, [, i], value) {
    const { look, pull } = speculative_sampling;
    state.hand = pull(look(data, state).q, Number(i), value).join(",");
    state.draft = -1; // none of those that can be chosen
  },
}));
