// Brackets are read token by token: which phrases are open, and which are done.
nlp104.scene("brackets", (data, { brackets, range, limit }) => {
  const of = ({ sentence }) => data.sentences[sentence] ?? data.sentences[0];
  const longest = Math.max(...data.sentences.map(({ tokens }) => tokens.length));
  return {
    lead: "Read the brackets token by token: which phrases are open, which one has to close next?",
    start: { step: data.step, sentence: 0 },
    keep: ["sentence"],
    chapters: range(longest + 1).map((step) => (step ? "token by token" : "start")),
    options: [
      {
        name: "sentence",
        label: "Sentence",
        values: data.sentences.map(({ name }, i) => [i, name]),
        when: () => data.sentences.length > 1,
      },
    ],
    last: (state) => brackets.last(of(state)),
    draw(state, width) {
      const sentence = of(state);
      const step = limit(state.step | 0, 0, brackets.last(sentence));
      const places = brackets.layout(sentence, width);
      const view = { ...sentence, step, ...brackets.read(sentence, step), ...places };
      return {
        marks: brackets.draw(view),
        height: places.height,
        caption: brackets.caption(view),
        table: brackets.table(view),
      };
    },
    option(state) {
      state.step = 0; // to be read
    },
    press(state, [, step]) {
      state.step = Number(step);
    },
    pause: () => 900,
  };
});
