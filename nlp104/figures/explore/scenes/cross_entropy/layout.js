// Where things stand: scores and words, beside them the loss; below what is said, and the run.
nlp104.share("cross_entropy", ({ limit }) => {
  const [BOTTOM, TOP] = [-5, 9]; // of the axis of the scores

  function layout({ words, loss }, width) {
    const slim = width < 560;
    const left = slim ? 22 : 28;
    const side = (slim ? 0.33 : 0.4) * width; // what the loss takes
    const column = (width - side - left - (slim ? 6 : 34)) / words.length;
    const unit = slim ? 13 : 16; // pixels of a score of 1
    const top = slim ? 58 : 62;
    const y = (x) => top + (TOP - limit(x, BOTTOM, TOP)) * unit;
    const foot = y(BOTTOM);
    const high = slim ? 78 : 90; // of a probability of 1
    const ground = foot + high + 76; // of what is said
    const at = width - side;
    const room = side - 8;
    return {
      width,
      slim,
      left,
      column,
      unit,
      top,
      foot,
      y,
      ground,
      high,
      bar: Math.min(34, 0.56 * column),
      middle: (i) => left + (i + 0.5) * column,
      edge: left + words.length * column,
      at, // the left end of the loss
      cost: (value) => at + (room * value) / Math.max(2, 1.02 * loss),
      end: at + room,
      height: ground + 24,
    };
  }

  return { layout, BOTTOM, TOP };
});
