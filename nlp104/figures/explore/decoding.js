// A translation is written: greedily, with beams or by dice, on recorded distributions of a trained model.
nlp104.scene("decoding", (data, { range, sum, write, cell, area, label, token, wire, line, step }) => {
  const { words, limit, beams, alphas, temperatures } = data, END = words.indexOf("[END]"), MODES = ["greedy", "beam", "sampling"];
  const pick = (x, list) => list[x in list ? x : 0], box = (x, y, w, h) => ({ x, y, w, h });
  const name = (w) => (typeof w === "number" ? words[w] : w).replace(/^(▁?)([\p{L}\p{N}]?)/u, (_, gap, letter) => (gap || !letter ? letter : `·${letter}`)); // ·s goes on with a word
  const fit = (w, room, word = name(w)) => (6.1 * word.length > room ? `${word.slice(0, room / 6.1 - 1)}…` : word);
  const percent = (p) => (p < 0.0005 ? "< 0.1" : write(100 * p, p < 0.0995 ? 1 : 0)) + "\u00a0%", log = (x) => write(x, 2);
  for (const S of data.sentences) {
    S.nodes = S.nodes.map(([from, word, own, norm, top, look, digits, heat]) => ({ from, word, own: own / 1000, norm: norm / 1000, look, digits, heat, top: range(top.length / 2).map((i) => ({ word: top[2 * i], log: top[2 * i + 1] / 1000 })) }));
    S.after = new Map(S.nodes.map(({ from, word }, i) => [`${from} ${word}`, i]));
  }

  // What each step weighs up, keeps and has ended with: {read, all, kept, best}; memory of the last one asked for.
  let asked, answer;
  function run(state) {
    const { mode, sentence, k, alpha, heat, cut, draw, first } = state, key = [mode, sentence, k, alpha, heat, cut, draw, first].join();
    if (key === asked) return answer;
    const S = pick(sentence, data.sentences), wide = mode === "beam" ? pick(k, beams) : 1, power = mode === "beam" ? pick(alpha, alphas) : 0, penalty = (n) => ((5 + n) / 6) ** power;
    const drawn = mode === "sampling" && S.draws[heat][cut][draw], frames = [];
    let read = [{ node: 0, word: S.nodes[0].word, total: 0, t: 0, row: 0 }], best;
    for (let t = 1; t <= limit && read.length; t++) {
      const all = read.flatMap((from) => candidates(S, from, state, drawn && drawn[t - 1]).map((c) => ({ ...c, from, t, total: from.total + c.log, ended: c.word === END })));
      if (wide > 1) all.sort((a, b) => b.total - a.total);
      const kept = drawn ? all.filter(({ word }) => word === drawn[t - 1]) : wide > 1 ? all.slice(0, wide) : [all[t === 1 && mode === "greedy" && first in all ? first : 0]];
      kept.forEach((h, row) => {
        Object.assign(h, { row, kept: true, node: S.after.get(`${h.from.node} ${h.word}`) });
        if (h.ended) h.score = h.total / penalty(t);
        if (h.ended && !(best?.score >= h.score)) best = h;
      });
      const next = kept.filter(({ ended }) => !ended);
      frames.push({ read, all: all.slice(0, 6), kept, best });
      if (best && next.length && next[0].total / penalty(limit) <= best.score) break;
      read = next;
    }
    asked = key;
    return (answer = { S, frames, wide, power, end: best ?? frames.at(-1).kept[0] });
  }
  // The likeliest words after a beginning. Where dice are thrown, `p` is what temperature and cut make of them.
  function candidates(S, { node }, { mode, heat, cut }, drawn) {
    const { top, norm, heat: heats } = S.nodes[node], rows = top.map(({ word, log }) => ({ word, log, logit: log + norm, p: Math.exp(log) }));
    if (mode !== "sampling") return rows;
    const [z, count, mass] = heats[heat], T = temperatures[heat], share = ({ log }) => Math.exp(log / T - z / 1000);
    if (!rows.some(({ word }) => word === drawn)) {
      const { own } = S.nodes[S.after.get(`${node} ${drawn}`)] ?? { own: top.at(-1).log };
      rows[5] = { word: drawn, log: own, logit: own + norm };
    }
    const keep = [Infinity, 5, count][cut], whole = [1, sum(rows.slice(0, 5).map(share)), mass / 1000][cut];
    return rows.map((row, i) => ({ ...row, p: i < keep ? share(row) / whole : 0 }));
  }
  const path = (h) => (h ? [...path(h.from), h] : []);
  const said = (h) => path(h).slice(1).filter(({ ended }) => !ended).map(({ word }) => words[word]).join("").replace(/▁/g, " ").trim();

  function draw(state, W) {
    const { S, frames, wide, power, end } = run(state), { mode } = state, slim = W < 560, phase = Math.min(state.step, 3), t = Math.max(1, state.step - 2), late = t > frames.length, now = Math.min(t, frames.length), f = frames[now - 1], open = phase < 3, last = !open && now === frames.length, dice = mode === "sampling", many = wide > 1, M = [];
    const put = (key, x, y, text, look) => M.push(label(key, x, y, text, { size: 12, ...look })), lead = open ? f.read[0] : f.kept[0].from, { look, digits } = S.nodes[lead.node];
    const strip = (key, text, concept, place) => [...text].forEach((d, i) => M.push(cell(`${key}${i}`, place(i), { value: (d - 4.5) / 4.5, concept, numbers: false })));

    // ---------- the source, and what the word that is written looks at ----------
    const n = S.source.length, head = slim ? 0 : 52, sw = Math.min(88, (W - head) / n);
    put("looks", 0, slim ? 60 : 38, slim ? "looks at, %" : "looks at", { concept: "a" });
    S.source.forEach((word, i) => {
      M.push(token(`s${i}`, box(head + i * sw + 1, 0, sw - 2, 24), { word: name(word), size: slim ? 12 : 13 }));
      M.push(cell(`a${i}`, box(head + i * sw, 26, sw, 24), { value: Math.max(0.01, look[i] / 100), concept: "a", size: 12, text: look[i] < 1 ? "" : `${look[i]}${slim ? "" : "\u00a0%"}` }));
    });

    // ---------- what is written: a row or column for each step, the beam across ----------
    const N = 1 + (mode === "greedy" ? Math.max(...range(6).map((word) => run({ ...state, first: word }).frames.length)) : frames.length), top = slim ? 98 : 96, rh = slim ? (many ? 46 : 27) : many ? 46 : 24, cw = slim ? (many ? Math.min(W / wide, 112) : 84) : Math.min(many ? 112 : 92, (W - head) / N), pw = Math.min(cw - (slim ? 5 : many ? 18 : 10), 86), ph = slim ? 22 : 24;
    const at = ({ t, row }) => (slim ? { x: many ? row * cw + (cw - pw) / 2 : 0, y: top + t * rh } : { x: head + t * cw, y: top + row * rh });
    const done = frames.slice(0, open ? 0 : now), alive = new Set((last ? [end] : f.kept.concat(f.best ?? [])).flatMap(path)), shown = [f.read.find(({ t }) => !t) ?? path(lead)[0], ...done.flatMap(({ kept }) => kept)], kept = new Set(open ? [lead] : done.flatMap(({ read }) => read));
    const slot = (c, i, x, y) => (slim ? box(pw + 10 + 56 * i, y + 3, 52, 17) : box(x + 4, top + 50 + 46 * i, pw - 8, 44)); // of keys, of values
    const room = (key, place) => M.push(area(`room${key}`, place, { concept: "ink", strength: 0.05, radius: 4 })); // for what is still to come
    range(N - now, now).forEach((t) => range(many ? wide : 1).forEach((row) => {
      const { x, y } = at({ t, row });
      if (t > now) room(`${t},${row}`, box(x, y, pw, ph));
      if (!many && t < N - 1 && (slim || open || t > now)) ["k", "v"].forEach((c, i) => room(`${c}${t}`, slot(c, i, x, y)));
    }));
    for (const h of shown) {
      const { x, y } = at(h), id = `${h.t},${h.row}`, fresh = !open && h.t === now, lives = open || alive.has(h);
      M.push(token(`h${id}`, box(x, y, pw, ph), { word: fit(h.word, pw - 3), size: 12, bare: !lives, muted: !lives, chosen: lives && (last || (fresh && !many)) }));
      if (h.from) {
        const a = at(h.from), bend = (u, v, w, z) => `M${u} ${v}C${slim ? `${u} ${(v + z) / 2} ${w} ${(v + z) / 2}` : `${(u + w) / 2} ${v} ${(u + w) / 2} ${z}`} ${w} ${z}`;
        M.push(line(`l${id}`, slim ? bend(a.x + pw / 2, a.y + ph + (many && h.from.t ? 15 : 0), x + pw / 2, y) : bend(a.x + pw, a.y + ph / 2, x, y + ph / 2), { concept: lives ? "ink" : "line", width: lives ? 1.75 : 1.25, layer: 0 }));
        if (many) put(`g${id}`, x + pw / 2, y + ph + 8, log(h.ended ? h.score : h.total), { anchor: "middle", strong: h.ended && lives, muted: !lives });
        else put(`g${id}`, slim ? W : x + pw / 2, y + (slim ? 11 : 36), log(h.total), { anchor: slim ? "end" : "middle", strong: fresh });
        if (!many && slim) put(`p${id}`, W - 58, y + 11, log(h.log), { anchor: "end", muted: true });
      }
      if (!kept.has(h)) continue;
      if (many) ["k", "v"].forEach((c, i) => M.push(area(`${c}${id}`, box(x + (i * pw) / 2 + 3, y + ph - 3.5, pw / 2 - 6, 4), { concept: c, strength: 1, radius: 1, layer: 2 })));
      else ["k", "v"].forEach((c, i) => {
        const { x: left, y: up, w, h: high } = slot(c, i, x, y);
        strip(`${c}${id},`, S.nodes[h.node].digits.slice(12 + 4 * i, 16 + 4 * i), c, (j) => (slim ? box(left + (j * w) / 4, up, w / 4, high) : box(left, up + (j * high) / 4, w, high / 4)));
      });
    }
    const next = at({ t: open ? 1 : now, row: open ? 0 : f.kept[0].row });
    if (open) M.push(token("h1,0", box(next.x, next.y, pw, ph), { word: "?", size: 13, muted: true }));
    if (!slim) look.forEach((x, i) => x > 2 && M.push(line(`w${i}`, `M${head + (i + 0.5) * sw} 50C${head + (i + 0.5) * sw} 78 ${next.x + pw / 2} 66 ${next.x + pw / 2} ${next.y}`, { concept: "a", width: 0.13 * x, opacity: 0.6, layer: 0 })));
    if (!many) for (const [c, text, i] of [["k", "keys", 0], ["v", "values", 1]]) put(c, slim ? pw + 10 + 56 * i : 0, slim ? top - 10 : top + 72 + 46 * i, text, { concept: c });
    put("sums", slim ? W : 0, slim ? top - 10 : top + (many ? 32 : 36), many && slim ? "below: log P" : "log P", { anchor: slim ? "end" : "start", muted: true });
    if (slim && !many) put("logs", W - 58, top - 10, "log p", { anchor: "end", muted: true });
    let y = slim ? top + N * rh + 14 : top + (many ? wide * 46 : 146) + 22;

    // ---------- one step: vector → logits → softmax → logarithm → choice ----------
    const rows = f.all, pool = many && !open, xB = slim ? 0 : 166, pill = slim ? 66 : 86, xW = xB + (pool ? pill + 4 : 0), known = (p) => phase >= p;
    put("step", 0, y, `${open ? "which word is first?" : `word ${now}`}`, { strong: true, size: 13 });
    const yV = y + 18, plain = slim && !phase, logits = `× W: ${data.vocabulary.toLocaleString("en")} logits`; // plain: nothing but the vector is known
    if (!slim || plain) put("vector", 0, yV + 4, `last vector, 12 of ${data.width}`, { muted: true });
    strip("x", digits.slice(0, 12), "r", (i) => (plain ? box((i * W) / 12, yV + 18, W / 12, 30) : slim ? box(W - 12 * 12 + 12 * i, y - 9, 12, 18) : box(12 * i, yV + 16, 12, 22)));
    const xs = pool ? [[xW + pill + 44, "log p"], [xW + pill + 96, "sum"]] : [[xW + pill + (slim ? 42 : 54), "logit"], [W - 62, "softmax"], [W, "log p"]];
    if (!slim) M.push(step("W", box(0, yV + 52, 144, 26), { source: logits, size: 12, lit: known(1), concept: "r" }), line("toW", `M72 ${yV + 40}v10M146 ${yV + 65}h14`, { concept: known(1) ? "ink" : "line", layer: 0 }));
    if (plain) ["softmax: probabilities", logits].forEach((source, i) => M.push(step(`then${i}`, box(W / 2 - 80, yV + 112 - 46 * i, 160, 28), { source, size: 12 }), line(`to${i}`, `M${W / 2} ${yV + 96 - 46 * i}v14`, { layer: 0 })));
    else xs.forEach(([x, text], i) => known(Math.min(i + 1, 2)) && put(`head${i}`, x, yV + 4, text, { anchor: "end", strong: !pool && [1, 2, 2][i] === phase, muted: true }));
    const yR = yV + 16, from = pool ? xs[1][0] + 12 : xs[0][0] + 10, to = pool ? W - (slim ? 0 : 96) : xs[1][0] - 52, most = Math.exp(rows[0].total);
    rows.forEach((c, i) => {
      if (!known(1)) return slim || room(`r${i}`, box(xW, yR + 25 * i, W - xW, 22));
      const yy = yR + 25 * i, chosen = !open && c.kept, p = pool ? Math.exp(c.total) / most : c.p, none = dice && !c.p, look = { anchor: "end", muted: !chosen, strong: chosen };
      const swap = mode === "greedy" && t === 1 && !late ? { act: `first:${i}`, at: `first:${i}:0`, first: chosen || (open && !i), pressed: Boolean(chosen), says: `Begin with ${name(c.word)}` } : {};
      if (pool) M.push(token(`f${i}`, box(xB, yy, pill, 22), { word: name(c.from.word), size: 12, bare: true, muted: true }));
      if (chosen && !pool && !slim && !last) M.push(line("choice", wire([[xW, yy + 11], [xW - 7, yy + 11], [xW - 7, y - 14], [next.x + pw / 2, y - 14], [next.x + pw / 2, next.y + 46]]), { concept: "ink", width: 1.5, layer: 0 }));
      M.push(token(`c${i}`, box(xW, yy, pill, 22), { word: name(c.word), size: 12, chosen, muted: none, ...swap }));
      put(`z${i}`, xs[0][0], yy + 11, log(pool ? c.log : c.logit), look);
      if (!known(2)) return;
      put(`q${i}`, xs[1][0], yy + 11, pool ? log(c.total) : none ? "cut" : percent(c.p), look);
      if (!pool) put(`r${i}`, W, yy + 11, log(c.log), look);
      M.push(area(`t${i}`, box(from, yy + 5, to - from, 12), none ? { hatch: true, radius: 2 } : { strength: 0.12, radius: 2 }));
      if (!none) M.push(area(`b${i}`, box(from, yy + 5, Math.max(1, (to - from) * p), 12), { strength: chosen ? 1 : 0.5, radius: 2, layer: 1 }));
      if (pool && !slim) put(`e${i}`, W, yy + 11, c.ended && c.kept ? `ends: ${log(c.score)}` : c.kept ? "kept" : "dropped", look);
    });
    y = yR + 25 * rows.length + 8;
    if (dice) { // the dice fall somewhere between 0 and 1, on the share of one word
      let x = 0;
      const share = (key, p, text, strength) => {
        if (p * W > 7 * text.length) put(`n${key}`, (x + p / 2) * W, y + 4, text, { anchor: "middle", muted: strength < 0.9 });
        M.push(area(`d${key}`, box(x * W, y + 14, Math.max(0.5, p * W - 1.5), 14), { strength, radius: 2 }));
        x += p;
      };
      if (known(2)) {
        rows.slice(0, 5).forEach(({ p, word, kept: hit }, i) => share(i, p, name(word), hit && !open ? 0.9 : 0.35));
        if (x < 0.999) share("rest", 1 - x, "others", 0.12);
      }
      if (!open) M.push(line("die", `M${W * pick(state.draw, data.dice)[now - 1]} ${y + 9}v24`, { concept: "ink", width: 3, layer: 2 }));
      y += 38;
    }
    const count = (own) => sum(frames.slice(0, now).map(({ read }, i) => read.length * (own ? 1 : i + 1)));
    put("cache", 0, y + 8, `positions computed: **${count(1)}** with a cache, ${count(0)} without`, { muted: true });
    if ([...shown, ...rows].some(({ word }) => name(word)[0] === "·")) put("dot", 0, y + 25, "· in front of a piece: it goes on with a word", { muted: true });

    return { marks: M, height: y + 36, caption: caption(), table: { caption: "Candidates", rows: rows.map(({ word }) => name(word)), columns: pool ? ["log p", "sum"] : ["logit", "p", "log p"], values: rows.map((c) => (pool ? [c.log, c.total] : [c.logit, c.p, c.log]).map((x, i) => (known(Math.min(2, i + 1)) ? x : null))) } };

    // ---------- in words ----------
    function caption() {
      const bold = (h) => `**${name(h.word)}**`, one = f.kept[0], first = f.all[0], shown = open ? first : one, most = Math.max(...look), ahead = f.kept.find(({ ended }) => !ended), u = pick(state.draw, data.dice)[now - 1];
      const key = late ? "late" : open ? ["vector", "logits", !dice ? "softmax" : pick(state.heat, temperatures) === 1 ? "not heated" : "heated"][phase] : last && !end.ended ? "cut off" : mode === "beam" && !last && f.best ? "ended"
        : [mode === "greedy" && frames[0].kept[0] !== frames[0].all[0] ? "other" : mode, last ? "end" : now > 1 || dice ? "" : "first"].join(" ").trim();
      const { end: best } = run({ ...state, mode: "greedy", first: 0 });
      const values = {
        seen: `[a|**${S.source.map(name).filter((_, i) => look[i] === most).join(" and ")}, ${most}\u00a0%**]`, width: data.width, vocabulary: data.vocabulary.toLocaleString("en"), limit, k: wide, T: pick(state.heat, temperatures), u: write(u, 3), step: t, length: end.t,
        top: bold(first), one: bold(one), logit: log(first.logit), log: log(first.log), p: percent(shown.p), plain: percent(Math.exp(shown.log)), P: percent(Math.exp(end.total)),
        before: log(one.total - one.log), total: log(last ? end.total : one.total), said: said(end), ahead: said(ahead ?? one), dropped: f.read.filter((h) => f.kept.every(({ from }) => from !== h)).length,
        best: said(f.best), score: log(f.best?.score ?? 0), greedy: log(best.total), verdict: data.verdicts[1 + Math.sign(Math.round(1000 * (end.total - best.total)))],
      };
      return (data.captions[key] ?? data.captions.greedy).replace(/\{(\w+)\}/g, (_, what) => values[what]);
    }
  }

  return {
    lead: data.lead,
    start: { sentence: 0, mode: "greedy", k: 2, alpha: 0, heat: 1, cut: 0, draw: 0, first: 0 },
    keep: ["sentence", "mode", "k", "alpha", "heat", "cut", "draw"],
    chapters: ["vector", "logits", "softmax", ...range(limit, 1).map((t) => (t === 1 ? "word 1" : `${t}`))],
    options: [
      ["sentence", "Sentence", data.sentences.map(({ english }) => english)], ["mode", "Choose by", MODES],
      ["k", "Beams k", beams, "beam"], ["alpha", "Length penalty α", alphas, "beam"],
      ["heat", "Temperature", temperatures, "sampling"], ["cut", "Draw from", data.cuts, "sampling"], ["draw", "Dice", data.dice.map((_, i) => i + 1), "sampling"],
    ].map(([name, label, values, only]) => ({ name, label, values: values.map((x, i) => [values === MODES ? x : i, `${x}`]), when: only && (({ mode }) => mode === only) })),
    draw,
    pause: (state) => (state.step - 2 > run(state).frames.length ? 1 : 2400),
    press: (state, [, word]) => Object.assign(state, { first: Number(word), step: 3 }),
  };
});
