// One step: last vector, logits, softmax, logarithms, choice; the dice, the cache.
nlp104.share("decoding", ({ sum, write, exact, area, note, token, wire, line, step, decoding }) => {
  const { pick, room, strip, percent } = decoding;
  const ROW = 25;
  // Of the room that words will take, the candidates get some.
  const high = ({ spare, frame }) => Math.min(44, ROW + spare / frame.all.length);

  function vector({ data, width, slim, phase, node }, y) {
    const digits = (place) => strip("x", node.state.slice(0, 12), "r", place);
    const title = note("vector", 0, y + 22, `last vector, 12 of ${data.width}`, { muted: true });
    const logits = `× W: ${exact(data.vocabulary)} logits`;
    if (!slim) {
      const lit = phase > 0;
      const look = { source: logits, size: 12, lit, concept: "r" };
      const path = `M72 ${y + 58}v10M146 ${y + 83}h14`;
      return [
        title,
        digits((i) => ({ x: 12 * i, y: y + 34, w: 12, h: 22 })),
        step("W", { x: 0, y: y + 70, w: 144, h: 26 }, look),
        line("toW", path, { concept: lit ? "ink" : "line", layer: 0 }),
      ];
    }
    if (phase)
      return [
        note("vector", width - 126, y, "vector", { anchor: "end", muted: true }),
        digits((i) => ({ x: width - 120 + 10 * i, y: y - 9, w: 10, h: 18 })),
      ];
    // It has the room of all that is not yet known.
    const ahead = ["softmax: probabilities", logits].map((source, i) => {
      const place = { x: width / 2 - 80, y: y + 130 - 46 * i, w: 160, h: 28 };
      const path = `M${width / 2} ${place.y - 16}v14`;
      return [step(`then${i}`, place, { source, size: 12 }), line(`to${i}`, path, { layer: 0 })];
    });
    const w = width / 12;
    return [title, digits((i) => ({ x: (i * width) / 12, y: y + 36, w, h: 30 })), ahead];
  }

  // Where columns end. Where beginnings compete, each candidate stands behind its own.
  function tableOf({ width, slim, phase, pool }) {
    const long = slim ? 66 : 86;
    const edge = slim ? 0 : 166;
    const left = edge + (pool ? long + 4 : 0);
    const right = left + long;
    const logit = right + (slim ? 42 : 54);
    const columns = pool
      ? [
          ["log p", "log", right + 44],
          ["sum", "total", right + 96],
        ]
      : [
          ["logit", "logit", logit],
          ["softmax", "p", width - 62],
          ["log p", "log", width],
        ];
    const bar = pool
      ? { from: right + 108, to: width - (slim ? 0 : 96) }
      : { from: logit + 10, to: width - 114 };
    return { long, edge, left, columns, known: [0, 1, 3, 3][phase], bar };
  }

  // From the chosen word to its place above.
  function wayUp({ bottom, pill, next }, x, y) {
    const top = bottom - 14;
    const end = next.x + pill.w / 2;
    const points = [
      [x, y],
      [x - 7, y],
      [x - 7, top],
      [end, top],
      [end, next.y + 46],
    ];
    return line("choice", wire(points), { concept: "ink", width: 1.5, layer: 0 });
  }

  // Greedy can be told to begin with another word.
  const press = ({ open, name, width, pitch }, { word, chosen, i, y, left }) => ({
    act: `first:${i}`,
    at: `first:${i}:0`,
    first: chosen || (open && !i),
    pressed: Boolean(chosen),
    says: `Begin with ${name(word)}`,
    hit: { x: left, y: y + 11 - pitch / 2, w: width - left, h: pitch }, // the row, for a finger
  });

  // The best of those that compete fills its bar.
  function bar({ frame, pool }, { bar: { from, to } }, { total, p, chosen, cut, i, y }) {
    const share = pool ? Math.exp(total) / Math.exp(frame.all[0].total) : p;
    const place = { x: from, y: y + 5, w: to - from, h: 12 };
    const look = { strength: chosen ? 1 : 0.5, radius: 2, layer: 1 };
    if (cut) return area(`t${i}`, place, { hatch: true, radius: 2 });
    return [
      area(`t${i}`, place, { strength: 0.12, radius: 2 }),
      area(`b${i}`, { ...place, w: Math.max(1, place.w * share) }, look),
    ];
  }

  function fate({ kept, ended, score }) {
    if (!kept) return "dropped";
    return ended ? `ends: ${write(score)}` : "kept";
  }

  function row(candidate, i, view, table, y) {
    const { state, width, slim, phase, open, now, last, dice, pool, name } = view;
    const { long, edge, left, columns, known } = table;
    if (!phase) return !slim && room(`r${i}`, { x: left, y, w: width - left, h: 22 });
    const chosen = !open && candidate.kept;
    const cut = dice && !candidate.p;
    const one = { ...candidate, chosen, cut, i, y, left };
    const place = { y, w: long, h: 22 };
    const before = { word: name(one.from.word), size: 12, bare: true, muted: true };
    const own = { word: name(one.word), size: 12, chosen, muted: cut };
    const free = state.mode === "greedy" && now === 1 && press(view, one);
    const look = { anchor: "end", muted: !chosen, strong: chosen };
    const share = cut ? "cut" : percent(one.p);
    const numbers = columns.slice(0, known).map(([, field, x], column) => {
      const text = field === "p" ? share : write(one[field]);
      return note(`${"zqr"[column]}${i}`, x, y + 11, text, look);
    });
    return [
      pool && token(`f${i}`, { x: edge, ...place }, before),
      chosen && !pool && !slim && !last && wayUp(view, left, y + 11),
      token(`c${i}`, { x: left, ...place }, { ...own, ...free }),
      numbers,
      phase > 1 && bar(view, table, one),
      pool && !slim && note(`e${i}`, width, y + 11, fate(one), look),
    ];
  }

  // The shares end to end, from 0 to 1, and where the dice fall.
  function throwDice({ data, state, width, open, phase, now, frame, name }, y) {
    const words = frame.all
      .slice(0, 5)
      .map(({ p, word, kept }, i) => [i, p, name(word), kept && !open ? 0.9 : 0.35]);
    const rest = 1 - sum(words.map(([, p]) => p));
    if (rest > 0.001) words.push(["rest", rest, "others", 0.12]);
    let x = 0;
    const shares = words.map(([key, p, text, strength]) => {
      const look = { anchor: "middle", muted: strength < 0.9 };
      const title = note(`n${key}`, (x + p / 2) * width, y + 4, text, look);
      const place = { x: x * width, y: y + 14, w: Math.max(0.5, p * width - 1.5), h: 14 };
      x += p;
      return [
        p * width > 7 * text.length && title,
        area(`d${key}`, place, { strength, radius: 2 }),
      ];
    });
    const path = `M${width * pick(data.dice, state.draw)[now - 1]} ${y + 9}v24`;
    return [
      phase > 1 && shares,
      !open && line("die", path, { concept: "ink", width: 3, layer: 2 }),
    ];
  }

  // What the words that are not shown have together; the dice show it themselves.
  function others({ data, phase, frame, dice, pool }) {
    const rest = 1 - sum(frame.all.map(({ p }) => p));
    const count = exact(data.vocabulary - frame.all.length);
    return phase > 1 && !dice && !pool ? `${count} others: together ${percent(rest)}` : "";
  }

  // Without a cache all positions are computed again for each word: from the second on it shows.
  function cost(view, y) {
    const { frames, now, shown, frame, name } = view;
    const read = frames.slice(0, now).map((one) => one.read.length);
    const again = sum(read.map((count, i) => count * (i + 1)));
    const saved = `positions computed: **${sum(read)}** with a cache, ${again} without`;
    const [key, text] = now > 1 ? ["cache", saved] : ["others", others(view)];
    const dotted = [...shown, ...frame.all].some(({ word }) => name(word)[0] === "·");
    const legend = "· in front of a piece: it goes on with a word";
    return [
      text && note(key, 0, y + 8, text, { muted: true }),
      dotted && note("dot", 0, y + 25, legend, { muted: true }),
    ];
  }

  function choice(view) {
    const { bottom: top, open, now, phase, frame, dice, pool, name } = view;
    const table = tableOf(view);
    const { columns, known } = table;
    const heads = columns.slice(0, known).map(([title, , x], i) => {
      const strong = !pool && [1, 2, 2][i] === phase;
      return note(`head${i}`, x, top + 22, title, { anchor: "end", strong, muted: true });
    });
    const title = open ? "which word is first?" : `word ${now}`;
    const pitch = high(view);
    const y = top + view.spare + 42 + ROW * frame.all.length;
    const end = y + (dice ? 38 : 0);
    return {
      marks: [
        note("step", 0, top, title, { strong: true, size: 13 }),
        vector(view, top),
        heads,
        frame.all.map((one, i) => row(one, i, { ...view, pitch }, table, top + 34 + pitch * i)),
        dice && throwDice(view, y),
        cost(view, end),
      ],
      height: end + 36,
      table: {
        caption: "Candidates",
        rows: frame.all.map(({ word }) => name(word)),
        columns: columns.map(([title, field]) => (field === "p" ? "p" : title)),
        values: frame.all.map((one) =>
          columns.map(([, field], i) => (i < known ? one[field] : null)),
        ),
      },
    };
  }

  return { choice };
});
