// Order and attention: words to swap, a position as clocks, and two positions k apart.
nlp104.scene("positions", (data, { sum, range, multiply, dot, softmax, most, write, area, label, token, line, matrix }) => {
  const { words, vectors, orders, reach } = data, bits = range(6), first = orders[words.join(" ")], TURN = 2 * Math.PI;
  const code = (p, hands) => hands.flatMap((speed) => [Math.sin(p * speed), Math.cos(p * speed)]);
  const binary = (p) => bits.map((bit) => (p >> bit) & 1);
  const strong = (x) => `**${write(x)}**`, turned = (angle) => (angle < TURN ? `${write((angle * 360) / TURN, 1)}°` : `${write(angle / TURN, 1)} turns`);
  const ordered = ({ order }) => orders[order] ?? first, clock = ({ view }) => view !== "swap";
  let M;
  const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size: 12, anchor: "middle", ...look }));

  // Self-attention: weights, and the output at each place.
  function attend(order, places) {
    const x = order.map((word, place) => vectors[word].map((value, j) => value + places[place][j]));
    const [queries, keys, values] = data.kernels.map((kernel) => multiply(x, kernel));
    const weights = queries.map((query) => softmax(keys.map((key) => dot(query, key) / Math.sqrt(key.length))));
    return [weights, multiply(weights, values)];
  }

  function swap({ step: p, on, pick, ...state }, W) {
    const order = ordered(state), names = order.map((word) => words[word]), moved = order !== first, places = first.map((place) => code(p + place, data.speeds).map((x) => x * on));
    const [weights, outputs] = attend(order, places), [, before] = attend(first, places), apart = outputs.map((row, place) => most(row.map((x, j) => x - before[order[place]][j])));
    const cw = W / 3, w = Math.min(60, cw / 2 - 12), max = most([...vectors, ...before]);
    order.forEach((word, place) => {
      const x = (place + 0.5) * cw, two = x + 6, one = (pair) => x - (pair ? w + 6 : w / 2), chosen = word === pick;
      const column = (key, values, x, y, look) => M.push(matrix(key, values.map((value) => [value]), { x, y, w, h: 24, max, digits: 2, size: 12, ...look }));
      M.push(token(`word${word}`, { x: x - 40, y: 0, w: 80, h: 40 }, { word: words[word], chosen, act: `word:${word}`, at: `w:0:${place}`, first: !place, pressed: chosen, says: `Swap ${words[word]}` }));
      put(`place${place}`, x + on * w / 3, 51, `position ${p + place}`, on ? { concept: "p" } : { muted: true });
      column(`x${word}`, vectors[word], one(on), 62);
      if (on) column(`p${place}`, places[place], two, 62, { concept: "p" }), put(`plus${place}`, x, 110, "+");
      column(`o${word}`, outputs[place], one(moved), 262, { concept: "v" });
      put(`now${word}`, one(moved) + w / 2, 370, "output");
      if (moved) column(`b${word}`, before[word], two, 262, { concept: "v", faint: true }), put(`was${word}`, two + w / 2, 370, "before", { muted: true }), put(`d${word}`, x, 394, `differ by ${strong(apart[place])}`, { size: 13 });
      weights[place].forEach((weight, from) => {
        const far = (place - from) * cw;
        M.push(line(`a${order},${place},${from}`, `M${x - far} 164c0 44 ${far} 48 ${far} 92`, { concept: "a", width: 0.4 + 9 * weight }));
      });
    });
    put("a", 10, 210, "attention", { concept: "a", slant: -90 });
    const said = `“${names.join(" ")}”`;
    let caption = `${names.map((name, place) => `**${name}** at ${p + place}`).join(", ")}: ${on ? "the [p|code of its position] is added to each word" : "attention is not told"}. Tap two words to swap them: whose output will change?`;
    if (order.includes(pick)) caption = `**${words[pick]}** is chosen. Tap the word to swap it with.`;
    else if (moved) caption = `${said}: ${on ? `the words moved, the [p|positions] stayed, and every output has changed, by at least ${strong(Math.min(...apart))}. Order is back` : `every output moved along with its word, and none has changed. Largest difference: ${strong(Math.max(...apart))}. Now switch positions on`}.`;
    return { height: 404, caption, table: { caption: `Outputs of ${said}`, rows: names, columns: ["1", "2", "3", "4", "difference"], values: outputs.map((row, place) => [...row, apart[place]]) } };
  }

  // A clock for each pair of columns. The sine is how far right its hand points, the cosine how far up.
  function clocks({ step: p, d, base, view, ...state }, W) {
    const n = d / 2, hands = range(n).map((i) => base ** (-i / n)), shift = view === "shift", k = Math.max(0, Math.min(reach, state.k | 0)), start = shift ? p : 0, end = shift ? p + k : p;
    const slim = W < 560, left = 30, wide = W - left - (slim || shift ? 0 : 190), w = wide / d, r = Math.min(w - 3, 46), yC = 24 + r, top = yC + r + 46, h = 26, x = (i) => left + (2 * i + 1) * w;
    const row = (key, p, y, look) => {
      M.push(matrix(d + key, [code(p, hands)], { x: left, y, w, h: 24, concept: "p", digits: w < 44 ? 1 : 2, size: 12, numbers: w > 30, ...look }));
      put(key, left - 8, y + 12, `${p}`, { anchor: "end", strong: true, ...look });
    };
    hands.forEach((speed, i) => {
      const at = (p, far) => `${x(i) + far * Math.sin(p * speed)} ${yC - far * Math.cos(p * speed)}`, far = r / 2, angle = (end - start) * speed;
      put(`n${i}`, x(i), 8, `${w > 21 ? "hand " : ""}${i + 1}`, { muted: true });
      M.push(area(`c${i}`, { x: x(i) - r, y: yC - r, w: 2 * r, h: 2 * r }, { concept: "p", strength: 0.08, edge: true, radius: r }));
      M.push(line(`arc${i}`, `M${at(start, far)}A${far} ${far} 0 ${angle % TURN > TURN / 2 ? 1 : 0} 1 ${at(end, far)}`, { concept: "p", width: 5, opacity: 0.4 }));
      M.push(line(`from${i}`, `M${x(i)} ${yC}L${at(start, 0.84 * r)}`, { concept: "ink" }), line(`to${i}`, `M${x(i)} ${yC}L${at(end, 0.84 * r)}`, { concept: "p", width: 3.5 }));
      if (w > 28) put(`t${i}`, x(i), yC + r + 12, turned(angle), { concept: "p" });
    });
    const entries = range(d).map((j) => `${j % 2 ? "cosine" : "sine"} ${(j >> 1) + 1}`), both = [0, n - 1].map((i) => `hand ${i + 1} by [p|**${turned((end - start) * hands[i])}**]`).join(", ");
    if (w > 30) entries.forEach((name, j) => put(name, left + (j + 0.5) * w, top - 12, name.slice(0, 3), { muted: true }));

    const product = (q) => dot(code(p, hands), code(q, hands));
    if (!shift) {
      // Rows of both codes roll by.
      const shown = range(5, p - 2).filter((at) => at >= 0 && at < data.count), yB = slim ? top + 5 * h + 54 : top, bw = slim ? 40 : 24, xB = slim ? left : W - 146;
      shown.forEach((at) => {
        const y = (at - p + 2) * h, look = at === p ? {} : { faint: true, muted: true, strong: false };
        row(`m${at}:`, at, top + y, look);
        M.push(matrix(`b${at}:`, [binary(at)], { x: xB, y: yB + y, w: bw, h: 24, digits: 0, size: 12, ...look }));
      });
      [[left, top, wide], [xB, yB, 6 * bw]].forEach(([x, y, w], i) => M.push(area(`row${i}`, { x: x - 2, y: y + 2 * h - 1, w: w + 4, h }, { outline: true, concept: "ink", layer: 2 })));
      bits.forEach((bit) => put(`v${bit}`, xB + (bit + 0.5) * bw, yB - 12, `${2 ** bit}`, { muted: true }));
      put("odometer", xB, yB - 34, "binary odometer", { anchor: "start" });
      const caption = `Position **${p}** has turned ${both}. The next step flips **${sum(binary(p ^ (p + 1)))}** of the odometer's 6 digits; it moves the code by ${strong(Math.sqrt(d - 2 * product(p + 1)))}, as every step does.`;
      return { height: yB + 5 * h, caption, table: { caption: "Sinusoidal and binary codes", rows: shown.map(String), columns: [...entries, ...bits.map((bit) => `${2 ** bit}`)], values: shown.map((at) => [...code(at, hands), ...binary(at)]) } };
    }

    // Both codes, and their dot product: one number for each distance.
    const value = product(end), yP = top + 2 * h + 62, H = 130, gap = (W - left - 8) / reach, px = (k) => left + k * gap, py = (value) => yP + H * (0.5 - value / d);
    row("from", p, top), row("to", end, top + h);
    put("dot", 0, yP - 28, `$k$ = **${k}**, dot product ${strong(value)}`, { size: 13, anchor: "start" });
    [-1, 1].forEach((by, i) => M.push(token(`by${i}`, { x: W - 96 + 52 * i, y: yP - 46, w: 44, h: 36 }, { word: "−+"[i], act: `k:${k + by}`, at: `by:0:${i}`, first: !i, says: `k = ${k + by}` })));
    [-n, 0, n].forEach((level) => (M.push(line(`g${level}`, `M${left} ${py(level)}H${W}`)), put(`y${level}`, left - 6, py(level), write(level, 0), { anchor: "end", muted: true })));
    M.push(line("curve", `M${range(4 * reach + 1).map((i) => `${px(i / 4)} ${py(product(p + i / 4))}`).join("L")}`, { concept: "p", width: 2 }), area("dotted", { x: px(k) - 6, y: py(value) - 6, w: 12, h: 12 }, { concept: "ink", layer: 2 }));
    range(reach + 1).forEach((at) => {
      M.push(area(`k${at}`, { x: px(at) - gap / 2, y: yP, w: gap, h: H }, { strength: 0, layer: 2, act: `k:${at}`, at: `k:0:${at}`, first: at === k, pressed: at === k, says: `k = ${at}` }));
      if (at % 8 === 0) put(`at${at}`, px(at), yP + H + 14, `${at}`, { muted: true });
    });
    const caption = `From **${p}** to **${end}**, turn ${both}, wherever they start. So the dot product is ${strong(value)} at every position: play, and watch the dot.`;
    return { height: yP + H + 24, caption, table: { caption: "Two codes, and their dot products with the first", rows: [`${p}`, `${end}`], columns: [...entries, "dot product"], values: [p, end].map((p) => [...code(p, hands), product(p)]) } };
  }

  return {
    lead: "Swap two words: does attention notice? Then read a position from clocks, and see what a shift by $k$ does to it.",
    start: { view: "swap", on: false, order: words.join(" "), pick: -1, k: 3, d: 8, base: 100 },
    keep: ["view", "d", "base"],
    chapters: range(data.count).map((p) => `${p & ~15}–${p | 15}`),
    options: [
      { name: "view", label: "View", values: data.views },
      { name: "on", label: "Positions", values: [[false, "off"], [true, "on"]], when: (state) => !clock(state) },
      { name: "d", label: "Width", values: data.widths, when: clock },
      { name: "base", label: "Base", values: data.bases, when: clock },
    ],
    draw(state, W) {
      M = [];
      return { ...(clock(state) ? clocks : swap)(state, W), marks: M };
    },
    pause: () => 600,
    press(state, [what, value]) {
      const x = Number(value), { pick } = state;
      if (what === "k") state.k = x;
      else if (!first.includes(pick)) state.pick = x;
      else Object.assign(state, { pick: -1, order: ordered(state).map((word) => words[word === x ? pick : word === pick ? x : word]).join(" ") });
    },
  };
});
