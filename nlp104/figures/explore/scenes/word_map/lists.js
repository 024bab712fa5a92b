// For each table the words that are nearest to the chosen one, with their cosines as bars.
nlp104.share("word_map", ({ area, label, line, write }) => {
  const PITCH = 24;

  function neighbour(view, table, [j, cosine], row, { x, y, w }) {
    const { words, slim, size, now } = view;
    const at = y + 26 + row * PITCH;
    const muted = table !== now;
    const key = `${table},${row}`;
    const left = x + 92;
    const room = x + w - 38 - left;
    const bar = { x: left, y: at - 5, w: Math.max(1, cosine * room), h: 10 };
    return [
      label(`near${key}`, x, at, words[j], { size, muted }),
      !slim && area(`bar${key}`, bar, { strength: muted ? 0.25 : 0.75, radius: 2, layer: 1 }),
      label(`cosine${key}`, x + w, at, write(cosine), { size: 12, anchor: "end", muted: true }),
    ];
  }

  function list(view, table) {
    const { tables, lists, size, now } = view;
    const look = { size, strong: table === now, muted: table !== now };
    const at = lists[table];
    return [
      label(`table${table}`, at.x, at.y, tables[table].name, look),
      view.near(table).map((found, row) => neighbour(view, table, found, row, at)),
    ];
  }

  function heading({ slim, words, chosen, lists }) {
    if (!slim) return [];
    return [label("nearest", 0, lists[0].y - 26, `Nearest to **${words[chosen]}**:`, { size: 13 })];
  }

  // Of the tables that were reached; the others would tell what is to be found out.
  const lists = (view) => [
    heading(view),
    view.tables.map((_, table) => table <= view.now && list(view, table)),
  ];

  // Over all words, how many of the nearest are of one kind, and of one gender; a mark stands where
  // luck would be.
  function counts({ words, count, size, width, low, shares }) {
    const title = `Over all ${words.length} words, the nearest ${count} are of the`;
    const bar = { x: 86, w: width - 86 - 132 };
    const solid = { strength: 0.75, radius: 2, layer: 1 };
    const rows = Object.entries(shares).map(([of, [share, luck]], row) => {
      const y = low + 24 + 22 * row;
      const long = (part) => (bar.w * part) / 100;
      return [
        label(`of${of}`, 0, y, `same ${of}`, { size: 12 }),
        area(`all${of}`, { ...bar, y: y - 5, h: 10 }, { strength: 0.12, radius: 2 }),
        area(`part${of}`, { ...bar, y: y - 5, w: Math.max(1, long(share)), h: 10 }, solid),
        line(`luck${of}`, `M${bar.x + long(luck)} ${y - 9}v18`, { concept: "ink", width: 2 }),
        label(`share${of}`, width, y, `**${share}\u00a0%** (luck ${luck}\u00a0%)`, {
          ...{ size: 12, anchor: "end" },
        }),
      ];
    });
    return [label("counts", 0, low, title, { size }), rows];
  }

  return { lists, counts };
});
