// What is hidden, what the model says of it, and the same in words.
nlp104.share("blanks", ({ write, exact, largest }) => {
  // The places that are hidden, of a state such as "5,2", in the order in which they were tapped;
  // at most two.
  function orderOf({ hidden }, { answers, opens }) {
    const places = hidden === "first" ? opens : String(hidden).split(",");
    return [...new Set(places.map(String))]
      .filter((place) => Object.hasOwn(answers, place))
      .slice(0, 2);
  }

  const hiddenOf = (state, sentence) =>
    orderOf(state, sentence)
      .map(Number)
      .sort((a, b) => a - b);

  const can = ({ answers }, place) => Object.hasOwn(answers, place);

  // The blanks in order; `alone` is what was said of one while the other word could be seen.
  function blanksOf(sentence, places) {
    const said = sentence.answers[places.join(",")] ?? [];
    return said.map((one, k) => {
      const own = sentence.words[places[k]];
      const [alone] = places.length > 1 ? sentence.answers[String(places[k])] : [];
      const before = new Map([...(alone?.best ?? []), [own, alone?.own]]);
      const rows = one.best.map(([word, share]) => ({ word, share, own: word === own }));
      if (!rows.some((row) => row.own)) rows.push({ word: own, share: one.own, own: true });
      for (const row of rows) row.before = alone && before.get(row.word);
      return { at: places[k], own, rows, place: one.place, share: one.own, alone };
    });
  }

  // The largest probability that this sentence has to show.
  const highest = ({ answers }) =>
    Math.max(...Object.values(answers).flatMap((said) => said.map(({ best }) => best[0][1])));

  const percent = (share) => {
    if (share >= 0.0995) return `${write(100 * share, 0)} %`;
    return share >= 0.0005 ? `${write(100 * share, 1)} %` : "< 0.1 %";
  };

  function caption({ sentence, blanks, vocabulary }) {
    if (!blanks.length) return "Nothing is hidden. Tap a word.";
    if (blanks.length === 1) {
      const [{ own, share, place, rows }] = blanks;
      const [best] = rows;
      if (best.own)
        return `It finds **${own}**, which stood there, likeliest: **${percent(share)}**.`;
      return (
        `It finds **${best.word}** likeliest, with **${percent(best.share)}**. The word was ` +
        `**${own}**: **${percent(share)}**, rank ${exact(place)} of ${exact(vocabulary)}.`
      );
    }
    // The word that misses the other one most, or gains most.
    const turns = blanks.map(({ share, alone }) => Math.abs(share - alone.own));
    const { at, own, share, alone } = blanks[largest(turns)];
    const other = sentence.words[blanks.find((blank) => blank.at !== at).at];
    return (
      `With **${other}** hidden, too, **${own}** gets **${percent(share)}** ` +
      `instead of **${percent(alone.own)}**.`
    );
  }

  const table = ({ blanks }) => ({
    caption: "Probabilities of the words in each blank, in per cent",
    rows: blanks.flatMap(({ own, rows }) => rows.map(({ word }) => `${word} (for ${own})`)),
    columns: ["per cent", "with the other word seen"],
    values: blanks.flatMap(({ rows }) =>
      rows.map(({ share, before }) => [100 * share, before === undefined ? null : 100 * before]),
    ),
  });

  return { orderOf, hiddenOf, can, blanksOf, highest, percent, caption, table };
});
