// What a token does, in words.
nlp104.share("brackets", () => {
  const count = (n, thing) => `**${n}** ${thing}${n === 1 ? " is" : "s are"}`;

  function caption({ tokens, words, step, pile, done, place, fault }) {
    const { opens, closes, label } = nlp104.brackets;
    if (!step) return "Nothing is read yet. An opening bracket puts a phrase on the pile.";
    const token = tokens[step - 1];
    if (fault >= 0) {
      const last = pile.at(-1)?.name;
      const why = closes(token)
        ? `**${token}** cannot close: ${last ? `**${last}** was put on last` : "nothing is open"}.`
        : `**${token}** has no word left.`;
      return `${why} This is no tree, and ${count(pile.length, "phrase")} left open.`;
    }
    if (step === tokens.length)
      return pile.length
        ? `The end, and ${count(pile.length, "phrase")} still open: this is no tree.`
        : "All that was opened is closed: a tree.";
    if (opens(token)) return `**${token}** opens a phrase: ${count(pile.length, "phrase")} open.`;
    if (!closes(token)) return `**${token}** takes the next word, “${words[place - 1]}”.`;
    const { from, to } = done.at(-1);
    return (
      `**${token}** closes what was put on last: “${words.slice(from, to).join(" ")}” ` +
      `is **${label(token)}**.`
    );
  }

  const table = ({ tokens, step, pile, place }) => ({
    caption: `After ${step} of ${tokens.length} tokens`,
    rows: ["open phrases", "words read"],
    columns: ["how many"],
    values: [[pile.length], [place]],
  });

  return { caption, table };
});
