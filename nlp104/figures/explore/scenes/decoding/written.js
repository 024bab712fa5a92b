// The source, and all that is written: words, sums, keys and values.
nlp104.share("decoding", ({ range, write, cell, area, note, token, line, decoding }) => {
  const { room, strip, path } = decoding;
  const CACHED = ["k", "v"];
  const QUIET = { anchor: "end", muted: true };
  function source({ slim, sentence, node, head, sourceWidth: w, name }) {
    const words = sentence.source.map((word, i) => {
      const look = node.look[i];
      const x = head + i * w;
      const value = Math.max(0.01, look / 100);
      const text = look < 1 ? "" : `${look}${slim ? "" : "\u00a0%"}`;
      const place = { x: x + 1, y: 0, w: w - 2, h: 24 };
      return [
        token(`s${i}`, place, { word: name(word), size: slim ? 12 : 13 }),
        cell(`a${i}`, { x, y: 26, w, h: 24 }, { value, concept: "a", size: 12, text }),
      ];
    });
    const title = slim ? "looks at, %" : "looks at";
    return [note("looks", 0, slim ? 60 : 38, title, { concept: "a" }), words];
  }

  const rooms = ({ slim, open, many, numBeams, count, now, pill, place, slot }) =>
    range(count - now, now).map((length) =>
      range(many ? numBeams : 1).map((row) => {
        const at = place({ length, row });
        const caches = !many && length < count - 1 && (slim || open || length > now);
        return [
          length > now && room(`${length},${row}`, { ...at, ...pill }),
          caches && CACHED.map((concept, i) => room(`${concept}${length}`, slot(i, at))),
        ];
      }),
    );

  // A word with its sum; in a beam a score, where it has ended.
  function word(one, lives, view) {
    const { width, slim, open, now, last, many, name } = view;
    const { pill, place, link, sum, anchor } = view;
    const { x, y } = place(one);
    const id = `${one.length},${one.row}`;
    const fresh = !open && one.length === now;
    const letters = (pill.w - 3) / 6.1; // that find room
    const full = name(one.word);
    const short = full.length > letters ? `${full.slice(0, letters - 1)}…` : full;
    const chosen = lives && (last || (fresh && !many));
    const look = { word: short, size: 12, bare: !lives, muted: !lives, chosen };
    const pills = token(`h${id}`, { x, y, ...pill }, look);
    if (!one.from) return pills;
    const path = lives ? { concept: "ink", width: 1.75 } : { concept: "line", width: 1.25 };
    const [left, top] = many ? [x + pill.w / 2, y + pill.h + 8] : sum(x, y);
    const total = many ? (one.score ?? one.total) : one.total;
    const number = many
      ? { anchor: "middle", strong: one.ended && lives, muted: !lives }
      : { anchor, strong: fresh };
    return [
      pills,
      line(`l${id}`, link(place(one.from), { x, y }), { ...path, layer: 0 }),
      note(`g${id}`, left, top, write(total), number),
      slim && !many && note(`p${id}`, width - 58, y + 11, write(one.log), QUIET),
    ];
  }

  // In a beam there is only room to say that they are kept.
  function cache(one, { many, sentence, pill, place, slot, digit }) {
    const { x, y } = place(one);
    return CACHED.map((concept, i) => {
      const key = `${concept}${one.length},${one.row}`;
      if (many) {
        const half = pill.w / 2;
        const stripe = { x: x + i * half + 3, y: y + pill.h - 3.5, w: half - 6, h: 4 };
        return area(key, stripe, { concept, radius: 1, layer: 2 });
      }
      const digits = sentence.nodes[one.node].state.slice(12 + 4 * i, 16 + 4 * i);
      return strip(`${key},`, digits, concept, (j) => digit(j, slot(i, { x, y })));
    });
  }

  // What has no heir stands back.
  function beginnings(view) {
    const { open, last, end, lead, done, shown, frame } = view;
    const heirs = last ? [end] : frame.kept.concat(frame.best ?? []);
    const alive = new Set(heirs.flatMap(path));
    const cached = new Set(open ? [lead] : done.flatMap(({ read }) => read));
    return shown.map((one) => [
      word(one, open || alive.has(one), view),
      cached.has(one) && cache(one, view),
    ]);
  }

  function looks({ slim, node, head, sourceWidth, pill, next }) {
    const to = next.x + pill.w / 2;
    return node.look.map((look, i) => {
      const from = head + (i + 0.5) * sourceWidth;
      const path = `M${from} 50C${from} 78 ${to} 66 ${to} ${next.y}`;
      const form = { concept: "a", width: 0.13 * look, opacity: 0.6, layer: 0 };
      return !slim && look > 2 && line(`w${i}`, path, form);
    });
  }

  // A sum has a name as soon as there is one.
  function names({ width, slim, open, many, slotName, sumName }) {
    const title = many && slim ? "below: the sum" : "sum";
    const cached = ["keys", "values"].map((name, i) =>
      note(CACHED[i], ...slotName(i), name, { concept: CACHED[i] }),
    );
    return [
      !many && cached,
      !open && note("sums", ...sumName, title, { anchor: slim ? "end" : "start", muted: true }),
      slim && !open && !many && note("logs", width - 58, sumName[1], "log p", QUIET),
    ];
  }

  const written = (view) => [
    source(view),
    rooms(view),
    beginnings(view),
    view.open &&
      token("h1,0", { ...view.next, ...view.pill }, { word: "?", size: 13, muted: true }),
    looks(view),
    names(view),
  ];

  return { written };
});
