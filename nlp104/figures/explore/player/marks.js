// Explorables: the marks that scenes hand over, each with a key, a place and a look.
{
  const { tidy, write } = nlp104;
  const box = (x, y, w, h) => ({ x, y, w, h }); // a place
  const mark =
    (kind, defaults) =>
    (key, place, options = {}) => ({
      kind,
      key,
      opacity: 1,
      layer: 1,
      ...defaults,
      ...place,
      ...options,
    });
  const cell = mark("cell", {
    concept: "r",
    max: 1,
    digits: 1,
    size: 13,
    known: true,
    numbers: true,
  });
  const area = mark("area", { concept: "r", strength: 1, radius: 6, layer: 0 });
  const label = (key, x, y, source, options = {}) => ({
    kind: "text",
    key,
    x,
    y,
    source,
    opacity: 1,
    layer: 2,
    size: 13,
    anchor: "start",
    ...options,
  });
  const note = (key, x, y, source, look) => label(key, x, y, source, { size: 12, ...look });
  const token = mark("token", { size: 14 });

  // The path of a line along points, with round corners.
  const wire = (points, radius = 6) =>
    points
      .map(([x, y], i) => {
        if (!i || i === points.length - 1) return `${i ? "L" : "M"}${x} ${y}`;
        const [before, after] = [points[i - 1], points[i + 1]].map(([u, v]) => {
          const length = Math.hypot(u - x, v - y) || 1;
          const part = Math.min(radius, length / 2) / length;
          return `${x + part * (u - x)} ${y + part * (v - y)}`;
        });
        return `L${before}Q${x} ${y} ${after}`;
      })
      .join("");
  const line = (key, path, options = {}) => ({
    kind: "line",
    key,
    x: 0,
    y: 0,
    path,
    opacity: 1,
    layer: 1,
    width: 1.25,
    ...options,
  });
  const step = mark("step", { concept: "r", size: 13, layer: 2 });

  // A matrix of cells; `of(i, j)` may change single ones.
  const matrix = (key, values, { x, y, w, h, of = () => ({}), ...look }) =>
    values.flatMap((row, i) =>
      row.map((value, j) =>
        cell(
          `${key}${i},${j}`,
          { x: x + j * w, y: y + i * h, w, h, value },
          { numbers: w >= 24, ...look, ...of(i, j) },
        ),
      ),
    );

  // Bars end to end: how a row of weights shares out 1.
  const shares = (key, weights, { x, y, w, h, of = () => ({}) }) => {
    let end = x;
    return weights.map((weight, j) => {
      const start = end;
      end += weight * w;
      return area(
        `${key}${j}`,
        { x: start, y, w: Math.max(0, weight * w - 1.2), h },
        {
          concept: "a",
          strength: 0.3 + 0.62 * Math.min(1, weight / 0.6),
          radius: 2,
          layer: 1,
          ...of(j),
        },
      );
    });
  };

  // A dot product written out: products below each other, each beside the place it comes from,
  // then the sum.
  const ledger = (key, { x, width, ys, a, b, concepts, digits, size, total, y }) => {
    const letter = 0.62 * size;
    const products = a.map((value, i) => tidy(value * b[i]));
    const wide = [a, b, products].map(
      (list, i) => letter * Math.max(...list.map((value) => write(value, digits[i]).length)),
    );
    const [one, two, three] = [
      x + wide[0],
      x + wide[0] + wide[1] + 1.9 * size,
      x + wide[0] + wide[1] + wide[2] + 3.8 * size,
    ];
    const marks = [];
    let end = 0;
    const ends = [0, ...products.map((value) => (end += value))];
    const from = three + 1.4 * size;
    const room = x + width - from;
    const [low, high] = [Math.min(0, ...ends), Math.max(1e-9, ...ends)];
    const at = (value) => from + (room * (value - low)) / (high - low);
    const bar = (name, start, stop, place, strong) =>
      area(
        name,
        {
          x: Math.min(at(start), at(stop)),
          y: place - 5.5,
          w: Math.max(1.5, Math.abs(at(stop) - at(start))),
          h: 11,
        },
        {
          concept: concepts[2],
          strength: stop < start ? 0 : strong,
          edge: stop < start,
          radius: 2.5,
          layer: 1,
        },
      );
    if (room > 40) marks.push(line(`${key}0`, `M${at(0)} ${ys[0] - 12}V${y + 9}`));
    products.forEach((value, i) => {
      const put = (name, place, source, options) =>
        marks.push(
          label(`${key}${name}${i}`, place, ys[i], source, { anchor: "end", size, ...options }),
        );
      put("a", one, write(a[i], digits[0]), { concept: concepts[0] });
      put("×", one + 0.95 * size, "×", { anchor: "middle", muted: true });
      put("b", two, write(b[i], digits[1]), { concept: concepts[1] });
      put("=", two + 0.95 * size, "=", { anchor: "middle", muted: true });
      put("p", three, write(value, digits[2]), {});
      if (room > 40 && value) marks.push(bar(`${key}w${i}`, ends[i], ends[i + 1], ys[i], 0.75));
    });
    marks.push(
      label(`${key}s`, three, y, `= ${write(total, digits[2])}`, {
        anchor: "end",
        size: size + 1,
        strong: true,
        concept: concepts[2],
      }),
    );
    if (room > 40) marks.push(bar(`${key}t`, 0, total, y, 1));
    return marks;
  };

  Object.assign(nlp104, {
    box,
    cell,
    area,
    label,
    note,
    token,
    wire,
    line,
    step,
    matrix,
    shares,
    ledger,
  });
}
