// A trained translator: where each of its heads looks, and what it writes next without some of them.
nlp104.scene("trained_heads", (data, { range, sum, area, label, token, line, cell }) => {
  const { sentences, layers, heads } = data, KINDS = ["encoder", "decoder", "cross"];
  const kind = (at) => KINDS[Math.floor(at / layers)], layer = (at) => at % layers;
  const percent = (x) => (x < 0.5 ? "< 1\u00a0%" : `${Math.round(x)}\u00a0%`); // of numbers that were rounded, 0 is no zero
  const tops = (row) => range(row.length).filter((k) => row[k] === Math.max(...row)); // rounded, several may be alike
  const list = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

  // What is shown: what the step says, and what the reader has chosen in its place.
  function view(state, sentence = state.sentence) {
    const S = sentences[sentence], shown = { ...S.stations[state.step] };
    if (state.at in S.maps) Object.assign(shown, { at: state.at, off: 0, row: state.at < layers ? S.follow : S.step });
    for (const [key, count] of [["head", heads], ["off", 2 ** heads]]) if (range(count).includes(state[key])) shown[key] = state[key];
    const name = kind(shown.at), rows = { encoder: S.source, decoder: S.read, cross: S.written }[name], columns = name === "decoder" ? S.read : S.source;
    if (state.row in rows) shown.row = state.row;
    return { ...shown, S, rows, columns, maps: S.maps[shown.at], writes: name === "cross", future: (i, k) => name === "decoder" && k > i };
  }

  function draw(state, W) {
    const { S, at, head, row, off, rows, columns, maps, writes, future } = view(state), slim = W < 560, size = slim ? 12 : 13, M = [];
    const map = maps[head], best = tops(map[row]), without = range(heads).filter((h) => (off >> h) & 1), where = `${kind(at)} ${layer(at) + 1}`;
    // What can be pressed lies on top: a mark of its own.
    const press = (act, place, i, k, pressed, says, first = pressed) => M.push(area(`press ${act}`, place, { concept: "ink", strength: 0, layer: 2, act, at: `${act.split(":")[0]}:${i}:${k}`, pressed, first, says }));

    // The attentions, each in its place in the model: the decoder's own below, the one to the encoder above it.
    const bh = slim ? 24 : 28, gap = slim ? 4 : 7, bw = W < 340 ? 48 : slim ? 54 : 84, between = slim ? 12 : 26, yM = slim ? 4 : 20;
    const place = (a) => {
      const left = kind(a) === "encoder", level = left ? layer(a) : 2 * layer(a) + writer(a);
      return { x: left ? 0 : bw + between, y: yM + (2 * layers - 1 - level) * (bh + gap), level, left };
    };
    const writer = (a) => (kind(a) === "cross" ? 1 : 0);
    range(3 * layers).forEach((a) => {
      const { x, y, level, left } = place(a), word = `${slim ? kind(a).slice(0, kind(a) === "cross" ? 5 : 3) : kind(a)} ${layer(a) + 1}`;
      M.push(token(`at${a}`, { x, y, w: bw, h: bh }, { word, size: 12, chosen: a === at, act: `at:${a}`, at: `at:${-level}:${left ? 0 : 1}`, pressed: a === at, first: a === at, says: `${word}: ${kind(a)}, layer ${layer(a) + 1}` }));
      if (level) M.push(line(`up${a}`, `M${x + bw / 2} ${y + bh}v${gap}`, { concept: "edge", layer: 0 }));
      if (writer(a)) M.push(line(`in${a}`, `M${bw} ${place(layers - 1).y + bh / 2}h${between / 2}V${y + bh / 2}H${x}`, { concept: "edge", layer: 0 }));
    });

    // Its heads, small, each with a switch.
    const free = slim ? 6 : 14, xT = 2 * bw + between + (slim ? 14 : 34), tw = (W - 2 - xT - (heads - 1) * free) / heads, th = Math.min(tw, 104), yT = 20, yS = yT + th + 6;
    range(heads).forEach((h) => {
      const x = xT + h * (tw + free), w = tw / columns.length, high = th / rows.length, dark = without.includes(h), xs = x + tw / 2 - 17;
      M.push(label(`h${h}`, x + tw / 2, 8, slim ? `${h + 1}` : `head ${h + 1}`, { size, anchor: "middle", strong: h === head, muted: h !== head }));
      maps[h].forEach((weights, i) => weights.forEach((weight, k) => {
        if (weight > 3 && !future(i, k)) M.push(area(`s${h},${i},${k}`, { x: x + k * w, y: yT + i * high, w: Math.max(1, w - 0.5), h: Math.max(1, high - 0.5) }, { concept: "a", strength: (dark ? 0.4 : 1) * (0.1 + 0.009 * weight), radius: 0.5 }));
      }));
      if (dark) M.push(area(`dark${h}`, { x, y: yT, w: tw, h: th }, { hatch: true, layer: 1 }));
      M.push(area(`frame${h}`, { x: x - 2, y: yT - 2, w: tw + 4, h: th + 4 }, { outline: true, concept: h === head ? "ink" : "line", layer: 1 }));
      M.push(area(`track${h}`, { x: xs, y: yS + 3, w: 34, h: 18 }, { outline: true, concept: dark ? "edge" : "ink", radius: 9 }), area(`knob${h}`, { x: xs + (dark ? 4 : 18), y: yS + 6, w: 12, h: 12 }, { concept: dark ? "edge" : "ink", layer: 1 }));
      press(`head:${h}`, { x: x - 2, y: yT - 20, w: tw + 4, h: th + 22 }, 0, h, h === head, `head ${h + 1}`);
      press(`off:${h}`, { x: x - free / 2, y: yS - 2, w: tw + free, h: 29 }, 0, h, !dark, `head ${h + 1} is ${dark ? "off" : "on"}`, !h);
    });

    // The chosen head, large: a row for each word that asks, a column for each that is looked at.
    const pw = W < 340 ? 54 : 64, x = pw + 4, wide = slim ? W : W - 256, yH = Math.max(yS + 26, yM + 2 * layers * (bh + gap)) + 54, tall = slim ? 238 : 308;
    const cw = Math.min(slim ? 34 : 46, (wide - x - (slim ? 14 : 0)) / columns.length), rh = Math.min(slim ? 30 : 40, tall / rows.length), across = columns.length * cw, silent = without.includes(head);
    M.push(label("key", pw, yH - 26, "[k|key] →", { size: 12, anchor: "end" }), label("query", pw, yH - 9, "[q|query] ↓", { size: 12, anchor: "end" }));
    columns.forEach((word, k) => M.push(label(`c${k}`, x + (k + 0.5) * cw + 1, yH - 6, word, { size: 12, slant: -60, strong: best.includes(k), muted: !best.includes(k) })));
    rows.forEach((word, i) => {
      const followed = i === row, y = yH + i * rh;
      M.push(label(`r${i}`, pw - 2, y + rh / 2, word, { size: 12, anchor: "end", strong: followed }));
      press(`row:${i}`, { x: 0, y, w: pw, h: rh }, i, -1, followed, `follow ${word}`);
      map[i].forEach((weight, k) => M.push(cell(`w${i},${k}`, { x: x + k * cw, y, w: cw, h: rh, value: Math.max(weight, 0.01) }, {
        concept: "a", max: 90, size: 12, opacity: silent && !followed ? 0.45 : 1, hidden: future(i, k), text: followed && weight && !future(i, k) ? `${weight}` : "",
        act: `row:${i}`, at: `row:${i}:${k}`, pressed: followed, says: `${word} looks at ${columns[k]}: ${future(i, k) ? "hidden" : percent(weight)}`,
      })));
    });
    if (silent) rows.forEach((_, i) => i !== row && M.push(area(`silent${i}`, { x, y: yH + i * rh, w: across, h: rh }, { hatch: true, radius: 0, layer: 0 })));
    M.push(area("row", { x: x - 2, y: yH + row * rh - 1, w: across + 4, h: rh + 2 }, { outline: true, concept: "ink", layer: 2 }));

    // The row in numbers, and the next word.
    const xR = slim ? 0 : wide + 22, yR = slim ? yH + tall + 16 : yH - 42, each = slim ? (W - 14) / 2 : W - xR, most = slim ? 3 : 5, xN = slim ? each + 14 : xR, yN = slim ? yR : yR + 60 + 26 * most, pill = W < 340 ? 52 : slim ? 58 : 72;
    const bar = (key, x, y, word, share, look) => {
      const from = x + pill + 6, room = each - pill - 6 - look.room;
      M.push(token(`p${key}`, { x, y, w: pill, h: 22 }, { word, size: 12, bare: look.bare }), label(`t${key}`, x + each, y + 11, look.text ?? percent(share), { size, anchor: "end", strong: look.strong, concept: look.concept === "a" ? "a" : undefined }));
      if (room < 24) return;
      M.push(area(`g${key}`, { x: from, y: y + 5, w: room, h: 12 }, { strength: 0.12, radius: 2 }));
      M.push(area(`b${key}`, { x: from, y: y + 5, w: Math.max(1, (room * share) / 100), h: 12 }, { concept: look.concept, strength: 0.9, radius: 2, layer: 1 }));
      if (look.before !== undefined) M.push(area(`k${key}`, { x: from + (room * look.before) / 100 - 1, y: y + 1, w: 2.5, h: 20 }, { concept: "ink", radius: 1, layer: 2 }));
    };
    M.push(label("looks", xR, yR, `${writes ? `writing **${rows[row]}**,` : `**${rows[row]}**`} looks at`, { size, muted: true }));
    range(map[row].length).sort((a, b) => map[row][b] - map[row][a]).slice(0, most).forEach((k, n) => bar(`l${n}`, xR, yR + 14 + 26 * n, columns[k], map[row][k], { concept: "a", strong: best.includes(k), room: 52 }));
    const [before, after] = [0, off].map((set) => {
      const two = S.next[at][set].map((x) => x / 10);
      return [...two, Math.max(0, 100 - sum(two))];
    });
    M.push(label("next", xN, yN, S.step ? `next word after **${S.written[S.step - 1]}**` : "first word", { size, muted: true }));
    [...S.words, "other"].forEach((word, n) => bar(`n${n}`, xN, yN + 14 + 26 * n, word, after[n], {
      concept: "r", strong: n < 2 && after[n] > after[1 - n], bare: n > 1, room: slim ? 74 : 88, before: off ? before[n] : undefined, text: off ? `${percent(before[n]).slice(0, -2)} → ${percent(after[n])}` : undefined,
    }));

    // In words: what is measured, and no more.
    const strong = (word) => `**${word}**`, looks = (names, weights, found = tops(weights)) => `${list(found.map((k) => strong(names[k])))}, [a|**${percent(weights[found[0]])}**]${found.length > 1 ? " each" : ""}`;
    const twin = sentences.findIndex((T) => T !== S && T.source.length === S.source.length && T.written.length === S.written.length);
    let caption = `Head ${head + 1} of ${where}: ${writes ? `while ${strong(rows[row])} is written, it` : strong(rows[row])} looks most at ${looks(columns, map[row])}.`;
    if (off) {
      const [word, rival] = S.words.map(strong), [[a], [b, c]] = [before, after].map((p) => p.map((x) => strong(percent(x)))), gone = `Without head${without.length > 1 ? "s" : ""} ${list(without.map((h) => h + 1))} of ${where}`;
      caption = after[0] < after[1] ? `${gone}, ${word} falls from ${a} to ${b}. Now ${rival} is the likeliest: ${c}.` : `${gone}, ${word} stays the likeliest: ${b}, and ${a} with all heads.`;
    } else if (twin >= 0) {
      const other = view({ ...state, at, head, row }, twin), there = other.maps[head][row], same = other.rows[row] === rows[row];
      caption += ` With “${other.S.label}”${same ? "" : `, ${writes ? "writing " : ""}${strong(other.rows[row])}`}: ${looks(other.columns, there)}.`;
    }
    const values = map.map((weights, i) => columns.map((_, k) => (future(i, k) ? null : weights[k] / 100)));
    return { marks: M, height: slim ? yR + 92 : Math.max(yH + tall + 2, yN + 92), caption, table: { caption: `Weights of head ${head + 1} of ${where}`, rows, columns, values } };
  }

  return {
    lead: "Choose a head, follow a word, switch heads off. A map says where a head looks, not why.",
    start: { step: data.opens, sentence: 0, at: -1, head: -1, row: -1, off: -1 },
    keep: ["sentence"],
    chapters: ["encoder", "encoder", "decoder", "cross", "one off", "two off"],
    options: [{ name: "sentence", label: "Sentence", values: sentences.map((S, i) => [i, S.label]) }].filter(({ values }) => values[1]),
    draw,
    pause: () => 4500,
    move: (state) => Object.assign(state, { at: -1, head: -1, row: -1, off: -1 }),
    press(state, [what, value]) {
      const { at, head, row, off } = view(state), chosen = Number(value);
      if (what === "at") Object.assign(state, { at: chosen, head, off: 0, row: kind(at) === kind(chosen) ? row : -1 });
      else if (what === "off") state.off = off ^ (1 << chosen);
      else state[what] = chosen;
    },
  };
});
