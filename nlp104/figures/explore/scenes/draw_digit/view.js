// The ink on its sheet, the image in eight patches with the looks at them, and ten bars.
nlp104.share("draw_digit", ({ area, label, line, range, write, draw_digit: { cut, PEN } }) => {
  const SLIM = 560;
  const HEAD = 26; // pixels, above each of the three
  const SHEET = 240;
  const WIPE = 104; // the room of the button, and of the shares left of the image
  const MOST = 0.3; // the weight of the strongest tint, unless there is a larger one

  const percent = (share) => (share < 0.005 ? "< 1 %" : `${write(100 * share, 0)} %`);

  // On a phone the sheet and the bars side by side, the image below; else all three side by side.
  function layout(width) {
    const slim = width < SLIM;
    const side = slim ? Math.round(0.56 * width) : SHEET;
    const pixel = slim
      ? Math.min(24, Math.floor((width - WIPE - 50) / 8))
      : Math.min(28, Math.floor((width - side - 272) / 8));
    const sheet = { x: 0, y: HEAD, w: side, h: side };
    const left = slim ? WIPE : side + 62;
    const image = { x: left, y: slim ? HEAD + side + 48 : HEAD, pixel };
    const bars = slim
      ? { x: side + 16, y: HEAD, w: width - side - 16, row: side / 10 }
      : { x: left + 8 * pixel + 66, y: HEAD, row: side / 10 };
    bars.w = width - bars.x;
    const height = slim ? image.y + 8 * pixel + 36 : HEAD + side + 44;
    return { slim, width, sheet, image, bars, height };
  }

  const path = (strokes, { x, y, w }) =>
    strokes
      .map((stroke) => {
        const [first, ...rest] = stroke.map(
          ([u, v]) => `${(x + u * w).toFixed(1)} ${(y + v * w).toFixed(1)}`,
        );
        return `M${first}${rest.map((point) => `L${point}`).join("") || "h.1"}`;
      })
      .join("");

  function sheet({ sheet: box, strokes, image8, given }) {
    const size = box.w / 8;
    return [
      label("sheet", 0, 8, "**Your sheet**"),
      area("paper", box, { concept: "edge", outline: true, radius: 8 }),
      given &&
        image8.map(
          (ink, i) =>
            ink > 0 &&
            area(
              `given ${i}`,
              { x: box.x + (i % 8) * size, y: box.y + Math.floor(i / 8) * size, w: size, h: size },
              { concept: "ink", strength: ink / 16, radius: 0, layer: 1 },
            ),
        ),
      strokes.length > 0 &&
        line("ink", path(strokes, box), { concept: "ink", width: 2 * PEN * box.w, layer: 1 }),
    ];
  }

  // A patch is known by what is on it, so that it glides to where it is put.
  function patches({ image: { x, y, pixel }, slim, image8, order, look }) {
    const most = Math.max(MOST, ...look);
    return [
      label("image", x, y - 18, "**What it gets: 8 words**"),
      label("looks", slim ? 0 : x, y + 8 * pixel + 24, "[a|tint, %]: where the class token looks"),
      order.map((patch, place) => {
        const [row, column] = [Math.floor(place / 2), place % 2];
        const [left, top] = [x + 4 * pixel * column + 3 * column, y + row * (2 * pixel + 3)];
        const box = { x: left, y: top, w: 4 * pixel, h: 2 * pixel };
        return [
          area(`patch ${patch}`, box, {
            concept: "a",
            strength: 0.08 + 0.6 * (look[place] / most),
            radius: 3,
          }),
          cut(image8)[patch].map((ink, i) => {
            const wide = pixel * Math.sqrt(ink / 16);
            const middle = (at) => (at + 0.5) * pixel - wide / 2;
            return area(
              `dot ${patch} ${i}`,
              { x: left + middle(i % 4), y: top + middle(Math.floor(i / 4)), w: wide, h: wide },
              { concept: "ink", radius: wide / 2, layer: 1 },
            );
          }),
          label(
            `look ${place}`,
            column ? left + 4 * pixel + 8 : left - 8,
            top + pixel,
            percent(look[place]),
            { anchor: column ? "start" : "end", concept: "a" },
          ),
        ];
      }),
    ];
  }

  function bars({ bars: { x, y, w, row }, shares, best }) {
    const left = x + 20;
    const room = w - 20 - 46;
    return [
      label("says", x, 8, "**What it says**"),
      shares.map((share, digit) => {
        const middle = y + (digit + 0.5) * row;
        const strong = digit === best;
        return [
          label(`digit ${digit}`, x + 10, middle, `${digit}`, { anchor: "end", strong, size: 14 }),
          area(
            `bar ${digit}`,
            { x: left, y: middle - 0.34 * row, w: Math.max(1.5, room * share), h: 0.68 * row },
            { concept: "v", strength: strong ? 0.9 : 0.5, radius: 3 },
          ),
          label(`share ${digit}`, left + room * share + 6, middle, percent(share), {
            strong,
            muted: !strong && share < 0.005,
          }),
        ];
      }),
    ];
  }

  const draw = (view) => [sheet(view), patches(view), bars(view)];

  return { layout, draw, percent };
});
