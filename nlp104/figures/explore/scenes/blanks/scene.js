// A sentence with one or two blanks: what a masked language model puts there.
nlp104.scene("blanks", (data, { blanks }) => {
  // Each sentence with one blank, then with more.
  const steps = data.sentences.flatMap((sentence) =>
    sentence.opens.map((opens) => ({ ...sentence, opens })),
  );
  const of = ({ step }) => steps[step] ?? steps[0];
  const rows =
    1 +
    Math.max(
      ...data.sentences.flatMap(({ answers }) =>
        Object.values(answers).flatMap((said) => said.map(({ best }) => best.length)),
      ),
    );
  return {
    lead: "Tap a word to hide it from the model, or to show it again. Two can be hidden at once.",
    start: { step: 0, hidden: "first" },
    chapters: steps.map(({ name }) => name),
    draw(state, width) {
      const sentence = of(state);
      const places = blanks.hiddenOf(state, sentence);
      const view = {
        ...blanks,
        sentence,
        vocabulary: data.vocabulary,
        blanks: blanks.blanksOf(sentence, places),
        scale: blanks.highest(sentence),
        ...blanks.layout(sentence, data.sentences, width, rows, places.length),
      };
      return {
        marks: blanks.draw(view),
        height: view.height,
        caption: blanks.caption(view),
        table: blanks.table(view),
      };
    },
    pause: () => 3600,
    move(state) {
      state.hidden = "first"; // what is hidden before a word is tapped
    },
    press(state, [, place]) {
      const order = blanks.orderOf(state, of(state));
      // The last one and this one; what was hidden before can be seen again.
      const others = order.includes(place)
        ? order.filter((at) => at !== place)
        : [...order.slice(-1), place];
      state.hidden = others.join(",");
    },
  };
});
