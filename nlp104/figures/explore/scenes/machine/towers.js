// The towers with their boxes and wires, and the memory.
nlp104.share("machine", ({ box, area, step, token, wire, machine }) => {
  const { CONCEPTS, bare, text, path, pick } = machine;
  const NAMES = {
    tok: ["tokens"],
    emb: ["embedding"],
    pos: ["+ position"],
    self: ["self-", "attention"],
    cross: ["cross-", "attention"],
    ffn: ["feed-", "forward"],
    out: ["linear,", "softmax"],
  };
  function linesOf({ layers }, tower, name, closed) {
    if (closed && ["self", "ffn"].includes(name)) return [NAMES[name].join("")];
    if (name === "low") return [layers > 2 ? `layers 1–${layers - 1}` : "layer 1"];
    if (tower === "dec" && name === "self") return ["masked", ...NAMES.self];
    return NAMES[name] ?? ["add, norm"];
  }

  const button = ({ now }, name, row, column) => ({
    ...{ source: "", layer: 0, act: `box:${name}`, at: `box:${row}:${column}` },
    pressed: now.open === name,
    first: name === (now.box === "mem" ? "mem" : `${now.tower}:${now.box}`),
  });

  // Lanes, and the frame around the last layer.
  function frame({ data, now, slim, both, shelf, tower, w, rows, middles, outer, way, name }) {
    const last = tower === "enc" ? "add2" : "add3";
    const top = rows[last].y - (slim ? 29 : 34);
    const foot = rows.self.y + rows.self.h + 7;
    const near = outer + 13 * way;
    const far = outer - way * (w + 5);
    const start = [(near + far) / 2, foot];
    let roof = both ? top - 12 : shelf.y + shelf.h;
    if (tower === "dec") roof = rows.out.y - 7;
    const lanes = middles.map((x) => `M${x} ${rows.tok.y}V${roof}`);
    const around = [start, [near, foot], [near, top], [far, top], [far, foot], start];
    const over = tower === now.tower && [last, "out"].includes(now.box);
    return [
      path(`${tower}lanes`, lanes.join("")),
      path(`${tower}frame`, wire(around, 9)),
      text(`${tower}layer`, name, top + 10, `layer ${data.sizes.layers}`, {
        muted: true,
        opacity: over ? 0 : 1,
      }),
    ];
  }

  // What was written goes in again.
  function again({ data, now, right, x, w, to, rows }) {
    const { mid } = rows.tok;
    const end = x + w;
    const high = rows.out.y - 19;
    const enters = now.turn > 0 && now.box === "pos";
    const leaves = now.box === "out" && now.turn + 1 < data.target.length;
    const lit = enters || leaves;
    const look = { concept: lit ? "r" : "edge", width: lit ? 2.25 : 1.25 };
    const way = [
      [to + 2, high],
      [right - 3, high],
      [right - 3, mid],
      [end, mid],
    ];
    return [
      path("again", wire(way), look),
      path("tip", `M${end + 6} ${mid - 4}L${end} ${mid}l6 4`, look),
    ];
  }

  const plus = (x, y) =>
    `M${x - 5.5} ${y}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0` + `M${x - 3} ${y}h6M${x} ${y - 3}v6`;
  // Wider inside.
  const network = (x, { y, h, mid }, wide) =>
    `M${x - 4} ${y + h - 4}L${x - wide} ${mid}L${x - 4} ${y + 4}h8` +
    `L${x + wide} ${mid}L${x + 4} ${y + h - 4}Z`;

  function inside(view, name, below, lit) {
    const { data, now, tower, widths, middles, rows, outer, way, from, to } = view;
    const { mid } = rows[name];
    const { width, dec } = data.sizes;
    const busy = middles.filter((_, i) => tower === "enc" || i <= now.turn);
    const concept = lit ? "r" : "edge";
    const sign = (shapes) => path(`${tower}${name}p`, shapes.join(""), { concept, layer: 1 });
    if (name === "out")
      return text("scores", (from + to) / 2, mid, `${width} → ${dec}`, { muted: true });
    if (name === "ffn")
      return sign(busy.map((x, i) => network(x, rows.ffn, Math.min(14, widths[i] / 2 - 2))));
    if (!name.startsWith("add")) return null;
    // The wire past a sub-layer, and where it is added.
    const start = rows[below].y + rows[below].h + 4;
    const past = [
      [way < 0 ? middles[0] : middles.at(-1), start],
      [outer + 8 * way, start],
      [outer + 8 * way, mid],
      [outer, mid],
    ];
    return [
      path(`${tower}${name}w`, wire(past), { concept, width: lit ? 2.25 : 1.25 }),
      sign(busy.map((x) => plus(x, mid))),
    ];
  }

  function stop(view, name, i) {
    const { data, now, tower, x, w, rows, name: middle } = view;
    const { y, h, mid } = rows[name];
    const place = box(x, y, w, h);
    const lit = tower === now.tower && now.box === name && now.open !== "mem";
    const concept = CONCEPTS[name] ?? "r";
    const lines = linesOf(data.sizes, tower, name, view.closed && !lit);
    const look = { concept: lit ? concept : undefined, muted: !lit, strong: lit };
    return [
      step(`${tower}${name}`, place, {
        ...button(view, `${tower}:${name}`, 10 - i, tower === "enc" ? 0 : 2),
        ...{ radius: 7, lit, concept },
        hit: box(x, y - Math.max(0, 14.5 - h / 2), w, Math.max(29, h)),
        says: `${linesOf(data.sizes, tower, name).join(" ").replace("- ", "-")}: what it does`,
      }),
      lit && area("lit", place, { concept, strength: 0.15, radius: 7 }),
      ...lines.map((source, j) => {
        const y = mid + 13 * (j - (lines.length - 1) / 2);
        const aside = view.closed && !lit && name === "self" ? 3 : 0; // a long line
        return text(`${tower}${name}${j}`, middle + aside, y, source, look);
      }),
      inside(view, name, data.stack[tower][i - 1], lit),
    ];
  }

  const tower = (view) => [
    frame(view),
    view.tower === "dec" && again(view),
    ...view.data.stack[view.tower].map((name, i) => stop(view, name, i)),
  ];

  // To the memory, and from there keys and values to both layers.
  function bridge({ done, towers: { enc, dec }, shelf }) {
    const { low, cross } = dec.rows;
    const high = enc.rows.add2.y - 46;
    const start = enc.middles[0];
    const middle = shelf.x + shelf.w / 2;
    const edge = shelf.x + shelf.w;
    const above = [
      [middle, high],
      [middle, shelf.y],
    ];
    const end = high > shelf.y + 6 ? [[shelf.x, high]] : above;
    const points = [[start, high + 12], [start, high], ...end];
    const wires = Object.entries({ k: -3, v: 3 }).map(([letter, shift]) => {
      const look = { concept: done ? letter : "edge" };
      const bend = edge + 12 + shift;
      const down = [
        [bend, cross.mid + shift],
        [bend, low.mid - shift],
        [dec.x, low.mid - shift],
      ];
      return [
        path(`low${letter}`, wire(down), look),
        path(`high${letter}`, `M${edge} ${cross.mid + shift}H${dec.x}`, look),
      ];
    });
    return [path("bridge", wire(points), { concept: done ? "r" : "edge" }), wires];
  }

  function words({ data, now, follow, done, both, towers, slots }) {
    if (!both && now.tower === "enc" && !done) return null;
    return slots.map(({ pill }, j) => {
      const { x, y, w, h } = pill;
      const source = data.source[j];
      const at = both ? `m:${j}:0` : `m:0:${j}`;
      return token(`m${j}`, pill, {
        word: source,
        size: 12,
        turn: towers.enc.turned,
        bare: j !== follow || now.tower !== "enc",
        muted: !done,
        hit: both ? box(x, y - 4, Math.max(28, w), 30) : box(x, y - 11, w, h + 11),
        ...pick(`follow:${j}`, at, j === follow, `follow ${bare(source)}`),
      });
    });
  }

  function memory(view) {
    const { data, now, done, both, shelf } = view;
    const { x, y, w, h } = shelf;
    const open = now.open === "mem";
    const shape = `${data.source.length} × ${data.sizes.width}`;
    const name = (key, y, source, muted) => text(key, x + w / 2, y, source, { muted });
    return [
      step("mem", shelf, {
        ...button(view, "mem", 4, 1),
        ...{ radius: 8, lit: done, concept: open ? "ink" : "r" },
        says: "memory: what it is",
      }),
      (open || now.box === "mem") && area("lit", shelf, { strength: 0.15, radius: 8 }),
      both && bridge(view),
      both && [name("memn", y - 12, "**memory**", !done), name("mems", y + h + 12, shape, true)],
      !both && now.tower === "enc" && name("memn", y - 11, `**memory** ${shape}`, !done),
      words(view),
    ];
  }

  return { tower, memory };
});
