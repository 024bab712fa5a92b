// Eight devices in two rows of four: what each holds of every matrix, and of the tokens.
nlp104.share("devices", ({ range, area, label, token }) => {
  function names(row, { matrices, account, uses, form, top, pitch, high, letters }) {
    const lit = (i) => account && (i < matrices.length ? uses.includes(i) : form !== undefined);
    const titles = [...matrices.map(([name]) => name), "tokens"];
    return [
      label(`d${row}`, 0, top(row) + 11, "device", { muted: true, size: 12 }),
      titles.map((name, i) => {
        const look = { muted: !lit(i), strong: lit(i), size: letters };
        return label(`n${row},${i}`, 0, top(row) + 28 + pitch * i + high / 2, name, look);
      }),
    ];
  }

  function pill(id, x, y, { device, across: w }) {
    const chosen = id === device;
    const look = {
      word: `${id + 1}`,
      size: 13,
      chosen,
      act: `device:${id}`,
      at: `d:${id >> 2}:${id % 4}`,
      first: chosen,
      pressed: chosen,
      says: `device ${id + 1}`,
      hit: { x, y: y - 4, w, h: 30 },
    };
    return token(`pill${id}`, { x, y, w, h: 22 }, look);
  }

  // One slice of so many, cut by columns or by rows.
  function slice({ x, y, w, h }, byColumns, part, of) {
    if (byColumns) return { x: x + (part * w) / of, y, w: w / of, h };
    return { x, y: y + (part * h) / of, w, h: h / of };
  }

  // A frame for the whole, and in it what this device has. Q, K and V lie below each other.
  function matrix(id, i, x, y, view) {
    const { matrices, uses, slices, cutWords, across: w, high } = view;
    const [, concepts, byColumns] = matrices[i];
    const lit = uses.includes(i);
    const whole = i === 0 && !cutWords;
    const part = whole ? 0 : id % slices;
    const h = high / concepts.length;
    const edge = concepts.length > 1 ? 0.8 : 0;
    const frame = { concept: "r", strength: lit ? 0.13 : 0.07, radius: 2 };
    const look = { strength: lit ? 0.95 : 0.3, radius: 1, layer: 1 };
    return [
      area(`m${id},${i}`, { x, y, w, h: high }, frame),
      concepts.map((concept, k) => {
        const all = { x, y: y + k * h, w, h: h - edge };
        const place = slice(all, byColumns, part, whole ? 1 : slices);
        return area(`s${id},${i},${k}`, place, { concept, ...look });
      }),
    ];
  }

  // Tokens: rows of the batch; of their vectors all columns, those of a slice, or a part of the
  // sum (hatched).
  function vectors(id, x, y, { form, rows, slices, cutWords, across: w, high }) {
    if (!form) return [];
    const cut = (form === "cut" || (form === "words" && cutWords)) && slices > 1;
    const partial = form === "partial" && slices > 1;
    const h = high / rows;
    const own = { x, y: y + Math.floor(id / slices) * h, w, h };
    const place = cut ? slice(own, true, id % slices, slices) : own;
    const look = { concept: "r", strength: partial ? 0.3 : 0.95, radius: 1, layer: 1 };
    return [
      area(`X${id}`, { x, y, w, h: high }, { concept: "r", strength: 0.13, radius: 2 }),
      area(`x${id}`, place, look),
      partial && area(`h${id}`, place, { hatch: true, radius: 1, layer: 1 }),
    ];
  }

  function device(id, view) {
    const { matrices, count, account, top, column, across, pitch } = view;
    const x = column(id % 4);
    const y = top(id >> 2);
    const inside = y + 28;
    if (id >= count) {
      const place = { x, y: inside, w: across, h: 6 * pitch - 5 };
      return area(`off${id}`, place, { concept: "edge", strength: 0.07, radius: 6 });
    }
    if (!account) return pill(id, x, y, view);
    return [
      pill(id, x, y, view),
      matrices.map((_, i) => matrix(id, i, x, inside + pitch * i, view)),
      vectors(id, x, inside + pitch * 5 + 3, view),
    ];
  }

  const grid = (view) => [
    range(2).map((row) => names(row, view)),
    range(8).map((id) => device(id, view)),
  ];

  return { grid };
});
