// What the other files, run after this one, draw and write with.
nlp104.share("decoding", ({ write, area, cell }) => {
  // An address can name what no list has.
  const pick = (list, i) => list[i in list ? i : 0];

  // ▁ stands before a word; ·s goes on with one.
  const nameIn = (words) => (word) => {
    const piece = typeof word === "number" ? words[word] : word;
    if (piece.startsWith("▁")) return piece.slice(1);
    return /^[\p{L}\p{N}]/u.test(piece) ? `·${piece}` : piece;
  };
  const percent = (p) => {
    const number = p < 0.0005 ? "< 0.1" : write(100 * p, p < 0.0995 ? 1 : 0);
    return `${number}\u00a0%`;
  };

  // All that a beginning continues, and itself.
  const path = (beginning) => (beginning ? [...path(beginning.from), beginning] : []);
  const spell = (words, beginning) =>
    path(beginning)
      .slice(1)
      .filter(({ ended }) => !ended)
      .map(({ word }) => words[word])
      .join("")
      .replace(/▁/g, " ")
      .trim();

  const room = (key, place) =>
    area(`room${key}`, place, { concept: "ink", strength: 0.05, radius: 4 });
  const strip = (key, digits, concept, place) =>
    [...digits].map((digit, i) => {
      const value = (digit - 4.5) / 4.5;
      return cell(`${key}${i}`, place(i), { value, concept, numbers: false });
    });

  return { pick, nameIn, percent, path, spell, room, strip };
});
