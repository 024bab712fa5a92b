// What is shown: what the step says, or what the reader chose in its place. And that in words.
nlp104.share("trained_heads", ({ range, sum }) => {
  const KINDS = ["encoder", "decoder", "cross"];
  // The numbers were rounded, so 0 is no zero, and several may be the largest.
  const percent = (x) => (x < 0.5 ? "< 1\u00a0%" : `${Math.round(x)}\u00a0%`);
  const tops = (row) => range(row.length).filter((k) => row[k] === Math.max(...row));
  const list = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");
  const strong = (word) => `**${word}**`;

  // Which attention, head and row are shown, and which heads are off (a bit for each).
  function choices(state, { stations, maps, follow, step }, { layers, heads }) {
    const shown = { ...stations[state.step] };
    if (state.at in maps) {
      const row = state.at < layers ? follow : step;
      Object.assign(shown, { at: state.at, off: 0, row });
    }
    if (range(heads).includes(state.head)) shown.head = state.head;
    if (range(2 ** heads).includes(state.off)) shown.off = state.off;
    return shown;
  }

  // Percents of both words and of all others.
  function shares(two) {
    const percents = two.map((x) => x / 10);
    return [...percents, Math.max(0, 100 - sum(percents))];
  }

  function reading(data, state, number = state.sentence) {
    const { sentences, layers, heads } = data;
    const sentence = sentences[number];
    const shown = choices(state, sentence, data);
    const kindOf = (at) => KINDS[Math.floor(at / layers)];
    const layerOf = (at) => at % layers;
    const kind = kindOf(shown.at);
    const { source, read, written } = sentence;
    const rows = { encoder: source, decoder: read, cross: written }[kind];
    if (state.row in rows) shown.row = state.row;
    const maps = sentence.maps[shown.at];
    const map = maps[shown.head];
    const isOff = (head) => (shown.off >> head) % 2 === 1;
    const next = sentence.next[shown.at];
    return {
      ...shown,
      layers,
      heads,
      kindOf,
      layerOf,
      sentence,
      where: `${kind} ${layerOf(shown.at) + 1}`,
      rows,
      columns: kind === "decoder" ? read : source,
      maps,
      map,
      best: tops(map[shown.row]),
      isOff,
      silent: isOff(shown.head),
      writes: kind === "cross",
      future: (i, k) => kind === "decoder" && k > i,
      before: shares(next[0]),
      after: shares(next[shown.off]),
    };
  }

  // What is measured, and no more.
  function looks({ columns, map, row, best }) {
    const share = `[a|**${percent(map[row][best[0]])}**]`;
    const names = best.map((k) => strong(columns[k]));
    return `${list(names)}, ${share}${best.length > 1 ? " each" : ""}`;
  }
  function lookingCaption(view) {
    const word = strong(view.rows[view.row]);
    const who = view.writes ? `while ${word} is written, it` : word;
    return `Head ${view.head + 1} of ${view.where}: ${who} looks most at ${looks(view)}.`;
  }
  function lesionCaption({ sentence, heads, isOff, where, before, after }) {
    const without = range(heads).filter(isOff);
    const names = list(without.map((head) => head + 1));
    const gone = `Without head${without.length > 1 ? "s" : ""} ${names} of ${where}`;
    const [word, rival] = sentence.words.map(strong);
    const [was] = before.map((x) => strong(percent(x)));
    const [now, other] = after.map((x) => strong(percent(x)));
    return after[0] < after[1]
      ? `${gone}, ${word} falls from ${was} to ${now}. Now ${rival} is the likeliest: ${other}.`
      : `${gone}, ${word} stays the likeliest: ${now}, and ${was} with all heads.`;
  }

  // Sentences that differ in single words: the same place means the same.
  const twins = (one, other) =>
    one !== other &&
    one.source.length === other.source.length &&
    one.written.length === other.written.length;

  function twinCaption(data, state, view) {
    const twin = data.sentences.findIndex((other) => twins(view.sentence, other));
    if (twin < 0) return "";
    const { at, head, row } = view;
    const other = reading(data, { ...state, at, head, row }, twin);
    const word = other.rows[row];
    const who = `, ${view.writes ? "writing " : ""}${strong(word)}`;
    const change = word === view.rows[row] ? "" : who;
    return ` With “${other.sentence.label}”${change}: ${looks(other)}.`;
  }

  function caption(data, state, view) {
    if (view.off) return lesionCaption(view);
    return lookingCaption(view) + twinCaption(data, state, view);
  }
  return { percent, reading, twins, caption };
});
