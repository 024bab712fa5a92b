// A map of nouns for each table of vectors, and the nearest of the chosen noun.
nlp104.scene("word_map", (data, { limit, sum, area, token, line, label, word_map }) => {
  const { layout, spread, lists, counts, TINTS } = word_map;
  const { words, kinds, feminine, tables, count } = data;

  // For each table and word its nearest words, each [its number, the cosine], the nearest first.
  const nearest = tables.map(({ cosines }) =>
    cosines.map((row, i) =>
      row
        .map((cosine, j) => [j, cosine])
        .filter(([j]) => j !== i)
        .sort(([, a], [, b]) => b - a)
        .slice(0, count),
    ),
  );

  // How many of a word's nearest are like it.
  const like = (table, i, of) => nearest[table][i].filter(([j]) => of[j] === of[i]).length;
  const share = (table, of) =>
    Math.round((100 * sum(words.map((_, i) => like(table, i, of)))) / (count * words.length));

  const french = (i) => `${data.french[i]}, ${feminine[i] ? "feminine" : "masculine"}`;

  // What the share would be if the nearest words were drawn by lot.
  const luck = (of) => {
    const alike = words.map((_, i) => of.filter((one) => one === of[i]).length - 1);
    return Math.round((100 * sum(alike)) / (words.length * (words.length - 1)));
  };
  const shares = (table) => ({
    kind: [share(table, kinds), luck(kinds)],
    gender: [share(table, feminine), luck(feminine)],
  });

  function caption(table, i) {
    const times = (n) => `**${n}** ${n === 1 ? "time" : "times"}`;
    return (
      `**${words[i]}** (kind: ${kinds[i]}; French: ${french(i)}). In the table “` +
      `${tables[table].name}”, its nearest ${count} share its kind ` +
      `${times(like(table, i, kinds))}, its gender ${times(like(table, i, feminine))}.`
    );
  }

  // A word has the colour of its kind, where there are few kinds.
  const KINDS = [...new Set(kinds)];
  const tint = (key, place, i) =>
    KINDS.length <= TINTS &&
    area(key, place, { concept: `kind${KINDS.indexOf(kinds[i])}`, radius: 10 });

  function pill({ chosen, size, now, near }, place, i) {
    const { x, y, w, h } = place;
    const ring = { x: x - 3, y: y - 3, w: w + 6, h: h + 6 };
    const found = near(now).some(([j]) => j === i);
    return [
      tint(`tint${i}`, place, i),
      found && area(`ring${i}`, ring, { outline: true, radius: 13 }),
      token(`word${i}`, place, {
        word: words[i],
        size,
        dashed: feminine[i],
        chosen: i === chosen,
        act: `word:${i}`,
        at: `w:0:${i}`,
        first: i === chosen,
        pressed: i === chosen,
        says: `${words[i]}, in French ${french(i)}`,
      }),
    ];
  }

  const explained = ({ legend, size }) =>
    legend.map(({ name, x, y, swatch, dashed }) => [
      dashed
        ? token("sample", { x, y: y - 9, w: swatch, h: 18 }, { word: "", dashed })
        : tint(`sample${name}`, { x, y: y - 8, w: swatch, h: 16 }, kinds.indexOf(name)),
      label(`legend${name}`, x + swatch + 5, y, name, { size, muted: true }),
    ]);

  function draw(state, width) {
    const now = limit(state.step, 0, tables.length - 1);
    const chosen = words[state.word] ? state.word : 0;
    const at = layout(data, width);
    const near = (table) => nearest[table][chosen];
    const view = { ...data, ...at, now, chosen, near, shares: shares(now) };
    const set = spread(data, tables[now], at);
    const middle = ({ x, y, w, h }) => `${x + w / 2} ${y + h / 2}`;
    const ways = near(now).map(([j], rank) =>
      line(`way${rank}`, `M${middle(set[chosen])}L${middle(set[j])}`, {
        concept: "r",
        width: 3.5 - rank,
        layer: 0,
      }),
    );
    return {
      marks: [
        ...[ways, set.map((place, i) => pill(view, place, i))],
        ...[explained(at), counts(view), lists(view)],
      ],
      height: at.bottom,
      caption: caption(now, chosen),
      table: {
        caption: `Cosines with ${words[chosen]}`,
        rows: words,
        columns: tables.map(({ name }) => name),
        values: words.map((_, i) => tables.map(({ cosines }) => cosines[chosen][i])),
      },
    };
  }

  return {
    lead:
      "Tap a noun to see its nearest, then go from table to table. " +
      "(Rings and numbers use all directions, the map only two.)",
    start: { word: Math.max(0, words.indexOf("street")) },
    keep: ["word"],
    chapters: tables.map(({ name }) => name),
    draw,
    pause: () => 3000,
    press(state, [, i]) {
      state.word = Number(i);
    },
  };
});
