// One sentence, several translations: the groups that BLEU finds, and what it makes of them.
nlp104.scene("bleu", (data, { area, label, write, bleu }) => {
  const { source, reference, translations } = data;
  const { score, layout, columns } = bleu;

  const WORDS = ["words", "pairs", "triples", "fours", "length"];
  const NAMES = 56; // the room that these take

  // Words that are struck out: their numbers, in a state such as "w3w12".
  const struck = (state, { words }) =>
    new Set(
      String(state.out)
        .split("w")
        .filter((text) => text !== "" && words[text])
        .map(Number),
    );

  function result(view) {
    const { hits, shares, brevity, below, width, bottom } = view;
    const x = below ? 0 : view.starts[3] + 4 * view.lane + 30;
    const y = below ? bottom + 24 : 30;
    const found = (row) => `${row.filter(Boolean).length}/${row.length}`;
    const rows = [
      ...shares.map((share, n) => [`p${n + 1}`, `$p_${n + 1}$`, share, found(hits[n])]),
      ["bp", "BP", brevity, `${view.shown.length}/${reference.length}`],
    ];
    const pitch = below ? 26 : 50; // beside the groups a bar stands under its numbers
    const part = x + NAMES + 74;
    const from = below ? part + 10 : x;
    const room = below ? Math.min(190, width - from - 48) : Math.min(240, width - x);
    const end = below ? from + room + 44 : x + room;
    return [
      rows.map(([key, name, value, share], i) => {
        const at = y + i * pitch;
        return [
          label(`${key} word`, x, at, WORDS[i], { size: 13, muted: true }),
          label(`${key} name`, x + NAMES, at, name, { size: 14 }),
          label(`${key} part`, part, at, share, { size: 13, anchor: "end", muted: true }),
          area(
            `${key} bar`,
            { x: from, y: below ? at - 6 : at + 12, w: Math.max(1, room * value), h: 12 },
            { concept: "ink", strength: key === "bp" ? 0.35 : 0.8, radius: 3, layer: 1 },
          ),
          label(`${key} value`, end, at, write(value), { size: 13, anchor: "end" }),
        ];
      }),
      label("score", x, y + 5 * pitch + 16, `BLEU **${write(view.bleu, 1)}**`, { size: 20 }),
    ];
  }

  function caption({ chosen, out, bleu: points, brevity, shares }) {
    const start = out.size
      ? `**${out.size}** of ${chosen.words.length} words struck out. `
      : `**For a reader:** ${chosen.says} `;
    if (!points) {
      const n = shares.findIndex((share) => !share) + 1;
      return `${start}**BLEU: 0.** No group of ${n} is found, and one factor of 0 is enough.`;
    }
    const short = brevity < 1 ? `, after the brevity penalty of **${write(brevity)}**` : "";
    return `${start}**BLEU: ${write(points, 1)}**${short}.`;
  }

  function draw(state, width) {
    const chosen = translations[state.step] ?? translations[0];
    const out = struck(state, chosen);
    const shown = chosen.words.map((_, i) => i).filter((i) => !out.has(i));
    const said = shown.map((i) => chosen.words[i]);
    const measured = score(said, reference);
    const at = layout({ reference, all: translations }, width);
    const view = { reference, chosen, out, shown, width, ...at, ...measured };
    return {
      marks: [columns(view), result(view)],
      height: at.below ? at.bottom + 24 + 6 * 26 + 22 : at.bottom + 26,
      caption: caption(view),
      table: {
        caption: `Groups of the translation that the reference has: ${said.join(" ")}`,
        rows: ["1 word", "2 words", "3 words", "4 words"],
        columns: ["found", "of"],
        values: measured.hits.map((row) => [row.filter(Boolean).length, row.length]),
      },
    };
  }

  return {
    lead:
      `**Source:** ${source}\n` +
      "Filled: the reference has this group, too. Hollow: it does not, or not so often. " +
      "Step through eight translations; tap a word to strike it out.",
    start: { step: data.opens, out: "" },
    chapters: translations.map(({ name }) => name),
    draw,
    pause: () => 3600,
    move(state) {
      state.out = "";
    },
    press(state, [, i]) {
      const chosen = translations[state.step] ?? translations[0];
      const out = struck(state, chosen);
      if (!out.delete(Number(i))) out.add(Number(i));
      state.out = [...out]
        .sort((a, b) => a - b)
        .map((word) => `w${word}`)
        .join("");
    },
  };
});
