// Scores of random vectors, or of the reader's hand, and how sure the softmax is of them.
nlp104.scene("softmax_lab", (data, { tidy, sum, range, softmax, write, area, label, token, line, step }) => {
  const { words, widths, scores, means } = data, count = words.length, samples = scores[0].length, BAND = 5; // e⁻⁵ is less than a hundredth
  const farthest = (row) => Math.max(...row.map(Math.abs)), widest = Math.ceil(farthest(scores.at(-1).flat()));
  const most = (row) => row.indexOf(Math.max(...row)), spread = (row) => Math.max(...row) - Math.min(...row);
  const log = (p) => (p ? Math.log2(p) : 0);
  const measure = (p) => [-sum(p.map((x) => x * log(x))), Math.max(...p), Math.max(...p.map((x) => x * (1 - x)))]; // the last: of diag(p) − p pᵀ the largest entry
  const small = (x) => (x >= 0.0005 || !x ? write(x, 3) : x.toExponential(0).replace(/e-(.+)/, "·10$^{−$1}$"));
  const some = (x) => write(x, Math.abs(x) < 100 ? 1 : 0);

  // All that a state comes to: the scores are dot products, the logits what the softmax gets.
  function compute({ step: at, scale, sample, hand }) {
    const d = widths[at], by = scale ? Math.sqrt(d) : 1, all = scores[at].map((row) => row.map((x) => x / by));
    const given = all[sample] ?? all[0], pulled = String(hand).split(",").map((x) => Number(x) / by);
    const held = pulled.length === count && farthest(pulled) < 999, logits = held ? pulled : given;
    const high = Math.ceil(Math.max(4, 1.45 * farthest(given), farthest(logits)));
    const weights = softmax(logits), flat = all.flat(), mean = sum(flat) / flat.length;
    return { d, by, all, given, held, high, logits, weights, measured: measure(weights), variance: sum(flat.map((x) => (x - mean) ** 2)) / flat.length };
  }

  function draw(state, W) {
    const { d, by, all, given, held, high, logits, weights, measured, variance } = compute(state), { step: at, scale } = state, before = softmax(given), touched = words[state.word] ? state.word : 0;
    const slim = W < 560, M = [], size = slim ? 12 : 13, left = 40, middle = slim ? 0 : 92, cw = (W - left - middle) / (slim ? 5 : 10), panel = 5 * cw, bar = Math.min(36, 0.5 * cw);
    const beside = (x, y) => `M${x - cw / 2 + 2} ${y}h${(cw - bar) / 2 - 5}m${bar + 6} 0h${(cw - bar) / 2 - 5}`; // where a bar was
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size, ...look }));

    // Scores: bars from zero, each with a handle. In the band there is something to be had.
    const H = slim ? 112 : 184, top = slim ? 42 : 46, zero = top + H / 2, y = (x) => zero - (x / high) * (H / 2), best = Math.max(...logits);
    put("ls", left, 13, `scores ${scale ? `$q·k / √d$` : "$q·k$"}`, { size: slim ? 14 : 15 });
    M.push(token("sample", { x: left + panel - 122, y: 0, w: 122, h: 28 }, { word: "another sample", size: 13, act: "sample", at: "n:0:0", first: true, says: `Another sample: a new query, five new keys. Now ${state.sample + 1} of ${samples}` }));
    const floor = Math.max(-high, best - BAND);
    M.push(area("band", { x: left, y: y(best), w: panel, h: Math.max(2, y(floor) - y(best)) }, { concept: "a", strength: 0.16, radius: 3 }));
    for (const [name, x] of [["high", high], ["zero", 0], ["low", -high]]) {
      put(`t${name}`, left - 8, y(x), write(x, 0), { size: 12, anchor: "end", muted: true });
      M.push(line(`g${name}`, `M${left} ${y(x)}h${panel}`, { concept: x ? "line" : "edge", layer: 0 }));
    }
    logits.forEach((x, i) => {
      const middle = left + (i + 0.5) * cw, end = y(x), changed = held && Math.abs(x - given[i]) > 0.05;
      M.push(area(`s${i}`, { x: middle - bar / 2, y: Math.min(end, zero), w: bar, h: Math.max(1, Math.abs(end - zero)) }, { strength: x < 0 ? 0 : 0.45, edge: true, radius: 3, layer: 1 }));
      if (changed) M.push(line(`was${i}`, beside(middle, y(given[i])), { concept: "ink", width: 1.5 }));
      M.push(area(`knob${i}`, { x: middle - 14, y: end - 5, w: 28, h: 10 }, { concept: "ink", radius: 5, layer: 1 }));
      put(`v${i}`, middle, end + (x < 0 && end < top + H - 12 ? 17 : -16), some(x), { anchor: "middle", strong: changed });
      M.push(area(`grip${i}`, { x: middle - cw / 2 + 2, y: end - 22, w: cw - 4, h: 44 }, {
        strength: 0, layer: 2, act: `score:${i}`, at: `s:0:${i}`, first: i === touched, says: `Score of ${words[i]}`,
        slide: { value: tidy(Number(x.toFixed(2))), low: -high, high, by: scale ? 0.1 : Math.max(1, Math.round(Math.sqrt(d))) / 10, length: H },
      }));
      M.push(token(`w${i}`, { x: left + i * cw + 3, y: top + H + (slim ? 18 : 22), w: cw - 6, h: 24 }, { word: words[i], size, chosen: changed }));
    });

    // Weights: beside the scores, or below them.
    const xW = slim ? left : left + panel + middle, hW = slim ? 54 : H, yW = slim ? top + H + 90 : top, ground = yW + hW;
    put("lw", slim ? 0 : xW, slim ? yW - 29 : 13, "[a|weights]", { size: slim ? 14 : 15 });
    if (!slim) M.push(line("arrow", `M${left + panel + 8} ${zero}H${xW - 10}m-6 -5l6 5l-6 5`, { concept: "edge" }), step("softmax", { x: left + panel + 6, y: zero - 13, w: 72, h: 26 }, { source: "softmax", lit: true, concept: "a" }));
    M.push(line("ground", `M${xW} ${ground}h${panel}`, { concept: "edge", layer: 0 }), line("full", `M${xW} ${yW}h${panel}`, { layer: 0 }));
    weights.forEach((p, i) => {
      const centre = xW + (i + 0.5) * cw, high = p * hW;
      M.push(area(`p${i}`, { x: centre - bar / 2, y: ground - Math.max(1, high), w: bar, h: Math.max(1, high) }, { concept: "a", strength: 0.85, radius: 3, layer: 1 }));
      if (held && Math.abs(p - before[i]) > 0.005) M.push(line(`had${i}`, beside(centre, ground - before[i] * hW), { concept: "ink", width: 1.5 }));
      put(`q${i}`, centre, ground - high - 11, write(p), { anchor: "middle", concept: "a", strong: i === most(weights) });
      if (!slim) M.push(token(`x${i}`, { x: xW + i * cw + 3, y: ground + 22, w: cw - 6, h: 24 }, { word: words[i], size, bare: true }));
    });
    put("lb", slim ? W : left, slim ? yW - 29 : ground + 62, slim ? "below the band less than 0.01" : `Below the band, ${BAND} under the largest score, a weight is less than 0.01.`, { size: 12, muted: true, anchor: slim ? "end" : "start" });

    // Three numbers, and the way they have come: the mean of many samples for every width so far.
    const yN = ground + (slim ? 24 : 94), gap = slim ? 10 : 28, w = (W - 2 * gap) / 3, h = slim ? 30 : 40, yC = yN + (slim ? 60 : 72), [entropy, largest, slope] = measured;
    const cards = [
      ["entropy", `${write(entropy)} bits`, `like ${slim ? "" : "choosing among "}${write(2 ** entropy, 1)} words`, log(count)],
      ["largest weight", write(largest), `of ${words[most(weights)]}`, 1],
      ["steepest slope", small(slope), `${slim ? "" : "of "}0.25 at most`, 0.25],
    ];
    cards.forEach(([name, value, note, high], n) => {
      const x = n * (w + gap), place = (value) => yC + h * (1 - value / high), way = (kind) => means[kind].slice(0, at + 1).map((row, i) => `${i ? "L" : "M"}${x + (i / 10) * w} ${place(row[n])}`).join("");
      put(`n${n}`, x, yN, name, { muted: true });
      put(`b${n}`, x, yN + 25, value, { size: slim ? 18 : 21, strong: true });
      put(`o${n}`, x, yN + (slim ? 47 : 49), note, { muted: true });
      M.push(area(`c${n}`, { x, y: yC, w, h }, { strength: 0.07, radius: 4 }));
      if (at) M.push(line(`e${n}`, way(scale ? "off" : "on"), { concept: "edge" }), line(`f${n}`, way(scale ? "on" : "off"), { concept: "a", width: 2.25 }));
      M.push(area(`d${n}`, { x: x + (at / 10) * w - 5, y: place(measured[n]) - 5, w: 10, h: 10 }, { concept: "ink", radius: 5, layer: 2 }));
    });
    put("lc", 0, yC + h + 15, slim ? `lines: means of ${data.counted} samples; thin: scale ${scale ? "off" : "on"}` : `dot: what you see · lines: the mean of ${data.counted} samples up to this width, thin with the scale ${scale ? "off" : "on"}`, { size: 12, muted: true });

    // All samples on one axis that never changes.
    const yS = yC + h + (slim ? 38 : 56), pitch = slim ? 3 : 3.6, at0 = W / 2, px = (W / 2 - 6) / widest, deviation = Math.sqrt(d) / by;
    put("la", 0, yS, `${samples * count} dot products${scale ? " / √d" : ""}`, {});
    put("lv", W, yS, `variance **${some(variance)}** ${scale ? `= ${some(variance * d)} / ${d}` : `beside $d$ = **${d}**`}`, { anchor: "end" });
    const y0 = yS + (slim ? 13 : 18), tall = samples * pitch + 6;
    M.push(area("sd", { x: at0 - deviation * px, y: y0, w: 2 * deviation * px, h: tall }, { strength: 0.16, radius: 3 }), line("sz", `M${at0} ${y0}v${tall}`, { concept: "edge" }));
    all.forEach((row, s) => row.forEach((x, i) => {
      const mine = s === state.sample, r = mine ? 4 : 2.5;
      M.push(area(`m${s},${i}`, { x: at0 + x * px - r, y: y0 + 3 + (s + 0.5) * pitch - r, w: 2 * r, h: 2 * r }, { concept: mine ? "ink" : "r", strength: mine ? 1 : 0.7, radius: r, layer: 1 }));
    }));
    const yE = y0 + tall + 12;
    put("low", 0, yE, write(-widest, 0), { size: 12, muted: true });
    put("sdl", at0, yE, `±${scale ? "1" : "√d"}${scale || at < 5 ? "" : ` = ±${some(deviation).replace(".0", "")}`}`, { size: 12, muted: true, anchor: "middle" });
    put("up", W, yE, `${widest}`, { size: 12, muted: true, anchor: "end" });

    // In words.
    const i = touched, winner = `**${words[most(weights)]}**`, gets = `[a|**${write(largest)}**]`, apart = `**${some(spread(logits))}**`;
    const felt = Math.abs(logits[i] - given[i]) > 0.25 && Math.abs(weights[i] - before[i]) < 0.005;
    let caption = `**d = ${d}.** The scores lie **${some(spread(logits))}** apart. `;
    if (held) caption = `You pulled **${words[i]}** from **${some(given[i])}** to **${some(logits[i])}**: its weight went from [a|**${write(before[i])}**] to [a|**${write(weights[i])}**].${felt ? " A saturated softmax does not feel it." : ""}`;
    else if (scale) caption = `**d = ${d}.** Divided by **${some(by)}**, the scores lie ${apart} apart, not ${some(spread(logits) * by)}. ${winner} gets ${gets}; the steepest slope stays at **${small(slope)}**.`;
    else if (largest < 0.6) caption += `Every word keeps a share: it is like choosing among **${write(2 ** entropy, 1)}**.`;
    else if (largest < 0.95) caption += `${winner} pulls ahead with ${gets}; the other four share **${write(1 - largest)}**.`;
    else caption += `${winner} takes ${gets}. Steepest slope: **${small(slope)}**. ${slope < 0.02 ? "It is saturated: a nudge moves next to nothing." : "A nudge moves little."}`;
    return { marks: M, height: yE + 10, caption, table: { caption: `Scores and weights at width ${d}`, rows: words, columns: ["score", "weight"], values: logits.map((x, k) => [x, weights[k]]) } };
  }

  return {
    lead: "What happens to the weights as vectors get longer? Step through the widths $d$, switch the scale, or pull a score by its handle.",
    start: { scale: false, sample: 0, word: 0, hand: "" },
    keep: ["scale", "sample"],
    chapters: widths.map(String),
    options: [{ name: "scale", label: "Scale", values: [[false, "off"], [true, "÷ $√d$"]] }],
    draw,
    pause: () => 1900,
    move: (state) => (state.hand = ""),
    press(state, [what, i]) {
      if (what === "score") state.word = Number(i);
      else Object.assign(state, { sample: (state.sample + 1) % samples || 0, hand: "" });
    },
    slide(state, [, i], value) {
      const { logits, by } = compute(state);
      state.hand = logits.map((x, k) => tidy(Number(((k === Number(i) ? value : x) * by).toFixed(2)))).join(",");
    },
  };
});
