// One matrix is compared, scaled, masked, normalised and mixed.
nlp104.scene("pipeline", (data, { multiply, transpose, most, softmax, whole, write, range, sum, area, label, token, line, step, matrix, shares, ledger }) => {
  const { rows, columns, masks, heads } = data, n = rows.length, m = columns.length, masked = Object.keys(masks).length > 0;
  const depth = heads[0].query[0].length, width = heads[0].value[0].length, root = Math.sqrt(depth);
  const titles = ["QKV", "QKᵀ", "÷√d", "+M", "eˣ", "÷ sum", "×V", "all"], [, DOT, SCALE, MASK, EXP, NORM, MIX, ALL] = range(8);
  const steps = range(8).filter((at) => masked || at !== MASK).flatMap((at) => (at === NORM && n <= 5 ? range(n).map((turn) => ({ at, turn })) : { at, turn: n }));
  const pick = (x, count) => Math.max(0, Math.min(count - 1, x | 0)), top = (row) => row.indexOf(Math.max(...row));
  const box = (x, y, w, h) => ({ x, y, w, h });
  const map = (A, change) => A.map((row, i) => row.map((x, k) => change(x, i, k)));
  const places = (A) => (whole(A) ? 0 : whole(map(A, (x) => 10 * x)) ? 1 : 2);
  const raised = (text) => text.replace(/e\+(.*)/, (_, digits) => `·10${[...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
  const power = (x, fine = 3) => (!x ? "0" : x < (fine > 1 ? 1e4 : 1e3) ? write(x, x < 10 ? Math.min(2, fine) : x < 100 ? 1 : 0) : fine > 2 && x < 1e10 ? raised(x.toExponential(2)) : x.toExponential(0).replace("+", ""));
  // Vectors as cells; long ones as strokes, up (or to the right) if positive.
  const vectors = (key, A, { upright, of, ...look }) => {
    const { x, y, w, h, concept } = look, size = A[0].length;
    if (size <= 12) return matrix(key, upright ? transpose(A) : A, { max: most(A), ...look, of: upright ? (a, b) => of(b, a) : of });
    return A.map((vector, i) => {
      const place = { x: upright ? x + i * w : x, y: upright ? y : y + i * h, concept, ...of(i) }, part = 0.45 / most(A);
      const path = vector.map((value, k) => (upright ? `M${w / 2} ${(k + 0.5) * h}h${value * part * w}` : `M${(k + 0.5) * w} ${h / 2}v${-value * part * h}`)).join("");
      return [place.known !== false && line(`${key}l${i}`, path, { ...place, width: 0.6 * (upright ? h : w), act: "" }), area(`${key}b${i}`, { ...place, w: upright ? w - 2 : size * w, h: upright ? size * h : h - 2 }, { strength: 0.09, layer: 1 })];
    });
  };

  function draw(state, W) {
    const { at, turn } = steps[state.step], late = at >= EXP, mixing = at >= MIX, bars = late && !mixing, M = [];
    const { query, key, value } = heads[state.head] ?? heads[0], seen = masks[state.mask] ?? masks.none ?? map(multiply(query, transpose(key)), () => 1);
    const dot = multiply(query, transpose(key)), scale = map(dot, (x) => x / (state.scale ? root : 1)), mask = map(scale, (x, i, k) => (seen[i][k] ? x : -Infinity));
    const exp = map(mask, (x) => Math.exp(Math.min(x, 700))), norm = mask.map(softmax), sums = exp.map(sum), output = multiply(norm, value);
    const stages = [dot, dot, scale, mask, exp, norm], stage = (i) => (at > EXP && i <= turn ? NORM : Math.min(at, EXP));
    const r = pick(state.row, n), [j, o] = [[state.score, dot], [state.output, output]].map(([chosen, A]) => (chosen < 0 ? top(A[r]) : pick(chosen, A[r].length)));
    const open = [at && "score", mixing && "output"].find((what) => what === state.open) ?? { [DOT]: "score", [MIX]: "output" }[at];
    const [pair, mix] = ["score", "output"].map((what) => (open ? open === what : !at || at === ALL));

    // Left factor on the left, right factor above; a phone shows Q or V.
    const slim = W < 560, longest = 7.4 * Math.max(...rows.concat(columns).map((word) => word.length)) + 8;
    const [size, gap, pad, pw, rh, th, q, v] = slim ? [12, 8, 4, Math.max(48, Math.min(66, longest)), 32, 24, 0.5, 0.75] : [13, Math.max(68, Math.min(90, longest + 8)), 8, 74, 34, 26, 0.74, 0.9];
    const asks = !slim || !late || open === "score", answers = !slim || !asks || !at, cells = (count) => (count > 12 ? 3 : count);
    const wq = asks * q * cells(depth), wv = answers * v * cells(width), room = W - pw - pad - asks * pad - answers * gap;
    const sw = Math.min(m < 3 ? 76 : 62, room / (m + wq + wv)), qw = (wq * sw) / depth, ow = (wv * sw) / width, xQ = (room - (m + wq + wv) * sw) / 2;
    const xP = xQ + wq * sw + asks * pad, xS = xP + pw + pad, xE = xS + m * sw, xO = xE + gap, xR = xO + wv * sw, xM = open !== "output" ? xO - 8 : slim ? Math.max(50, longest - 6) : xS + 56;
    const kh = depth > 12 ? Math.min(4, 160 / depth) : th, yB = 26 + Math.max(m * th, depth * kh), yK = yB - depth * kh, yV = yB - m * th, yC = yB + 38, yS = yC + 18, yT = yS + n * rh + 16, y = yS + r * rh;
    const em = (words) => 0.64 * words.length - 0.32 * words.includes(".") + 0.2 * words.includes("−"); // in a wide font; a bold one takes 7 % more
    const fits = (A, d, w) => A.flat().every((x) => !Number.isFinite(x) || em(write(x, d)) * size < w - 1);
    const fine = sw < 29 ? 1 : sw < 5 * size ? 2 : 3, digits = [dot, dot, scale, scale].map((A) => [2, 1].find((d) => d <= places(A) && fits(A, d, 0.93 * sw)) ?? 0);
    const text = (at, i, k) => (at === EXP ? power(exp[i][k], fine) : at === NORM && !seen[i][k] ? "0" : write(stages[at][i][k], digits[at] ?? Math.min(2, fine)));
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size, anchor: "middle", ...look }));
    const button = (what, i, k, says) => {
      const first = i === r && k === { row: 0, score: j, output: o }[what], act = `${what}:${i}:${k}`;
      return { act, at: act, first, pressed: first, says };
    };
    const cut = (word, w) => (7.1 * word.length - 14 * (word[0] === "[") > w + 1 ? `${word.slice(0, (w - 11) / 7.1)}…` : word);
    rows.forEach((word, i) => M.push(token(`r${i}`, box(xP, yS + i * rh + 4, pw, rh - 8), { word: cut(word, pw), size, chosen: i === r, ...button("row", i, 0, `follow ${word}`) })));
    columns.forEach((word, k) => {
      M.push(token(`c${k}`, box(xS + k * sw + 1, yC - 12, sw - 2, 24), { word: cut(word, sw), size: 12, bare: sw < 54 }));
      if (!slim || (mixing && answers)) put(`m${k}`, xM, yV + (k + 0.5) * th, word, { anchor: "end", muted: true });
    });

    // Factors and output, with numbers where in use.
    const factor = (name, A, concept, used, x, y, place, of, upright) => {
      const digits = Math.min(places(A), slim && !fits(A, 2, place.w) ? 1 : 2);
      M.push(vectors(name, A, { ...place, concept, size, upright, of, digits, numbers: used && fits(A, digits, place.w) }));
      put(`n${name}`, x, y, `$${name}$`, { size: 18, concept });
    };
    const fade = (used, mine) => (used && (!open || mine) ? {} : { opacity: 0.45, numbers: false }), middle = (xO + xR) / 2; // pale without a number
    if (asks) factor("Q", query, "q", pair, xQ + 9, yC, box(xQ, yS, qw, rh), (i) => fade(pair, i === r));
    if (open !== "output" && (asks || !mixing)) factor("K^T", key, "k", pair, (xS + xE) / 2, yK - 14, box(xS, yK, sw, kh), (k) => fade(pair, k === j), true);
    if (answers) factor("V", value, "v", mix, middle, yV - 14, box(xO, yV, ow, th), (_, k = o) => fade(mix, k === o));
    if (answers && !bars) factor("AV", output, "v", mixing, middle, yC, box(xO, yS, ow, rh), (i, k = o) => (mixing && (i === r || at === ALL) ? button("output", i, k, `${rows[i]}, output ${k + 1}: ${write(output[i][k])}`) : { known: false }));

    // The one matrix.
    M.push(matrix("S", dot, { ...box(xS, yS, sw, rh), size, known: at, concept: late ? "a" : "r", of: (i, k) => {
      const s = stage(i), hidden = s >= MASK && !seen[i][k], says = text(s, i, k);
      return { value: hidden ? 0 : stages[s][i][k], text: says, hidden, max: s === NORM ? 0.9 : most(late ? exp : dot), ...(at && button("score", i, k, `${rows[i]} to ${columns[k]}: ${says}`)) };
    } }));
    const frame = (key, x, w) => M.push(area(key, box(x, y - 1, w, rh + 2), { outline: true, concept: "ink", layer: 2 }));
    frame("row", xS - 2, xE - xS + 4);

    // A number written out.
    const meet = (one, x0, two, x, w, top, h, look) => {
      M.push(area("b1", box(x0 - 3, y - 1, x + w + 4 - x0, rh + 2), { concept: one, strength: 0.13 }), area("b2", box(x - 2, top - 3, w + 4, y + rh + 4 - top), { concept: two, strength: 0.17 }));
      frame("now", x, w);
      if (h > 4 && (W > 340 || whole(query))) M.push(ledger(two, { ...look, ys: look.a.map((_, k) => top + (k + 0.5) * h), y: yB + 14, size }));
    };
    if (open === "score") {
      meet("q", xQ, "k", xS + j * sw, sw, yK, kh, { x: xQ, width: xS - xQ - 2 * pad, a: query[r], b: key[j], concepts: ["q", "k", "r"], digits: [query, key, dot].map(places), total: dot[r][j] });
      if (depth > 12) M.push(vectors("P", [key[j].map((x, k) => x * query[r][k])], { ...box(xQ, yK, xS - xQ - 2 * pad, kh), concept: "r", upright: true, of: () => {} }));
    } else if (open) meet("a", xS, "v", xO + o * ow, ow, yV, th, { x: xM + 10, width: xO - xM - 18, a: norm[r], b: value.map((row) => row[o]), concepts: ["a", "v", "v"], digits: [2, places(value), 2], total: output[r][o] });

    // Exponentials, then stretched to fill 1.
    if (bars && answers) {
      put("u", xR, yC, "row sum", { anchor: "end", muted: true });
      if (at === NORM) M.push(line("one", `M${xR} ${yS}V${yT - 16}`, { concept: "edge" }));
      rows.forEach((_, i) => {
        const done = stage(i) === NORM, y = yS + (i + 0.5) * rh;
        M.push(shares(`u${i},`, done ? norm[i] : exp[i].map((x) => (0.94 * x) / (Math.max(...sums) || 1)), { ...box(xO, y - 7, xR - xO, 14), of: (k) => ({ strength: 0.3 + 0.6 * norm[i][k] }) }));
        if (!slim) put(`us${i}`, xO - 8, y, done ? write(sum(norm[i])) : power(sums[i]), { anchor: "end", strong: done });
      });
    }

    // The chosen row, traced.
    const reached = turn < r ? EXP : Math.min(at, NORM);
    const trace = [[DOT, "$q·k$"], [SCALE, state.scale ? "÷ $√d_k$" : "÷ 1"], ...(masked ? [[MASK, "+ $M$"]] : []), [EXP, "$e^x$"], [NORM, "÷ sum"]];
    trace.forEach(([s, source], l) => {
      const y = yT + 26 * l + 13, lit = s === reached && !mixing, concept = s < EXP ? "r" : "a";
      M.push(step(`t${l}`, box(xP, y - 11, pw, 22), { source, size, lit, concept }), line(`tl${l}`, `M${xS} ${y - 13}H${xE}`), lit && area("t", box(xS, y - 12, xE - xS, 24), { concept, strength: 0.1 }));
      if (s <= reached) columns.forEach((_, k) => put(`t${l},${k}`, xS + (k + 0.5) * sw, y, text(s, r, k), { concept, strong: lit }));
    });
    if (!slim) put("of", xP - 10, yT + 13, `row of **${rows[r]}**`, { anchor: "end", muted: true });

    // In words.
    const say = (words, ...values) => String.raw(words, ...values.map((x) => x && `**${x}**`));
    const word = rows[r], row = turn < n ? turn : r, best = top(norm[r]), large = write(norm[r][best]), whose = data.cross ? " of the other sentence" : "";
    const score = write(dot[r][j], places(dot)), by = state.scale ? say` ÷ ${+root.toFixed(2)} = ${write(scale[r][j], places(scale))}` : "";
    const sharp = !state.scale && row === r ? say` Largest weight: [a|${large}]; with the scale: ${write(Math.max(...softmax(mask[r].map((x) => x / root))))}.` : "";
    const mixed = say`${word} mixes the [v|values]${whose}, each as much as its [a|weight]: [a|${large}] of ${columns[best]}.`;
    const said = {
      score: say`${word} holds its [q|query] against the [k|key] of ${columns[j]}: ${depth} products add up to ${score}` + (at > DOT ? by : "") + ".",
      output: mixed + say` Column ${o + 1} adds up to [v|${write(output[r][o])}].`,
    }[open] ?? [
      say`${n} words ask with their [q|queries]. ${m} words${whose} answer with [k|keys], the columns of [k|$K^T$], and [v|values].`, "",
      by ? say`Every score is divided by $√d_k$, like ${score}` + `${by}. The order stays, the gaps shrink.` : "The scale is off: the scores stay large. Watch the [a|weights].",
      say`$M$ adds **0** where a word may look and **−∞** where not. ${word} may look at ${sum(seen[r])} of ${m} words${whose}.`,
      say`[a|Softmax], first half: $e^x$ makes every score positive` + (masked ? ", and $e^{−∞}$ is exactly 0" : "") + say`. The row of ${word} adds up to ${power(sums[r])}.`,
      say`[a|Softmax], second half: the row of ${rows[row]} is divided by its sum ${power(sums[row])}` + (sums[row] ? `, its bar fills exactly **1**.${sharp}` : ": it sees nothing and stays **0**."), "",
      `All rows at once. ${mixed}${sharp}`,
    ][at];
    const values = !at ? query : mixing ? output : rows.map((_, i) => stages[stage(i)][i]);
    return { marks: M, height: yT + 26 * trace.length + 4, caption: said, table: { caption: titles[at], rows, columns: at && !mixing ? columns : range(values[0].length, 1), values } };
  }

  const term = (at, concept, html) => `<span data-term="${at}" style="--concept:var(--${concept});--concept-ink:var(--${concept}-ink)">${html}</span>`;
  const soft = (html, size = 1) => term("4 5", "a", `<span class="up" style="font-size:${size}em">${html}</span>`);
  return {
    lead: "One matrix is transformed in place. Tap a word to follow its row, a number to see its sum.",
    start: { mask: data.mask, scale: true, head: 0, row: data.follow, score: -1, output: -1, open: "" },
    keep: ["mask", "scale", "head", "row"],
    chapters: steps.map(({ at }) => titles[at]),
    options: [
      { name: "mask", label: "Mask", values: Object.keys(masks).map((name) => [name, name]) },
      { name: "scale", label: "Scale", values: [[true, "÷ $√d_k$"], [false, "off"]] },
      { name: "head", label: "Head", values: heads.map((_, i) => [i, `${i + 1}`]) },
    ].filter(({ values }) => values[1]),
    equation: `${soft("softmax")}${soft("(", 1.6)}<span class="over"><span>${term("0 1", "q", "Q")}${term("0 1", "k", "K<sup>T</sup>")}</span><span>${term("2", "r", '√<span class="root">d<sub>k</sub></span>')}</span></span>${masked ? term("3", "r", "+ M") : ""}${soft(")", 1.6)}${term("0 6", "v", "V")}`,
    spoken: `softmax of Q K transposed over root d k${masked ? " plus M" : ""}, times V`,
    lit: ({ step }) => (steps[step].at === ALL ? "0123456" : `${steps[step].at}`),
    draw,
    pause: ({ step }) => (steps[step].turn < n ? 1600 : 3600),
    move: (state) => Object.assign(state, { open: "" }),
    option(state, name) { // shown where its effect begins
      if (name === "head") state.score = -1;
      else state.step = Math.max(state.step, name === "mask" ? MASK : SCALE);
    },
    press: (state, [what, i, k]) => Object.assign(state, { score: -1, output: -1, open: what, [what]: Number(k), row: Number(i) }),
  };
});
