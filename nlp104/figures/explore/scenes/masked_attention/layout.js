// Where things stand. Columns: word, matrix, bar, sum, the word to be written.
nlp104.share("masked_attention", ({ limit, write }) => {
  // Of small letters.
  const long = (words) =>
    6.6 * Math.max(...words.map((word) => word.replace(/^\[|\]$/g, "").length));

  function layout({ words, next, first, most, state }, width) {
    const slim = width < 560;
    const size = slim ? 12 : 13;
    const pillOf = (tokens) => (slim ? limit(long(tokens) + 14, 50, 54) : 84);
    const pill = pillOf(words);
    const nextWidth = pillOf(next);
    const gap = slim ? 8 : 28;
    const sumWidth = slim ? 0 : 56;
    const room = width - pill - nextWidth - gap - sumWidth - (slim ? 12 : 28);
    const forCells = slim ? room - Math.max(30, 0.24 * room) : 0.64 * room;
    const w = Math.min(58, forCells / most);
    const bar = Math.min(220, room - w * most);
    const turn = w < long(words.slice(first)) + 3; // on the smallest phones words stand upright
    const x = { cells: pill + 6 };
    x.bar = x.cells + most * w + gap;
    x.next = x.bar + bar + sumWidth + (slim ? 6 : 22);
    const top = (slim ? 52 : 58) + (turn ? 14 : 0);
    const h = slim ? 31 : 36;
    const trace = top + most * h + (slim ? 14 : 26);
    const traceHeight = slim ? 24 : 26;
    return {
      slim,
      size, // of what is written
      large: slim ? 12 : 14,
      pill,
      nextWidth,
      bar,
      turn,
      x,
      top,
      w, // of a cell
      h,
      columnX: (j) => x.cells + (j - first) * w,
      rowY: (i) => top + (i - first) * h,
      trace,
      traceHeight,
      height: trace + 3 * traceHeight + 4,
    };
  }

  // Also on the smallest phones: .97 there.
  function numberIn({ w }, value, digits) {
    const tight = w < 30 || (digits === 1 && w < 34);
    if (!tight) return write(value, digits);
    return write(value, digits === 1 ? 0 : digits)
      .replace("0.", ".")
      .replace("1.00", "1");
  }

  return { layout, numberIn };
});
