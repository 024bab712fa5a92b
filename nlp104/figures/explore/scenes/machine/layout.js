// Where everything stands, and what draws it.
nlp104.share("machine", ({ sum, limit, box, label, line, step }) => {
  const CONCEPTS = { pos: "p", self: "a", cross: "a" };

  const bare = (word) => word.replace(/^\[(.+)\]$/, (_, sign) => sign.toLowerCase());
  const clamp = (i, count) => limit(i | 0, 0, count - 1);

  const countOf = ({ source }, { tower, turn }) => (tower === "enc" ? source.length : turn + 1);
  function weightsOf(data, now) {
    if (now.box === "cross") return data.weights.cross;
    return data.weights[now.tower].map((row) => row.slice(0, countOf(data, now)));
  }

  const text = (key, x, y, source, look) =>
    label(key, x, y, source, { size: 12, anchor: "middle", ...look });
  // Where a word's weights start.
  const door = (x, y) => ({
    out: [x, y - 16],
    number: [x, y - 8],
    key: [x - 4, y],
    value: [x + 4, y],
  });
  const path = (key, d, look) => line(key, d, { layer: 0, concept: "line", ...look });

  // A vector: its numbers as strokes.
  function chip({ chip: w, code: h }, key, values, x, y, { concept = "r", lit, opacity } = {}) {
    const pitch = (w - 3) / values.length;
    const strokes = values.map((value, k) => {
      const start = 1.5 + (k + 0.5) * pitch;
      const strength = Math.min(1, Math.abs(value) / 2.5) ** 0.6;
      const down = -Math.sign(value) * (h / 2 - 1.5) * strength;
      return `M${start.toFixed(1)} ${h / 2}v${down.toFixed(1)}`;
    });
    const place = { x: x - w / 2, y: y - h / 2, opacity };
    const frame = { source: "", radius: 4, layer: 1, lit, concept: "ink" };
    return [
      step(`${key}b`, { ...place, w, h }, frame),
      line(`${key}s`, strokes.join(""), { ...place, concept, width: 0.74 * pitch }),
    ];
  }

  const pick = (act, at, chosen, says) => ({ act, at, first: chosen, pressed: chosen, says });

  const NAMES = 80; // how wide names in boxes are,
  const MEMORY = 64; // the memory between two towers,
  const EDGES = 308; // and all but lanes
  const HEAD = 54; // how high both towers are in the corner
  const ROW = 38; // how high a word of it is, with its vector

  const wish = (word) => Math.max(28, 6.2 * bare(word).length + 9);

  // Lanes of words, and names of boxes outside.
  function lanes({ both, room, all }, tower, words, wanted, x) {
    const flip = both && tower === "dec";
    const wide = both ? all : sum(wanted);
    const turned = !both && 0.9 * wide > room;
    const widths = wanted.map((w) =>
      turned ? Math.min(40, room / wanted.length) : w * Math.min(1.5, room / wide),
    );
    const longest = Math.max(...words.map((word) => bare(word).length));
    const long = sum(widths);
    const w = NAMES + 6 + long;
    const from = x + 3 + (flip ? 0 : NAMES);
    const to = from + long;
    return {
      ...{ tower, x, w, from, to, long, widths, turned },
      pill: turned ? 7 * longest + 14 : 24,
      middles: widths.map((w, i) => from + sum(widths.slice(0, i)) + w / 2),
      name: flip ? to + 3 + NAMES / 2 : x + NAMES / 2,
      outer: flip ? x + w : x,
      way: flip ? 1 : -1,
    };
  }

  // Boxes upon each other, from 0 upwards. In a single tower on a phone only the one at work is
  // open, and there is room above it and above the one below for the vectors.
  function pile({ both, slim, code }, { tower, pill }, names, word, at) {
    const gap = slim ? 17 : 23;
    const above = { tok: 7, low: gap + 10, add1: gap + 4, add2: gap + 4, add3: gap + 14, out: 7 };
    const high = { tok: pill, emb: 22, pos: slim ? 21 : 25, low: 22, ffn: 28, out: 28 };
    high.self = slim && !both ? 48 : 58;
    if (!both && tower === "enc") high.self = slim ? 96 : 130;
    high.cross = both ? 50 : word + code + (slim ? 48 : 70);
    if (slim && !both) {
      const below = ["self", "cross", "ffn", "out"].includes(at) && names[names.indexOf(at) - 1];
      for (const name of names) {
        if (![at, "tok", "out"].includes(name) && name in high)
          high[name] = name === "cross" ? word + code + 10 : 21;
        if (![at, below, "tok", "low", "add3"].includes(name)) above[name] = 9;
      }
    }
    const rows = {};
    let y = 0;
    for (const name of names) {
      const h = high[name] ?? (slim && !both ? 19 : 17);
      y -= h;
      rows[name] = { y, h };
      y -= above[name] ?? gap;
    }
    return { rows, top: y };
  }

  // The memory between two towers.
  function list(wanted, x, middle, chip) {
    const tall = ROW * wanted.length + 6;
    const shelf = box(x, middle - tall / 2, MEMORY, tall);
    const slots = wanted.map((w, j) => {
      const y = shelf.y + ROW * j;
      const edge = x + MEMORY;
      return {
        x: x + 5 + chip / 2,
        y: y + 30,
        pill: box(x + 4, y + 3, Math.min(MEMORY - 8, w), 16),
        out: [edge, y + 22],
        number: [edge - 4, y + 30],
        key: [edge, y + 18],
        value: [edge, y + 26],
      };
    });
    return { shelf, slots };
  }

  // The memory in a single tower.
  function board(wanted, { from, long }, bottom, word, code) {
    const thick = word + code + 3;
    const y = bottom - thick;
    const scale = long / sum(wanted);
    const slots = wanted.map((w, j) => {
      const start = from + scale * sum(wanted.slice(0, j));
      const x = start + (scale * w) / 2;
      return {
        x,
        y: y + word + code / 2 + 1,
        pill: box(start + 1, y + 1, scale * w - 2, word),
        ...door(x, y),
      };
    });
    return { shelf: box(from - 1, y, long + 2, thick), slots };
  }

  function layout({ source, target, next, stack }, width, { tower, box: at }) {
    const wanted = {
      enc: source.map(wish),
      dec: target.map((word, i) => Math.max(wish(word), wish(next[i]))),
    };
    const slim = width < 560;
    const code = slim ? 15 : 19; // how high a vector is
    const all = sum([...wanted.enc, ...wanted.dec]);
    const span = Math.min(width, EDGES + 1.5 * all);
    const both = 0.94 * all <= span - EDGES; // there is room
    const left = (width - (both ? span : Math.min(width, 620))) / 2;
    const right = width - left;
    const seen = both ? ["enc", "dec"] : [tower];
    const room = both ? span - EDGES : right - left - 34 - NAMES;
    const frame = { slim, both, left, right, seen, all, room, code };
    const enc = lanes(frame, "enc", source, wanted.enc, left + 14);
    const dec = lanes(frame, "dec", target, wanted.dec, enc.x + (both ? enc.w + MEMORY + 38 : 0));
    const word = enc.turned ? enc.pill : 17;
    const towers = { enc, dec };
    for (const own of [enc, dec]) Object.assign(own, pile(frame, own, stack[own.tower], word, at));
    const tops = stack.dec.map((name) => {
      const head = both ? 24 : slim && name !== "out" ? HEAD : 69;
      return head + dec.pill - pile(frame, dec, stack.dec, word, name).top;
    });
    const depth = Math.max(...tops); // of every step
    for (const row of [enc, dec].flatMap(({ rows }) => Object.values(rows))) {
      row.y += depth - 2;
      row.mid = row.y + row.h / 2;
      row.rest = row.y - code / 2 - 3; // where vectors wait
    }
    const chip = Math.min(both ? 31 : 44, ...seen.flatMap((name) => towers[name].widths)) - 3;
    const { cross } = dec.rows;
    const roof = tower === "dec" ? cross.y + cross.h - 2 : enc.rows.add2.y - 56;
    const store = !both && at === "mem" ? 2 * code : code; // how high vectors are in the memory
    const memory = both
      ? list(wanted.enc, enc.x + enc.w + 14, cross.mid, chip)
      : board(wanted.enc, towers[tower], roof, word, store);
    return { ...frame, ...memory, towers, depth, chip, store, closed: slim && !both };
  }

  return { CONCEPTS, bare, clamp, weightsOf, text, path, door, chip, pick, countOf, layout };
});
