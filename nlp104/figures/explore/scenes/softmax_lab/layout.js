// Where things stand: scores, weights (beside or below them), three cards, all samples.
nlp104.share("softmax_lab", ({ label }) => {
  function layout({ high, samples, widest }, width) {
    const slim = width < 560;
    const left = 40;
    const between = slim ? 0 : 92; // the arrow
    const column = (width - left - between) / (slim ? 5 : 10);
    const panel = 5 * column;
    const height = slim ? 112 : 184;
    const top = slim ? 42 : 46;
    const zero = top + height / 2;
    const scoresAt = { left, top, height, zero, y: (x) => zero - (x / high) * (height / 2) };
    const weightsAt = {
      left: slim ? left : left + panel + between,
      top: slim ? top + height + 90 : top,
      height: slim ? 54 : height,
    };
    const ground = weightsAt.top + weightsAt.height;
    const titles = ground + (slim ? 24 : 94);
    const gap = slim ? 10 : 28;
    const cards = {
      titles,
      top: titles + (slim ? 60 : 72),
      gap,
      width: (width - 2 * gap) / 3,
      height: slim ? 30 : 40,
    };
    const below = cards.top + cards.height;
    const pitch = slim ? 3 : 3.6;
    const title = below + (slim ? 38 : 56);
    const dots = {
      title,
      top: title + (slim ? 13 : 18),
      pitch,
      height: samples * pitch + 6,
      middle: width / 2,
      unit: (width / 2 - 6) / widest,
    };
    return {
      width,
      slim,
      size: slim ? 12 : 13,
      column,
      panel,
      bar: Math.min(36, 0.5 * column),
      scoresAt,
      weightsAt: { ...weightsAt, ground },
      cards,
      dots,
      end: dots.top + dots.height + 12, // of the axis: its numbers
    };
  }

  const text = ({ size }, key, x, y, source, look) => label(key, x, y, source, { size, ...look });

  // Beside a bar: where it was.
  const beside = ({ column, bar }, x, y) => {
    const side = (column - bar) / 2 - 5;
    return `M${x - column / 2 + 2} ${y}h${side}m${bar + 6} 0h${side}`;
  };

  return { layout, text, beside };
});
