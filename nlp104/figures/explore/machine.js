// A sentence goes up the encoder once, then up the decoder once for each word that is written.
nlp104.scene("machine", (data, { sum, range, write, area, label, token, wire, line, step }) => {
  const { source, target, next, ids, vectors, weights, top, sizes, stack: STACK, steps } = data, n = source.length;
  const words = { enc: source, dec: target }, SUB = ["self", "cross", "ffn"];
  // The last step of a turn that is not beyond a box.
  const find = (turn, box) => {
    const order = turn < 0 ? [...STACK.enc, "mem"] : STACK.dec, own = steps.filter((at) => at.turn === turn);
    return steps.indexOf(own.filter((at) => order.indexOf(at.box) <= order.indexOf(box)).at(-1) ?? own[0]);
  };
  // Where the vectors are: at the step's box, or at the one that was tapped.
  const where = ({ step: at, open }) => {
    const now = steps[at], [tower, box] = open.split(":");
    return tower === now.tower && STACK[tower].includes(box) ? { ...now, box, open } : { ...now, open: open === "mem" ? open : "" };
  };
  const bare = (word) => word.replace(/^\[(.+)\]$/, (_, sign) => sign.toLowerCase());
  const fit = (word) => Math.max(28, 6.2 * bare(word).length + 9);
  const WIDE = { enc: source.map(fit), dec: target.map((word, i) => Math.max(fit(word), fit(next[i]))) };
  const clamp = (x, count) => Math.max(0, Math.min(count - 1, x | 0));
  const box = (x, y, w, h) => ({ x, y, w, h });

  // ---------- what stands where ----------
  const NAMES = {
    tok: ["tokens"], emb: ["embedding"], pos: ["+ position"], low: [sizes.layers > 2 ? `layers 1–${sizes.layers - 1}` : "layer 1"],
    self: ["self-", "attention"], cross: ["cross-", "attention"], ffn: ["feed-", "forward"], out: ["linear,", "softmax"],
  };
  const nameOf = (tower, name) => (tower === "dec" && name === "self" ? ["masked", "self-", "attention"] : NAMES[name] ?? ["add, norm"]);
  const CONCEPT = { pos: "p", self: "a", cross: "a" };
  const ZONE = 80, MEMORY = 64, EDGES = 308, BUNDLE = 16, SIZE = 12; // widths: names in boxes, the memory, all but lanes, weights that add up to 1; letters

  function layout(W, shown) {
    const slim = W < 560, all = sum([...WIDE.enc, ...WIDE.dec]), S = Math.min(W, EDGES + 1.5 * all), both = 0.94 * all <= S - EDGES;
    const left = (W - (both ? S : Math.min(W, 620))) / 2, right = W - left, view = both ? ["enc", "dec"] : [shown], gap = slim ? 17 : 23, code = slim ? 15 : 19;
    const above = { tok: 7, low: gap + 10, add1: gap + 4, add2: gap + 4, add3: gap + 14, out: 7 };
    const [enc, dec] = ["enc", "dec"].map((tower) => {
      const natural = both ? all : sum(WIDE[tower]), room = both ? S - EDGES : right - left - 34 - ZONE, turned = !both && 0.9 * natural > room;
      const sized = WIDE[tower].map((w) => (turned ? Math.min(40, room / WIDE[tower].length) : w * Math.min(1.5, room / natural)));
      return { tower, sized, turned, pill: turned ? 7 * Math.max(...words[tower].map((word) => bare(word).length)) + 14 : 24, lanes: sum(sized), w: ZONE + 6 + sum(sized) };
    });
    const word = enc.turned ? enc.pill : 17; // how high a word of the memory is
    for (const T of [enc, dec]) {
      const { tower, sized } = T, flip = both && T === dec, x = left + 14 + (flip ? enc.w + MEMORY + 38 : 0), from = x + 3 + (flip ? 0 : ZONE), to = from + T.lanes, rows = {};
      const high = { tok: T.pill, emb: 22, pos: slim ? 21 : 25, low: 22, self: both ? 58 : tower === "enc" ? 130 : slim ? 48 : 58, cross: both ? 50 : word + code + (slim ? 48 : 70), ffn: 28, out: 28 };
      let y = 0;
      for (const name of STACK[tower]) {
        const h = high[name] ?? 17;
        rows[name] = { y: (y -= h), h };
        y -= above[name] ?? gap;
      }
      Object.assign(T, { x, from, to, rows, xs: sized.map((w, i) => from + sum(sized.slice(0, i)) + w / 2), name: flip ? to + 3 + ZONE / 2 : x + ZONE / 2, outer: flip ? x + T.w : x, way: flip ? 1 : -1, end: y });
    }
    const depth = (both ? 24 : 69) + dec.pill - dec.end;
    for (const { rows } of [enc, dec]) for (const row of Object.values(rows)) Object.assign(row, { y: (row.y += depth - 2), mid: row.y + row.h / 2, rest: row.y - code / 2 - 3 });
    // The memory: a list between the towers; where there is room for one tower only, a shelf.
    const { from, lanes, rows } = shown === "enc" ? enc : dec, { cross } = dec.rows, x = enc.x + enc.w + 14, tall = 38 * n + 6, thick = word + code + 3;
    const shelf = both ? box(x, cross.mid - tall / 2, MEMORY, tall) : box(from - 1, shown === "dec" ? cross.y + cross.h - thick - 2 : rows.add2.y - 56 - thick, lanes + 2, thick);
    const chip = Math.min(both ? 31 : 44, ...view.flatMap((tower) => (tower === "enc" ? enc : dec).sized)) - 3;
    const slots = WIDE.enc.map((w, j) => {
      const y = shelf.y + 38 * j, part = lanes / sum(WIDE.enc), start = from + part * sum(WIDE.enc.slice(0, j)), middle = start + (part * w) / 2;
      return both ? { x: x + 5 + chip / 2, y: y + 30, pill: box(x + 4, y + 3, Math.min(MEMORY - 8, w), 16), out: [x + MEMORY, y + 22] }
        : { x: middle, y: shelf.y + word + code / 2 + 1, pill: box(start + 1, shelf.y + 1, part * w - 2, word), out: [middle, shelf.y - 16] };
    });
    return { slim, both, view, towers: { enc, dec }, chip, code, shelf, slots, depth, left, right };
  }

  // ---------- what is drawn ----------
  function draw(state, W) {
    const at = where(state), { tower: shown, turn, open } = at, follow = clamp(state.follow, n), M = [];
    const L = layout(W, shown), { slim, both, view, towers, shelf, slots } = L, { enc: E, dec: D } = towers, cross = D.rows.cross;
    const done = turn >= 0 || at.box === "mem"; // the encoder has been here
    const put = (key, x, y, text, look) => M.push(label(key, x, y, text, { size: SIZE, anchor: "middle", ...look }));
    const path = (key, d, look) => M.push(line(key, d, { layer: 0, concept: "line", ...look }));
    const chip = (key, values, x, y, { concept = "r", lit, opacity } = {}) => {
      const { chip: w, code: h } = L, part = (w - 3) / values.length, place = { x: x - w / 2, y: y - h / 2, opacity };
      const d = values.map((value, k) => `M${(1.5 + (k + 0.5) * part).toFixed(1)} ${h / 2}v${(-Math.sign(value) * (h / 2 - 1.5) * Math.min(1, Math.abs(value) / 2.5) ** 0.6).toFixed(1)}`).join("");
      M.push(step(`${key}b`, { ...place, w, h }, { source: "", radius: 4, layer: 1, lit, concept: "ink" }), line(`${key}s`, d, { ...place, concept, width: 0.74 * part }));
    };
    const button = (name, row, column) => ({ act: `box:${name}`, at: `box:${row}:${column}`, pressed: open === name, first: name === (at.box === "mem" ? "mem" : `${shown}:${at.box}`) });
    const pick = (what, group, i, chosen, says) => ({ act: `${what}:${i}`, at: group, first: chosen, pressed: chosen, says });

    // Wires, boxes and their names.
    for (const { tower, rows, xs, sized, x, w, from, to, outer, way, name: middle } of view.map((tower) => towers[tower])) {
      const mine = STACK[tower], last = tower === "enc" ? "add2" : "add3", real = xs.filter((_, i) => tower === "enc" || i <= turn), ends = way < 0 ? xs[0] : xs.at(-1);
      const top = rows[last].y - (slim ? 29 : 34), foot = rows.self.y + rows.self.h + 7, [near, far] = [outer + 13 * way, outer - way * (w + 5)];
      path(`${tower}lanes`, xs.map((x) => `M${x} ${rows.tok.y}V${tower === "dec" ? rows.out.y - 7 : both ? top - 12 : shelf.y + shelf.h}`).join(""));
      path(`${tower}frame`, wire([[(near + far) / 2, foot], [near, foot], [near, top], [far, top], [far, foot], [(near + far) / 2, foot]], 9));
      put(`${tower}layer`, middle, top + 10, `layer ${sizes.layers}`, { muted: true, opacity: tower === shown && [last, "out"].includes(at.box) ? 0 : 1 });
      if (tower === "dec") { // what was written goes in again
        const { mid } = rows.tok, end = x + w, again = (turn > 0 && at.box === "pos") || (at.box === "out" && turn + 1 < target.length), look = { concept: again ? "r" : "edge" };
        path("again", wire([[to + 2, rows.out.y - 19], [L.right - 3, rows.out.y - 19], [L.right - 3, mid], [end, mid]]), { ...look, width: again ? 2.25 : 1.25 });
        path("tip", `M${end + 6} ${mid - 4}L${end} ${mid}l6 4`, { ...look, width: again ? 2.25 : 1.25 });
      }
      mine.forEach((name, i) => {
        const { y, h, mid } = rows[name], lit = tower === shown && at.box === name && open !== "mem", concept = CONCEPT[name] ?? "r", lines = nameOf(tower, name), below = rows[mine[i - 1]], wired = { concept: lit ? "r" : "edge" };
        M.push(step(`${tower}${name}`, box(x, y, w, h), { source: "", radius: 7, layer: 0, lit, concept, hit: box(x, y - Math.max(0, 14.5 - h / 2), w, Math.max(29, h)), ...button(`${tower}:${name}`, 10 - i, tower === "enc" ? 0 : 2), says: `${lines.join(" ").replace("- ", "-")}: what it does` }));
        if (lit) M.push(area("lit", box(x, y, w, h), { concept, strength: 0.15, radius: 7 }));
        lines.forEach((text, j) => put(`${tower}${name}${j}`, middle, mid + 13 * (j - (lines.length - 1) / 2), text, { concept: lit ? concept : undefined, muted: !lit, strong: lit }));
        if (/add/.test(name)) { // the wire past a sub-layer, and where it is added
          path(`${tower}${name}w`, wire([[ends, below.y + below.h + 4], [outer + 8 * way, below.y + below.h + 4], [outer + 8 * way, mid], [outer, mid]]), { ...wired, width: lit ? 2.25 : 1.25 });
          path(`${tower}${name}p`, real.map((x) => `M${x - 5.5} ${mid}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0M${x - 3} ${mid}h6M${x} ${mid - 3}v6`).join(""), { ...wired, layer: 1 });
        } else if (name === "ffn") // wider inside
          path(`${tower}${name}p`, real.map((x, j) => { const b = Math.min(14, sized[j] / 2 - 2); return `M${x - 4} ${y + h - 4}L${x - b} ${mid}L${x - 4} ${y + 4}h8L${x + b} ${mid}L${x + 4} ${y + h - 4}Z`; }).join(""), { ...wired, layer: 1 });
        else if (name === "out") put("scores", (from + to) / 2, mid, `${sizes.width} → ${sizes.dec}`, { muted: true });
      });
    }

    // The memory, and the bridge.
    M.push(step("mem", shelf, { source: "", radius: 8, layer: 0, lit: done, concept: open === "mem" ? "ink" : "r", ...button("mem", 4, 1), says: "memory: what it is" }), (at.box === "mem" || open === "mem") && area("lit", shelf, { strength: 0.15, radius: 8 }));
    if (both) {
      const high = E.rows.add2.y - 46, into = high > shelf.y + 6 ? [[shelf.x, high]] : [[shelf.x + shelf.w / 2, high], [shelf.x + shelf.w / 2, shelf.y]], edge = shelf.x + shelf.w;
      path("bridge", wire([[E.xs[0], high + 12], [E.xs[0], high], ...into]), { concept: done ? "r" : "edge" });
      for (const [concept, shift] of [["k", -3], ["v", 3]]) {
        path(`low${concept}`, wire([[edge + 12 + shift, cross.mid + shift], [edge + 12 + shift, D.rows.low.mid - shift], [D.x, D.rows.low.mid - shift]]), { concept: done ? concept : "edge" });
        path(`high${concept}`, `M${edge} ${cross.mid + shift}H${D.x}`, { concept: done ? concept : "edge" });
      }
      put("memn", shelf.x + shelf.w / 2, shelf.y - 12, "**memory**", { muted: !done });
      put("mems", shelf.x + shelf.w / 2, shelf.y + shelf.h + 12, `${n} × ${sizes.width}`, { muted: true });
    } else if (shown === "enc") put("memn", shelf.x + shelf.w / 2, shelf.y - 11, `**memory** ${n} × ${sizes.width}`, { muted: !done });
    if (both || shown === "dec" || done) slots.forEach(({ pill }, j) => M.push(token(`m${j}`, pill, { word: source[j], size: SIZE, turn: E.turned, bare: j !== follow || shown !== "enc", muted: !done, hit: both ? box(pill.x, pill.y - 4, Math.max(28, pill.w), 30) : box(pill.x, pill.y - 11, pill.w, pill.h + 11), ...pick("follow", both ? `m:${j}:0` : `m:0:${j}`, j, j === follow, `follow ${bare(source[j])}`) })));

    // Vectors on their way through a tower, with the number and the position of each token.
    const travel = (tower, name, list, now) => {
      const { rows, xs, sized } = towers[tower], mine = STACK[tower], V = vectors[tower], stop = mine.indexOf(name), sub = SUB.includes(name);
      const held = name === "out" ? "add3" : sub ? mine[stop - 1] : name, change = sub ? name : name !== "out" && SUB.includes(mine[stop - 1]) && mine[stop - 1];
      for (const i of list) {
        const old = tower === "dec" && i < now, lit = i === now;
        put(`${tower}i${i}`, xs[i], rows.emb.mid, `${ids[tower][i]}`, { muted: !lit, strong: lit, opacity: (stop > 0 || old) && (lit || sized[i] > 25) ? 1 : 0 });
        chip(`${tower}p${i}`, data.waves[i], xs[i], rows.pos.mid, { concept: "p", opacity: stop > 1 || old ? 1 : 0 });
        if (old) chip(`${tower}v${i}`, V.low[i], xs[i], rows.low.rest, { opacity: 0.6 });
        else if (tower === "dec" || !done) chip(`${tower}v${i}`, V[stop ? held : "emb"][i], xs[i], stop ? rows[held].rest : rows.emb.mid, { lit, opacity: stop ? 1 : 0 });
        if (change && !old) chip(`${tower}x${i}`, V[change][i], xs[i], sub ? rows[name].rest : rows[name].mid, { lit, opacity: sub ? 1 : 0 });
      }
      if (tower === shown && stop && at.box !== "mem") put("shape", towers[tower].name, rows[held].rest, `${tower === "enc" ? n : 1} × ${sizes.width}`, { muted: true });
    };
    const band = (key, { xs, sized, rows }, i, high) => M.push(area(key, box(xs[i] - sized[i] / 2, high, sized[i], rows.tok.y + rows.tok.h - high + 3), { strength: 0.08, radius: 8 }));

    if (view.includes("enc")) {
      band("marked", E, follow, E.rows.add2.y - 22);
      source.forEach((word, i) => M.push(token(`e${i}`, box(E.xs[i] - E.sized[i] / 2 + 1, E.rows.tok.y, E.sized[i] - 2, E.pill), { word, size: SIZE, turn: E.turned, chosen: i === follow, ...pick("follow", `e:0:${i}`, i, i === follow, `follow ${bare(word)}`) })));
      travel("enc", done ? "add2" : at.box, range(n), follow);
    }
    if (done) slots.forEach(({ x, y }, i) => chip(`encv${i}`, vectors.enc.add2[i], x, y, { lit: i === follow && shown === "enc" }));
    if (view.includes("dec") && turn >= 0) {
      const { rows, xs, sized } = D, out = at.box === "out", high = rows.out.y - D.pill - 7;
      const pill = (key, i, y, word, look) => M.push(token(key, box(xs[i] - sized[i] / 2 + 1, y, sized[i] - 2, D.pill), { word, size: SIZE, turn: D.turned, ...look }));
      band("newest", D, turn, rows.out.y);
      target.slice(0, turn + 1).forEach((word, i) => {
        pill(`f${i}`, i, rows.tok.y, word, { chosen: i === turn, ...pick("turn", `f:0:${i}`, i, i === turn, `the turn of ${bare(word)}`) });
        if (i < turn || out) pill(`o${i}`, i, high, next[i], { chosen: i === turn });
      });
      if (out && turn + 1 < target.length) pill(`f${turn + 1}`, turn, high, target[turn + 1], { opacity: 0 }); // will go in at the bottom
      travel("dec", at.box, range(turn + 1), turn);
    }

    // Weights.
    if (at.box === "self" || at.box === "cross") {
      const T = towers[shown], looks = at.box === "cross", across = looks && both, query = shown === "enc" ? follow : turn, { y, h } = T.rows[at.box], x = T.xs[query];
      const row = looks ? weights.cross[turn] : weights[shown][query].slice(0, shown === "enc" ? n : turn + 1), from = row.map((_, j) => (looks ? slots[j].out : [T.xs[j], y + h - 16]));
      const dot = (key, x, y, concept) => M.push(area(key, box(x - 3, y - 3, 6, 6), { concept, radius: 3, layer: 2 }));
      row.forEach((w, j) => {
        const [x0, y0] = from[j], before = BUNDLE * (sum(row.slice(0, j)) + w / 2), x1 = x - BUNDLE / 2 + before, r = before + 4, low = cross.mid + 8 - BUNDLE / 2 + before, bend = Math.min(D.x + 40, x1 - r), half = (y + y0) / 2;
        if (w > 0.004) path(`w${j}`, across ? `M${x0} ${y0}C${(x0 + bend) / 2} ${y0} ${(x0 + bend) / 2} ${low} ${bend} ${low}H${x1 - r}A${r} ${r} 0 0 0 ${x1} ${low - r}V${y}` : `M${x0} ${y0}C${x0} ${half} ${x1} ${half} ${x1} ${y}`, { concept: "a", width: Math.max(0.75, w * BUNDLE), layer: 1, opacity: 0.85 });
        if (w >= 0.005 && (across || (looks ? slots[j].pill.w : T.sized[j]) > 26)) put(`n${j}`, across ? x0 - 4 : x0, across ? slots[j].y : y0 + 8, write(w), { concept: "a", strong: w === Math.max(...row), anchor: across ? "end" : "middle" });
        dot(`k${j}`, across ? x0 : x0 - 4, across ? y0 - 4 : looks ? shelf.y : y + h, "k");
        dot(`v${j}`, across ? x0 : x0 + 4, across ? y0 + 4 : looks ? shelf.y : y + h, "v");
      });
      dot("q", x, looks ? y + h : y, "q");
      const free = T.xs[turn + 1] - T.sized[turn + 1] / 2 + 2; // the words that are still to come
      if (shown === "dec" && !looks && free) M.push(area("hidden", box(free, y + 3, T.to - free - 1, h - 6), { hatch: true, radius: 4 }));
    }

    // The head: what is known of both sentences, and the next word.
    const x = both ? L.left : L.left + 64, room = (both ? E.x + E.w : L.right) - x, row = both ? 20 : 15, out = at.box === "out";
    if (!both) for (const [tower, gx] of [["enc", 0], ["dec", 32]]) STACK[tower].forEach((name, i) => {
      const lit = tower === shown && name === at.box;
      M.push(area(`g${tower}${name}`, box(L.left + 2 + gx, 62 - 6 * i, 22, 4.5), { concept: lit ? CONCEPT[name] ?? "ink" : tower === shown ? "r" : "edge", strength: lit ? 1 : tower === shown ? 0.5 : 0.25, radius: 2 }));
    });
    const say = (key, y, text, muted) => put(key, x, y, text, { anchor: "start", size: 13, muted });
    if (both || !out) say("runs", 9, shown === "enc" ? "**encoder**, runs once" : `**decoder**, run ${turn + 1} of ${target.length}`);
    if (both || (!slim && !out)) {
      say("english", both ? 36 : 30, `in: **${data.sentence}**`, shown === "dec");
      say("french", both ? 58 : 49, `out: **${data.written[clamp(turn + out, target.length)] || "…"}**`, shown === "enc");
    }
    if (out) top[turn].forEach(([word, p], i) => {
      const y = (both ? 90 : 8) + row * i;
      put(`t${i}`, x + 70, y, bare(word), { anchor: "end", strong: !i });
      M.push(area(`b${i}`, box(x + 76, y - 6, Math.max(1, p * (room - 112)), 12), { concept: "ink", radius: 2, layer: 1, strength: i ? 0.6 : 1 }));
      put(`p${i}`, x + room, y, write(p, p < 0.01 ? 4 : 2), { anchor: "end", strong: !i });
    });

    const { y, h } = at.box === "mem" ? shelf : towers[shown].rows[at.box], focus = out ? [0, y + h] : [y - 34, y + h + 30];
    return { marks: M, height: L.depth, caption: data.about[open] ?? (Array.isArray(at.said) ? at.said[follow] : at.said), table: tabulate(at), focus };
  }

  function tabulate({ tower, box, turn }) {
    const count = tower === "enc" ? n : turn + 1, rows = words[tower].slice(0, count);
    const table = (caption, columns, values, names = rows) => ({ caption, rows: names, columns, values: values.slice(0, names.length) });
    if (box === "tok") return table("Tokens", ["number"], ids[tower].map((id) => [id]));
    if (box === "self") return table("Attention weights", rows, weights[tower].map((row) => row.slice(0, count)));
    if (box === "cross") return table("Attention weights", source, weights.cross);
    if (box === "out") return table("The next word", ["probability"], top[turn].map(([, p]) => [p]), top[turn].map(([word]) => word));
    const values = vectors[tower][box === "mem" ? "add2" : box];
    return table("Vectors", range(values[0].length, 1), values);
  }

  return {
    lead: "Step on, or tap a box or a word.",
    start: { follow: data.follow, open: "" },
    keep: ["follow"],
    chapters: steps.map(({ turn }) => (turn < 0 ? "read" : bare(next[turn]))),
    draw,
    pause: ({ step: at }) => (steps[at].turn > 0 ? 2200 : 3600),
    move: (state) => Object.assign(state, { open: "" }),
    press(state, [what, where, name]) {
      const { turn, box } = steps[state.step];
      if (what === "follow") state.follow = Number(where);
      else if (what === "turn") state.step = find(Number(where), box);
      else {
        state.open = name ? `${where}:${name}` : where;
        if (where !== "mem") state.step = find(where === "enc" ? -1 : Math.max(0, turn), name);
        else if (turn < 0) state.step = find(-1, "mem");
      }
    },
  };
});
