// Where the words stand: as near as can be to their places on the map, none on another.
nlp104.share("word_map", ({ limit }) => {
  const HIGH = 28; // of a word
  const GAP = 8;
  const EDGE = 4; // of the map, for the rings
  const ROUNDS = 400;

  // Two words that overlap move apart, in the direction in which the smaller part of them does;
  // says whether they did.
  function part(a, b, { map, foot }) {
    const across = (a.w + b.w) / 2 + GAP;
    const down = HIGH + GAP;
    const [x, y] = [b.x - a.x, b.y - a.y];
    const over = [1 - Math.abs(x) / across, 1 - Math.abs(y) / down];
    if (Math.min(...over) <= 0) return false;
    const by = over.map((share, i) => (share * [across, down][i]) / 2);
    const sideways = over[0] < over[1];
    const way = (sideways ? x : y) < 0 ? -1 : 1;
    for (const [word, sign] of [
      [a, -way],
      [b, way],
    ]) {
      if (sideways)
        word.x = limit(word.x + sign * by[0], word.w / 2 + EDGE, map - word.w / 2 - EDGE);
      else word.y = limit(word.y + sign * by[1], HIGH / 2 + EDGE, foot - HIGH / 2 - EDGE);
    }
    return true;
  }

  function spread({ words }, { places }, { map, foot, letter }) {
    const set = words.map((word, i) => {
      const w = letter * word.length + 18;
      const [x, y] = places[i];
      return {
        w,
        x: w / 2 + EDGE + x * (map - w - 2 * EDGE),
        y: HIGH / 2 + EDGE + (1 - y) * (foot - HIGH - 2 * EDGE),
      };
    });
    const pairs = set.flatMap((a, i) => set.slice(i + 1).map((b) => [a, b]));
    for (let round = 0; round < ROUNDS; round++) {
      const moved = pairs.filter(([a, b]) => part(a, b, { map, foot }));
      if (!moved.length) break;
    }
    return set.map(({ x, y, w }) => ({ x: x - w / 2, y: y - HIGH / 2, w, h: HIGH }));
  }

  // What the colours and the dashed edge mean, in as many rows as it takes; few kinds have colours.
  const TINTS = 4;
  function explain(kinds, { width, foot, slim, size }) {
    const names = [...new Set(kinds)];
    const items = names.length <= TINTS ? names.map((name) => ({ name, swatch: 16 })) : [];
    items.push({ name: slim ? "feminine" : "feminine in French", swatch: 26, dashed: true });
    let [x, row] = [0, 0];
    const placed = items.map((item) => {
      const w = item.swatch + 13 + 0.58 * size * item.name.length;
      if (x && x + w - 8 > width) [x, row] = [0, row + 1];
      x += w;
      return { ...item, x: x - w, y: foot + 23 + 22 * row };
    });
    return { legend: placed, more: 22 * row };
  }

  // The map, and beside it, or below, a list for each table.
  function layout({ tables, count, kinds }, width) {
    const slim = width < 560;
    const map = slim ? width : Math.round(0.64 * width);
    const foot = slim ? 364 : 380;
    const letters = slim ? { letter: 7, size: 12 } : { letter: 7.6, size: 13 };
    const { legend, more } = explain(kinds, { width, foot, slim, ...letters });
    const list = slim
      ? { x: 0, y: foot + 148 + more, w: (width + 12) / tables.length - 12, across: true }
      : { x: map + 28, y: 10, w: width - map - 28, across: false };
    const high = 30 + 24 * count; // of a list
    const lists = tables.map((_, i) => ({
      x: list.x + (list.across ? i * (list.w + 12) : 0),
      y: list.y + (list.across ? 0 : i * (high + 26)),
      w: list.w,
    }));
    const end = lists.at(-1).y + high;
    const low = more + (slim ? foot + 52 : Math.max(foot + 36, end) + 14); // of what is counted
    const bottom = slim ? end : low + 58;
    return { width, slim, map, foot, ...letters, lists, legend, low, bottom };
  }

  return { layout, spread, TINTS };
});
