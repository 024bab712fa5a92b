// Where the parameters are: the share of each kind, and every matrix as a rectangle.
nlp104.share("shapes", ({ sum, range, note, shapes: { total, block } }) => {
  function kinds({ data, width, slim, box, shares, percent, kindsTop: top }) {
    const { says } = data;
    const legend = data.kinds.map(([kind, concept], i) => {
      const look = { concept, strength: box?.holds[0] && box.kind === i ? 1 : 0.5 };
      const x = width * (slim ? (i % 2) * 0.53 : i / 4);
      const y = top + 40 + (slim && i > 1 ? 18 : 0);
      const before = sum(shares.slice(0, i)) * width;
      return [
        block(`share${i}`, { x: before, y: top + 12, w: shares[i] * width, h: 12 }, look),
        block(`sign${i}`, { x, y: y - 5, w: 10, h: 10 }, look),
        note(`kind${i}`, x + 14, y, `${kind} **${percent[i]}**`),
      ];
    });
    return [
      note("where", 0, top, says.where),
      note("rows", width, top, says.rows[slim ? 1 : 0], { anchor: "end", muted: true }),
      legend,
    ];
  }

  // The width of a matrix, as high as d.
  function wideOf(word, layer, size) {
    if (word === "DD") return size.D;
    if (word === "UD") return size.U;
    return layer ? size.F : size.V;
  }
  const matricesOf = ({ made, size }) =>
    made.flatMap(({ holds, layer }, box) => {
      const groups = holds.filter(([, word]) => word.length > 1);
      return groups.flatMap(([, word, colours]) => {
        const wide = wideOf(word, layer, size);
        return [...colours].map((concept, k) => ({ box, layer, concept, k, wide }));
      });
    });

  // A row for each layer with its matrices, below them embedding and output: the largest scale
  // at which all of them find room.
  function matrices(view) {
    const { width, size, chosen, box, matricesTop: top, matricesHeight } = view;
    const all = matricesOf(view);
    const inside = all.filter((one) => one.layer);
    const tables = all.filter((one) => !one.layer);
    let scale = width / total(inside, "wide");
    const rows = () => size.N + Math.ceil((total(tables, "wide") * scale) / width - 1e-9);
    while (rows() * (size.D * scale + 1) > matricesHeight) scale *= 0.97;
    const h = size.D * scale;
    const matrix = (key, x, row, wide, concept, lit) => {
      const place = { x, y: top + row * (h + 1), w: Math.max(0.5, wide - 0.8), h };
      return block(key, place, { concept, strength: lit ? 1 : 0.45 });
    };
    const marks = [];
    for (const n of range(size.N)) {
      let x = 0;
      for (const { box: i, wide, concept, k } of inside) {
        marks.push(matrix(`w${n},${i},${k}`, x, n, wide * scale, concept, i === chosen));
        x += wide * scale;
      }
    }
    let end = 0;
    for (const { box: i, wide } of tables) {
      const lit = i === chosen || box?.tied;
      let from = end;
      end += wide * scale;
      while (from < end - 0.01) {
        const row = Math.floor(from / width + 1e-9); // in this one as far as it goes
        const to = Math.min(end, (row + 1) * width);
        marks.push(matrix(`e${i},${row}`, from - row * width, size.N + row, to - from, "ink", lit));
        from = to;
      }
    }
    return marks;
  }

  const parameters = (view) => [kinds(view), matrices(view)];

  return { parameters };
});
