// Where things stand: scores, weights (beside or below them), the meter.
nlp104.share("softmax_lab", ({ label }) => {
  function layout({ high }, width) {
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
      height: slim ? 150 : height,
    };
    const ground = weightsAt.top + weightsAt.height;
    const y = ground + (slim ? 30 : 84);
    const meterAt = { y, fields: y + 18, height: slim ? 16 : 18 };
    return {
      width,
      slim,
      size: slim ? 12 : 13,
      column,
      panel,
      bar: Math.min(36, 0.5 * column),
      scoresAt,
      weightsAt: { ...weightsAt, ground },
      meterAt,
      end: meterAt.fields + meterAt.height,
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
