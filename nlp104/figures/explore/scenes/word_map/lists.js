// For each table the words that are nearest to the chosen one, with their cosines as bars.
nlp104.share("word_map", ({ area, label, write }) => {
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

  function heading({ slim, words, chosen, foot }) {
    if (!slim) return [];
    return [label("nearest", 0, foot + 58, `Nearest to **${words[chosen]}**:`, { size: 13 })];
  }

  return { lists: (view) => [heading(view), view.tables.map((_, table) => list(view, table))] };
});
