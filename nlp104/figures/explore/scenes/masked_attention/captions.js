// What a state says in words, and its table.
nlp104.share("masked_attention", ({ write, largest }) => {
  const ofEmpty = ({ before }, name) =>
    before
      ? `Row ${name} may look at nothing. The softmax would divide 0 by 0, so the row is set to ` +
        "**zeros**: it adds up to **0.00** and carries nothing."
      : `Row ${name} may look at nothing: the mask takes all of its weights, ` +
        "so the row adds up to **0.00** and carries nothing.";

  const ofLate = ({ row }, name) =>
    "Masked too late: the softmax has shared out 1 over every word, then the mask throws " +
    `**${write(1 - row.total)}** of it away. Row ${name} keeps only **${write(row.total)}**.`;

  // What a row has to write; not "to write ..".
  const due = ({ next }, i) => (next[i] === "." ? "the full stop" : `**${next[i]}**`);

  function ofLeak(view, name) {
    const { row, next } = view;
    const target = due(view, row.i);
    const lies = `[a|**${write(row.leak)}**] of its weight lies on words that come later`;
    if (!next[row.i]) return `A leak, though row ${name} has nothing to write: ${lies}.`;
    const answer = nlp104.masked_attention.copied(view, row);
    const framed = answer
      ? `, [a|**${write(answer)}**] on ${target} itself (its cell is framed)`
      : "";
    return (
      `A leak: row ${name} must write ${target}, and ${lies}${framed}. ` +
      "A model that is trained like this reads the answer off."
    );
  }

  // A row that is older than the newest word: what it still may see, and what not.
  function ofOlder(view, name) {
    const { row, words, newest } = view;
    const list = (places) => places.map((j) => `**${words[j]}**`).join(", ");
    const seen = row.places.filter((_, place) => !row.hidden[place]);
    const later = row.places.filter((j) => j > row.i);
    const one = later.length === 1;
    return (
      `**${words[newest]}** is new. Row ${name} may look at ${list(seen)}. ` +
      `${list(later)} ${one ? "comes" : "come"} later: ` +
      `the mask makes ${one ? "its score" : "each score"} **−∞**, and the softmax its weight **0**.`
    );
  }

  function ofNewest(view) {
    const { words, newest } = view;
    const { weights, places } = view.rows.at(-1);
    const best = largest(weights);
    return (
      `**${words[newest]}** was just written: a new row and a new column. It looks most at ` +
      `**${words[places[best]]}** ([a|**${write(weights[best])}**]), to write ` +
      `${due(view, newest)}. No row above it has changed.`
    );
  }

  function caption(view) {
    const { row, state, newest } = view;
    const name = `**${view.words[row.i]}**`;
    const visible = state.future === "visible";
    if (row.empty) return ofEmpty(view, name);
    if (!view.before && nlp104.masked_attention.isOff(row.total)) return ofLate(view, name);
    if (visible && row.leak > 0) return ofLeak(view, name);
    if (visible && newest > 1)
      return (
        `Row ${name} comes last and has no future to see. Choose a row above it: ` +
        "each of them can now look ahead."
      );
    if (view.all)
      return (
        `In training all **${view.most}** rows are computed at once. Thanks to the mask each is, ` +
        "number for number, the row that came out while writing."
      );
    if (view.before && row.i < newest) return ofOlder(view, name);
    if (newest === 1)
      return (
        "The decoder begins with one token. Its row has a single weight, **1.00**, " +
        `and it must write ${due(view, 1)}.`
      );
    return ofNewest(view);
  }

  const table = ({ words, places, rows }) => ({
    caption: "Attention weights",
    rows: rows.map(({ i }) => words[i]),
    columns: places.map((j) => words[j]),
    values: rows.map(({ weights, hidden }) =>
      weights.map((weight, place) => (hidden[place] ? null : weight)),
    ),
  });

  return { caption, table };
});
