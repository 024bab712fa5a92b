// A valley from above, with the steps that have been taken.
nlp104.share("descent", ({ area, label, line, range }) => {
  const FAR = 2.9; // what lies farther from the middle is not drawn
  const AXIS = { size: 12, muted: true };
  const LEVELS = [0.4, 0.9, 1.5, 2.2];

  const ellipse = ([x, y], rx, ry) =>
    `M${x - rx} ${y}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0`;

  // Where two valleys stand: beside each other, or one below the other.
  function layout(width) {
    const slim = width < 560;
    const w = slim ? width : (width - 28) / 2;
    const h = slim ? 190 : 230;
    const places = range(2).map((i) => ({
      x: slim ? 0 : i * (w + 28),
      y: 26 + (slim ? i * (h + 34) : 0),
      w,
      h,
    }));
    return { places, bottom: places[1].y + h };
  }

  // How much of a path lies in the picture.
  const inside = (path) => {
    const out = path.findIndex(([x, y]) => Math.abs(x) > FAR || Math.abs(y) > FAR / 2);
    return out < 0 ? path.length : out;
  };

  function valley(key, { name, remark, shown, steep }, { x, y, w, h }) {
    const unit = Math.min(w / 2 / FAR, h / 2 / (FAR / 2));
    const middle = [x + w / 2, y + h / 2];
    const at = ([u, v]) => [middle[0] + unit * u, middle[1] - unit * v];
    const places = shown.map(at);
    const now = places.at(-1);
    return [
      label(`${key} name`, x, y - 14, name, { strong: true, size: 14 }),
      label(`${key} loss`, x + w, y - 14, remark, { anchor: "end" }),
      label(`${key} along`, x + w - 8, y + h - 12, "along", { ...AXIS, anchor: "end" }),
      label(`${key} across`, x + 14, y + 10, "across", { ...AXIS, anchor: "end", slant: -90 }),
      area(`${key} ground`, { x, y, w, h }, { strength: 0.05, radius: 8 }),
      LEVELS.filter((level) => unit * level < h / 2 || steep > 1).map((level, i) =>
        line(`${key} level${i}`, ellipse(middle, unit * level, (unit * level) / Math.sqrt(steep)), {
          layer: 0,
          concept: "edge",
        }),
      ),
      places.length > 1 &&
        line(`${key} way`, `M${places.map((point) => point.join(" ")).join("L")}`, {
          concept: "ink",
          width: 1.25,
        }),
      places.map(([u, v], i) =>
        area(
          `${key} step${i}`,
          { x: u - 2.5, y: v - 2.5, w: 5, h: 5 },
          { concept: "ink", strength: 0.55, radius: 2.5, layer: 1 },
        ),
      ),
      area(
        `${key} now`,
        { x: now[0] - 6, y: now[1] - 6, w: 12, h: 12 },
        { concept: "ink", radius: 6, layer: 2 },
      ),
    ];
  }

  return { layout, valley, inside };
});
