// The reference, the translation, and beside it a column of bars for each size of group.
nlp104.share("bleu", ({ area, label, token }) => {
  const PITCH = 25; // of a word
  const TOP = 44;

  function layout({ reference, all }, width) {
    const slim = width < 560;
    const below = width < 640; // the shares
    const beside = slim ? 14 : width < 790 ? 32 : 44;
    const word = slim ? Math.min(92, Math.floor((width - 130) / 2)) : width < 790 ? 100 : 112;
    const lane = slim ? 8 : 12;
    const gap = slim ? 12 : 26;
    const left = 2 * word + beside;
    const rows = Math.max(reference.length, ...all.map(({ words }) => words.length));
    const starts = [0, 1, 2, 3].map((n) => left + n * gap + ((n * (n + 1)) / 2) * lane);
    const bottom = TOP + rows * PITCH;
    return { slim, below, word, lane, starts, bottom, other: word + (slim ? 4 : 16) };
  }

  function words(view, key, list, x, look) {
    const { word, slim } = view;
    return list.map((text, i) =>
      token(
        `${key}${i}`,
        { x, y: TOP + i * PITCH, w: word, h: PITCH - 3 },
        { word: text, size: slim ? 12 : 13, ...look(i) },
      ),
    );
  }

  function bars(view, n) {
    const { starts, lane, slim, hits, shown } = view;
    const rows = hits[n];
    const marks = rows.map((hit, i) =>
      area(
        `g${n},${i}`,
        {
          x: starts[n] + (i % (n + 1)) * lane,
          y: TOP + shown[i] * PITCH + 2,
          w: lane - 3,
          h: (shown[i + n] - shown[i] + 1) * PITCH - 7,
        },
        { concept: "ink", strength: hit ? 0.75 : 0, edge: !hit, radius: 3, layer: 1 },
      ),
    );
    const middle = starts[n] + ((n + 1) * lane) / 2;
    const look = { anchor: "middle", size: slim ? 12 : 13 };
    return [label(`n${n}`, middle, TOP - 14, `${n + 1}`, { ...look, strong: true }), marks];
  }

  function columns(view) {
    const { reference, chosen, out, other, slim } = view;
    const small = { size: slim ? 12 : 13 };
    return [
      label("reference", 0, TOP - 14, "reference", { ...small, muted: true }),
      label("translation", other, TOP - 14, "translation", { ...small, strong: true }),
      label("groups", view.starts[3] + 4 * view.lane, 10, "groups of … words", {
        ...small,
        muted: true,
        anchor: "end",
      }),
      words(view, "r", reference, 0, () => ({ bare: true, muted: true })),
      words(view, "t", chosen.words, other, (i) => ({
        muted: out.has(i),
        dashed: out.has(i),
        act: `word:${i}`,
        at: `w:${i}:0`,
        first: i === 0,
        pressed: out.has(i),
        says: `${chosen.words[i]}: ${out.has(i) ? "struck out" : "in"}`,
      })),
      [0, 1, 2, 3].map((n) => bars(view, n)),
    ];
  }

  return { layout, columns };
});
