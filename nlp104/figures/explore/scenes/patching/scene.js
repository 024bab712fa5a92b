// Vectors of one sentence are put into another: which of them decides between il and elle?
nlp104.scene("patching", (data, { area, cell, label, largest, line, range, step, token, wire }) => {
  const { experiments, words } = data;
  const ROWS = 6;
  const ALL = 2 ** ROWS - 1;
  const TOP = 30;

  // A step exchanges one vector, the last one all; what has been tapped goes before.
  function maskOf({ step: at, out }) {
    if (out >= 0 && out <= ALL) return Math.trunc(out);
    return at > ROWS ? ALL : at && 2 ** (at - 1);
  }

  const has = (mask, row) => Math.floor(mask / 2 ** row) % 2 === 1;

  function layout(width) {
    const slim = width < 560;
    const [pill, unit, gap] = slim ? [80, 9, 30] : [94, 12, 56];
    const long = 4 * unit;
    const lent = pill + 8;
    const own = lent + long + gap;
    const mine = own + long + 8;
    const high = slim ? 32 : 38;
    const bottom = TOP + ROWS * high;
    return { slim, pill, unit, long, lent, own, mine, high, bottom };
  }

  const strip = (key, x, y, unit, strong) =>
    range(4).map((i) =>
      cell(
        `${key},${i}`,
        { x: x + i * unit, y, w: unit, h: 20, value: strong ? 0.9 : 0.3 },
        { numbers: false },
      ),
    );

  function rowOf(view, row) {
    const { own, mine, lent, long, pill, unit, high, one, mask } = view;
    const y = TOP + row * high;
    const exchanged = has(mask, row);
    const differs = one.mine[row] !== one.theirs[row];
    const place = { y: y + 2, w: pill, h: 26 };
    const middle = y + 15;
    const from = lent + long + 3;
    const to = own - 4;
    const head = `M${to - 6} ${middle - 4}L${to} ${middle}L${to - 6} ${middle + 4}`;
    const path = `M${from} ${middle}H${to}${head}`;
    const dashes = range(Math.floor((to - from + 3) / 6)).map((i) => `M${to - 6 * i} ${middle}h-3`);
    return [
      token(
        `theirs${row}`,
        { x: 0, ...place },
        { word: one.theirs[row], size: 12.5, muted: !differs, bare: !differs },
      ),
      strip(`lent${row}`, lent, y + 5, unit, true),
      exchanged
        ? line(`way${row}`, path, { concept: "r", width: 2 })
        : line(`open${row}`, `${dashes.join("")}${head}`, { concept: "edge", width: 1 }),
      strip(`own${row}`, own, y + 5, unit, exchanged),
      token(
        `mine${row}`,
        { x: mine, ...place },
        {
          word: one.mine[row],
          size: 12.5,
          act: `row:${row}`,
          at: `r:${row}:0`,
          first: row === 0,
          pressed: exchanged,
          chosen: exchanged,
          says: `${one.mine[row]}: ${exchanged ? "from the other sentence" : "its own vector"}`,
        },
      ),
    ];
  }

  // How probable il and elle are, and all that is neither.
  const all = (shares) => [...shares, 1 - shares[0] - shares[1]];

  // The decoder, and how probable its next word is.
  function written(view) {
    const { slim, mine, pill, bottom, width, shares } = view;
    const middle = (TOP + bottom) / 2 - 4;
    const x = slim ? 0 : mine + pill + 52;
    const y = slim ? bottom + 22 : middle - 78;
    const start = x + 44;
    const room = Math.max(40, Math.min(200, width - start - 52));
    const best = largest(shares);
    const edge = mine + pill + 6;
    const foot = mine + pill / 2;
    const ends = slim
      ? [
          [foot, bottom - 2],
          [foot, y + 15],
          [124, y + 15],
        ]
      : [
          [edge, TOP + 4],
          [edge + 8, TOP + 4],
          [edge + 8, bottom - 10],
          [edge, bottom - 10],
        ];
    return [
      line("way", wire(ends), { concept: "edge", layer: 0 }),
      !slim && line("into", `M${edge + 8} ${middle}H${x - 6}`, { concept: "edge", layer: 0 }),
      step("decoder", { x, y, w: 120, h: 30, radius: 8 }, { source: "decoder", lit: true }),
      all(shares).map((share, i) => {
        const at = y + 56 + i * 28;
        const word = words[i] ?? "other";
        return [
          label(`word${i}`, x, at, word, { strong: i === best }),
          area(`all${i}`, { x: start, y: at - 7, w: room, h: 14 }, { strength: 0.12, radius: 3 }),
          area(
            `share${i}`,
            { x: start, y: at - 7, w: Math.max(1, room * share), h: 14 },
            { concept: "ink", strength: i === best ? 0.8 : 0.35, radius: 3, layer: 1 },
          ),
          label(`told${i}`, start + room + 8, at, percent(share), { strong: i === best }),
        ];
      }),
    ];
  }

  const percent = (share) => {
    const whole = Math.round(100 * share);
    return `${whole || share === 0 ? whole : "< 1"}\u00a0%`;
  };

  function caption({ one, mask, shares }) {
    const names = one.mine.filter((_, row) => has(mask, row));
    const known = { 0: "**No vector**", [ALL]: "**All vectors**" };
    const title = known[mask] ?? `**${names.join(", ")}**`;
    const best = largest(shares);
    const same = best === largest(one.shares[0]);
    const mind = same ? "the decoder stays with its word" : "the decoder **changes its mind**";
    const french = `${one.begins}**${words[best]}** ${one.ends}`;
    return `${title} exchanged; ${mask ? mind : "the decoder writes"}: ${french}`;
  }

  function draw(state, width) {
    const one = experiments[state.experiment] ?? experiments[0];
    const mask = maskOf(state);
    const view = { ...layout(width), width, one, mask, shares: one.shares[mask] };
    const small = { size: view.slim ? 12 : 13 };
    return {
      marks: [
        label("theirs", 0, 10, "the other sentence", { ...small, muted: true }),
        label("mine", view.own, 10, "is translated", { ...small, strong: true }),
        range(ROWS).map((row) => rowOf(view, row)),
        written(view),
      ],
      height: view.slim ? view.bottom + 22 + 56 + 2 * 28 + 20 : view.bottom + 6,
      caption: caption(view),
      table: {
        caption: "How probable the next word is",
        rows: [...words, "other"],
        columns: ["probability"],
        values: all(view.shares).map((share) => [share]),
      },
    };
  }

  return {
    lead: data.lead,
    start: { step: 0, experiment: 0, out: -1 },
    keep: ["experiment"],
    chapters: ["none", "The", "animal", "street", "it", "tired/wide", "others", "all"],
    options: [
      {
        name: "experiment",
        label: "The other sentence has",
        values: experiments.map(({ name }, i) => [i, name]),
      },
    ],
    draw,
    pause: () => 2600,
    move(state) {
      state.out = -1;
    },
    option: (state) => Object.assign(state, { out: -1 }),
    press(state, [, row]) {
      const mask = maskOf(state);
      state.out = has(mask, Number(row)) ? mask - 2 ** row : mask + 2 ** row;
    },
  };
});
