// What a hand has drawn: strokes as letters of an address, and the image that becomes of them.
//
// A point is three letters, 9 bits for x and 9 for y; a dot begins each stroke.
nlp104.share("draw_digit", ({ limit, range, sum }) => {
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const FINE = 511; // the largest coordinate

  const pointCode = ([x, y]) => {
    const [a, b] = [x, y].map((part) => limit(Math.round(part * FINE), 0, FINE));
    return LETTERS[a >> 3] + LETTERS[((a & 7) << 3) | (b >> 6)] + LETTERS[b & 63];
  };
  const pointOf = (code) => {
    const [a, b, c] = [...code].map((letter) => LETTERS.indexOf(letter));
    if (!(a >= 0 && b >= 0 && c >= 0)) throw new RangeError(`Expected a point. Received: ${code}.`);
    return [((a << 3) | (b >> 3)) / FINE, (((b & 7) << 6) | c) / FINE];
  };
  const codeOf = (strokes) =>
    `.${strokes.map((stroke) => stroke.map(pointCode).join("")).join(".")}`;
  const strokesOf = (code) =>
    code
      .split(".")
      .filter(Boolean)
      .map((stroke) => stroke.match(/.{1,3}/g).map(pointOf));

  // ---------- a part of it ----------
  const between = ([a, b], [c, d], part) => [a + part * (c - a), b + part * (d - b)];
  const long = ([a, b], [c, d]) => Math.hypot(c - a, d - b);
  const lengthOf = (stroke) => sum(stroke.slice(1).map((point, i) => long(stroke[i], point)));

  // The strokes as far as the pen had come after this part of its way.
  function until(strokes, part) {
    if (part >= 1) return strokes;
    let left = part * sum(strokes.map(lengthOf));
    const found = [];
    for (const stroke of strokes) {
      if (left <= 0) break;
      const points = [stroke[0]];
      for (const point of stroke.slice(1)) {
        const way = long(points.at(-1), point);
        if (way >= left) points.push(between(points.at(-1), point, left / way));
        left -= way;
        if (left <= 0) break;
        points.push(point);
      }
      found.push(points);
    }
    return found;
  }

  // ---------- an image of it ----------
  // As the images of the data set are: 32 × 32 dots; a digit fills the height and is 20 dots wide,
  // if that does not pull it out of shape; and has so many dots of ink.
  const SIDE = 32;
  const WIDE = 20;
  const INK = 313; // dots: their mean
  const PULLED = 1.6; // times: the most
  const PEN = 2.4; // dots: half a line on a sheet that is not fitted

  const piecesOf = (strokes) =>
    strokes.flatMap((stroke) =>
      stroke.length > 1
        ? stroke.slice(1).map((end, i) => [stroke[i], end])
        : [[...stroke, ...stroke]],
    );

  // How far the middle of each dot is from the nearest stroke.
  function distances(pieces) {
    const found = new Float64Array(SIDE * SIDE).fill(Infinity);
    for (const [[a, b], [c, d]] of pieces) {
      const x = c - a;
      const y = d - b;
      const square = x * x + y * y || 1;
      for (let i = 0; i < found.length; i++) {
        const u = (i % SIDE) + 0.5 - a;
        const v = Math.floor(i / SIDE) + 0.5 - b;
        const part = Math.max(0, Math.min(1, (u * x + v * y) / square));
        const away = (u - part * x) ** 2 + (v - part * y) ** 2;
        if (away < found[i]) found[i] = away;
      }
    }
    return found.map(Math.sqrt);
  }

  // The thickness decides how much room is left for the lines, and they how thick they must be.
  function fitted(strokes) {
    const pieces = piecesOf(strokes);
    const points = strokes.flat();
    const [low, high] = [Math.min, Math.max].map((end) =>
      [0, 1].map((axis) => end(...points.map((point) => point[axis]))),
    );
    const [wide, tall] = [high[0] - low[0], high[1] - low[1]];
    let thick = 2.5;
    let found;
    for (let turn = 0; turn < 4; turn++) {
      const room = SIDE - 2 * thick;
      const most = PULLED * Math.min(room / wide, room / tall);
      const scale = [Math.max(1, WIDE - 2 * thick) / wide, room / tall].map((fills) =>
        Math.min(fills, most, 1e9),
      );
      const place = (point) =>
        point.map((at, axis) => (at - (low[axis] + high[axis]) / 2) * scale[axis] + SIDE / 2);
      found = distances(pieces.map((piece) => piece.map(place)));
      thick = Float64Array.from(found).sort()[INK - 1];
    }
    return found.map((away) => Number(away <= thick + 1e-9));
  }

  function asDrawn(strokes) {
    const pieces = piecesOf(strokes).map((piece) => piece.map(([x, y]) => [x * SIDE, y * SIDE]));
    return distances(pieces).map((away) => Number(away <= PEN + 1e-9));
  }

  // How many of the 4 × 4 dots of each pixel are ink, row by row: 8 × 8 numbers from 0 to 16.
  function counted(dots) {
    const image = range(64).map(() => 0);
    dots.forEach((dot, i) => {
      image[8 * Math.floor(i / SIDE / 4) + Math.floor((i % SIDE) / 4)] += dot;
    });
    return image;
  }

  function imageOf(strokes, fits) {
    if (!strokes.length) return range(64).map(() => 0);
    return counted(fits ? fitted(strokes) : asDrawn(strokes));
  }

  return { codeOf, strokesOf, until, imageOf, PEN: PEN / SIDE };
});
