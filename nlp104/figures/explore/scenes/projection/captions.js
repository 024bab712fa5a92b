// What a state says in words, and its table.
nlp104.share("projection", ({ write, range }) => {
  const CALLED = { Q: "query", K: "key", V: "value" };

  function ofWeight(view) {
    const { tokens, features, inputs, digits, weights } = view;
    const { name, j, k } = view.held;
    const concept = nlp104.projection.conceptOf(name);
    const met = tokens.filter((_, word) => inputs[word][j]);
    return (
      `This weight of [${concept}|$W_${name}$] is **${write(weights[name][j][k], digits)}**. ` +
      `It acts on column **${k + 1}** of [${concept}|$${name}$], and only in words that have ` +
      `some of “${features[j] ?? `feature ${j + 1}`}”: **${met.join(", ") || "none here"}**.`
    );
  }

  function ofCell({ tokens, depth, digits, chosen, letter, results, meanings }) {
    const concept = nlp104.projection.conceptOf(letter);
    const word = tokens[chosen.r];
    const total = write(results[letter][chosen.r][chosen.c], digits);
    if (meanings[letter])
      return (
        `Row **${word}** of $X$ meets column **${chosen.c + 1}** of [${concept}|$W_${letter}$]: ` +
        `${depth} products add up to [${concept}|**${total}**]. **${word}** ` +
        `${meanings[letter].whole[chosen.c]} with strength [${concept}|**${total}**].`
      );
    return (
      `Row **${word}** of $X$ meets column **${chosen.c + 1}** of [${concept}|$W_${letter}$]: ` +
      `${depth} products add up to [${concept}|**${total}**], ` +
      `one number of the ${CALLED[letter]} of **${word}**.`
    );
  }

  function ofRow({ tokens, digits, chosen, letter, results }) {
    const word = tokens[chosen.r];
    const numbers = results[letter][chosen.r].map((x) => write(x, digits));
    const vector = `**(${numbers.join(", ")})**`;
    return {
      Q: `The same columns, now with row **${word}**: ` + `its whole [q|query] is [q|${vector}].`,
      K:
        "A second matrix, [k|$W_K$], makes of the same row a [k|key]: " +
        `**${word}** gets [k|${vector}].`,
      V:
        "A third matrix, [v|$W_V$], makes the [v|value]: " +
        `**${word}** will hand on [v|${vector}].`,
    }[letter];
  }

  function caption(view) {
    const { state, chosen, single, end } = view;
    if (view.held) return ofWeight(view);
    if (state.swapped && !chosen)
      return (
        "The words stand in another order, and each one's row moved with it, number for number. " +
        "A projection looks at **one word at a time**; it does not know where a word stands."
      );
    if (chosen && !end) return single ? ofCell(view) : ofRow(view);
    if (end)
      return (
        "From the same row of $X$ each word now has a [q|**query**] (what it looks for), " +
        "a [k|**key**] (what it can be found as) and a [v|**value**] (what it hands on)."
      );
    return (
      `${view.count} words, ${view.depth} numbers each. Three matrices will read the same rows ` +
      "of $X$ in three ways. Press play, or tap any cell of [q|$Q$]."
    );
  }

  function table({ tokens, names, order, end, letter, columns, results, known }) {
    const shown = end ? names : [letter];
    const row = (word) =>
      shown.flatMap((name) => results[name][word].map((x, k) => (known(name, word, k) ? x : null)));
    return {
      caption: shown.join(", "),
      rows: order.map((word) => tokens[word]),
      columns: shown.flatMap((name) => range(columns[name]).map((k) => `${name} ${k + 1}`)),
      values: order.map(row),
    };
  }

  return { caption, table };
});
