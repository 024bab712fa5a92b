// News of the first word on its way to another one, through time or through layers.
nlp104.scene("paths", (data, { range, area, label, token, line }) => {
  const kinds = Object.keys(data.reach), [RNN, , , ATTENTION] = range(4), ALL = 8;
  const sentence = (n) => data.sentences.find((words) => words.length === n) ?? data.sentences[0];
  const pick = (x, low, high) => Math.max(low, Math.min(high, x | 0));
  const some = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const notes = (n) => ["one word after the other", `${n} words at once, 1 to each side`, `${n} words at once, 2 to each side`, `${n} words at once, to every word`];

  function draw(state, W) {
    const slim = W < 560, words = sentence(slim ? 8 : state.n), n = words.length, time = state.step < ALL ? state.step : n - 1, M = [];
    const kind = pick(state.kind, 0, 3), to = state.to < 0 ? n - 1 : pick(state.to, 1, n - 1);
    const reach = (k) => data.reach[kinds[k]] ?? n - 1, steps = (k, word) => Math.ceil(word / reach(k)), heard = (k, t) => Math.min(n - 1, t * reach(k));
    const far = reach(kind), last = steps(kind, n - 1), now = Math.min(time, last), need = steps(kind, to), there = time >= need, one = kind === RNN;
    const unit = (k) => (k === RNN ? "step" : "layer"), size = slim ? 12 : 13;
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size, ...look }));

    // The words, and below them a row for every step.
    const left = slim ? 52 : 54, side = slim ? 0 : 200, cw = (W - left - (slim ? 0 : side + 20)) / n, two = cw < 50;
    const x = (j) => left + (j + 0.5) * cw, top = two ? 70 : 46, high = (slim ? 284 : 346) - top, y = (s) => top + (s * high) / last;
    const w = Math.min(30, cw - 8), h = Math.min(14, high / last - 7), lit = kind === ATTENTION ? "a" : "ink";
    M.push(area("column", { x: x(to) - cw / 2 + 1, y: 0, w: cw - 2, h: top + high + 14 }, { strength: 0.09 }));
    words.forEach((word, j) => {
      const wide = two ? 2 * cw - 4 : cw - 4, place = { x: Math.max(0, Math.min(W - wide, x(j) - wide / 2)), y: two && j % 2 ? 28 : 2, w: wide, h: 26 };
      M.push(token(`w${n},${j}`, place, { word, size: 12, chosen: !j || j === to, bare: two && j && j !== to, ...(j ? { act: `to:${j}`, at: `w:0:${j}`, first: j === to, pressed: j === to, says: `From ${words[0]} to ${word}` } : {}) }));
    });

    // Who sees whom in a step; wires of one row are one line.
    const wires = (s, from, goes) => range(n).flatMap((j) => range(n).filter((i) => Math.abs(i - j) <= far && goes(i, j)).map((i) => `M${x(i).toFixed(1)} ${y(s - 1).toFixed(1)}L${x(j).toFixed(1)} ${y(s).toFixed(1)}`)).join("");
    for (const s of range(last, 1)) {
      put(`l${kind},${s}`, left - (slim ? 7 : 10), y(s), n < 16 || last < 9 ? `${unit(kind)} ${s}` : `${s}`, { size: 12, anchor: "end", muted: true });
      if (s > now) continue;
      if (one) M.push(line(`in${s}`, `M${x(s)} ${top}V${y(s)}`, { layer: 0 }));
      else M.push(line(`all${kind},${s}`, wires(s, 0, () => true), { layer: 0, width: 0.75 }));
      const path = one ? `M${x(s - 1)} ${y(s - 1)}L${x(s)} ${y(s)}` : wires(s, 0, (i, j) => i <= heard(kind, s - 1) && j <= heard(kind, s) && j >= i);
      M.push(line(`lit${kind},${s}`, path, { concept: kind === ATTENTION ? "a" : "edge", layer: 0, width: one ? 2 : 1.25 }));
    }
    for (const s of range(last + 1)) for (const j of range(n)) {
      if (one && s && j !== s) continue;
      const done = s <= now, has = done && j <= heard(kind, s);
      M.push(area(`n${kind},${s},${j}`, { x: x(j) - w / 2, y: y(s) - h / 2, w, h }, { concept: has ? (s ? lit : "ink") : done ? "r" : "edge", strength: has ? 1 : done ? 0.22 : 0, edge: !done, radius: h / 2, layer: 1 }));
    }
    const way = range(Math.min(now, need) + 1).map((s) => [x(Math.min(to, s * far)), y(s)]);
    if (there) M.push(line(`way${kind}`, `M${way.join("L")}`, { concept: lit, width: 4, layer: 1 }));
    const [px, py] = way.at(-1);
    M.push(area("news", { x: px - w / 2 - 4, y: py - h / 2 - 4, w: w + 8, h: h + 8 }, { outline: true, concept: lit, radius: h / 2 + 4, layer: 2 }));

    // All kinds at the same time.
    const xL = slim ? 0 : W - side, pitch = slim ? 34 : 84, yL = slim ? top + high + 30 : 2, pill = 138, track = slim ? pill + 10 : xL, room = (slim ? W - 64 : W) - track, slot = room / n;
    kinds.forEach((name, k) => {
      const yK = yL + k * pitch, arrived = time >= steps(k, to), yT = yK + (slim ? 9 : 38), mine = k === ATTENTION ? "a" : "ink";
      M.push(token(`k${k}`, { x: xL, y: yK, w: pill, h: 28 }, { word: name, size: 12, chosen: k === kind, act: `kind:${k}`, at: `k:${k}:0`, first: k === kind, pressed: k === kind, says: `Follow ${name}` }));
      put(`c${k}`, W, yK + 14, arrived ? some(steps(k, to), unit(k)) : time ? `${time} so far` : "", { anchor: "end", strong: arrived, muted: !arrived });
      range(n).forEach((j) => M.push(area(`t${n},${k},${j}`, { x: track + j * slot + 1, y: yT, w: slot - 2, h: 10 }, { concept: j <= heard(k, time) ? mine : "r", strength: j <= heard(k, time) ? 1 : 0.16, radius: 3, layer: 1 })));
      M.push(area(`to${k}`, { x: track + to * slot - 1, y: yT - 3, w: slot + 2, h: 16 }, { outline: true, concept: "edge", radius: 5, layer: 2 }));
      if (!slim) put(`o${k}`, xL, yT + 23, notes(n)[k], { size: 12, muted: true });
    });

    // In words.
    const [source, target] = [words[0], words[to]].map((word) => `**${word}**`), front = `**${words[heard(kind, time)]}**`, waits = n - 1 - Math.min(time, n - 1);
    const waiting = waits ? `**${some(waits, "word")}** still wait${waits === 1 ? "s" : ""}` : "no word waits any more";
    let caption = `${target} ${to === n - 1 ? "belongs to" : "comes after"} ${source}, **${some(to, "word")}** before it. How many steps are there until ${target} has heard of ${source}?`;
    if (state.step === ALL) caption = `From ${source} to ${target}: **${some(steps(0, to), "step")}** one after the other, **${steps(1, to)}** or **${steps(2, to)}** layers of convolution, **1** of attention. Twice as far takes about twice as many, but attention still **1**.`;
    else if (time > need && kind !== RNN) caption = `${target} was reached in ${unit(kind)} **${need}**. Meanwhile the recurrent network has come to **${words[time]}**, and ${waiting}.`;
    else if (time > need) caption = `${target} was reached in step **${need}**. Now the state of ${front} is computed, and ${waiting}.`;
    else if (time && one) caption = there ? `Step **${time}** reaches ${target}. No step could begin before the one before it was done; ${waiting}.` : `Step **${time}**: the state of ${front} is made of the one before. That is all that can be computed: ${waiting}.`;
    else if (time && kind === ATTENTION) caption = `One layer: every word looks at every word, all at once. ${target} hears of ${source} directly, whatever lies between.`;
    else if (time) caption = there ? `Layer **${time}** reaches ${target}. The words of a layer need not wait for each other, but the layers do.` : `Layer **${time}**: every word sees ${far} to each side, all ${n} at once. News of ${source} has come to ${front}.`;
    const values = kinds.map((_, k) => range(n).map((j) => (steps(k, j) <= time ? steps(k, j) : null)));
    return { marks: M, height: slim ? yL + 4 * pitch : top + high + 16, caption, table: { caption: `Steps from ${words[0]} to each word; hidden: not reached yet`, rows: kinds, columns: words, values } };
  }

  return {
    lead: "How many steps lie between two words? Choose a layer, tap the word to be reached, and follow the news of the first.",
    start: { kind: 0, to: -1, n: 8 },
    keep: ["kind", "to", "n"],
    chapters: [...range(ALL).map(String), "all"],
    options: [{ name: "n", label: "Words", values: [[8, "8"], [16, "16"]], when: (_, width) => width >= 560 }],
    draw,
    pause: () => 1700,
    option: (state) => (state.to = -1),
    press: (state, [what, i]) => (state[what] = Number(i)),
  };
});
