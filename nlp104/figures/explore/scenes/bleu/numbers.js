// BLEU of one sentence, group by group.
nlp104.share("bleu", ({ range, sum }) => {
  const groupsOf = (words, n) =>
    range(Math.max(0, words.length - n + 1)).map((i) => words.slice(i, i + n).join(" "));

  // Each group of the translation: is it in the reference, and not used up by those before it?
  function found(words, reference, n) {
    const left = new Map();
    for (const group of groupsOf(reference, n)) left.set(group, (left.get(group) ?? 0) + 1);
    return groupsOf(words, n).map((group) => {
      const count = left.get(group) ?? 0;
      left.set(group, count - 1);
      return count > 0;
    });
  }

  function score(words, reference) {
    const hits = range(4, 1).map((n) => found(words, reference, n));
    const shares = hits.map((row) => (row.length ? sum(row.map(Number)) / row.length : 0));
    const [c, r] = [words.length, reference.length];
    const brevity = c ? Math.min(1, Math.exp(1 - r / c)) : 0;
    const mean = shares.every(Boolean) ? Math.exp(sum(shares.map(Math.log)) / 4) : 0;
    return { hits, shares, brevity, bleu: 100 * brevity * mean };
  }

  return { score };
});
