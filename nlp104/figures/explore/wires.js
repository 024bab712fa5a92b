// The Transformer with every wire in its place: tap one to learn its job, again to pull it out.
nlp104.scene("wires", (data, { range, plain, write, area, label, token, wire, line, step }) => {
  const { kinds, rows, sources, said, stacks } = data, runs = rows[0].right.length;
  const pick = (x, count) => Math.max(0, Math.min(count - 1, x | 0)), box = (x, y, w, h) => ({ x, y, w, h });
  // Words in lines of so many letters.
  const fold = (text, room) => text.split(" ").reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`.trim();
    return plain(longer).length > room ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, [""]);

  function draw(state, W) {
    // Step 0 is the whole; then each kind of wire has two: lit, pulled.
    const k = (state.step + 1) >> 1, out = k > 0 && state.step % 2 === 0, now = kinds[k - 1], seen = state.seen | 1 | (out << k);
    const run = pick(state.run, runs), sentence = pick(state.sentence, sources.length), slim = W < 660, S = Math.min(W, slim ? 460 : 820), left = (W - S) / 2, M = [];
    const put = (key, x, y, text, look) => M.push(label(key, x, y, text, { size: 12, ...look }));
    const strong = (kind) => kind === now?.key, lit = (kind) => kind && (!k || out || strong(kind)), gone = (kind, id) => out && strong(kind) && now.pulled.includes(id);
    const name = (key, kind, x, y, lines, concept) => lines.forEach((text, j) => put(`${key},${j}`, x, y + 14 * (j - (lines.length - 1) / 2), text, { anchor: "middle", muted: !lit(kind), strong: strong(kind), concept: lit(kind) ? concept : undefined }));
    const node = (key, kind, place, concept) => {
      M.push(step(key, place, { source: "", radius: 7, layer: 0, lit: Boolean(lit(kind)), concept }));
      if (lit(kind)) M.push(area(`tint ${key}`, place, { concept, strength: strong(kind) ? 0.2 : 0.09, radius: 7 }));
    };
    const thread = (kind, id, concept, path, look) => gone(kind, id) || M.push(line(`${kind}:${id}`, path, { concept: lit(kind) ? concept : "line", width: strong(kind) ? 3 : lit(kind) ? 1.75 : 1.25, lit: lit(kind), ...look }));

    // ---------- the machine ----------
    const D = slim ? S : 0.57 * S, lane = slim ? 13 : 17, edge = lane + 7, between = slim ? Math.max(44, 0.15 * S) : 80, bw = (D - 2 * edge - between) / 2, high = slim ? 20 : 24, gap = slim ? 7 : 9, H = slim ? 424 : 494;
    const drawn = stacks.map((subs, t) => {
      const way = t ? 1 : -1, x = left + (t ? D - edge - bw / 2 : edge + bw / 2), side = x + way * (bw / 2 + lane), T = t ? "d" : "e", press = [];
      let y = H - 17, trunk = `M${x} ${y}`, bridge;
      const grow = (text, space, kind = "", id = "", concept = "r", h = high) => {
        const place = box(x - bw / 2, (y -= h + space), bw, h), [up, down] = { norm: [8, 4], pos: [4, 4] }[kind] ?? [0, 8]; // up to what can be pressed next
        if (kind) press.push([kind, place, text, box(place.x, y - up, bw, h + up + down)]);
        if (gone(kind, id)) return place;
        node(`${kind || text}:${id || T}`, kind, place, concept);
        name(`${T}${text}${id}`, kind, x, y + h / 2, [text], concept);
        if (concept === "p") M.push(line(`wave ${T}`, `M${x - bw / 2 + 7} ${y + h / 2}q3 -8 6 0t6 0`, { concept: lit(kind) ? "p" : "edge" }));
        return place;
      };
      put(`${T}in`, x, H - 8, t ? "French so far" : "English", { anchor: "middle", muted: true });
      grow("embedding", 3);
      grow("+ position", gap, "pos", T, "p");
      grow(data.below, gap);
      const foot = y - gap;
      y -= gap + 2;
      subs.forEach(({ kind, lines, says, mask }, i) => {
        const id = `${T}${i}`, h = high + (mask ? 16 : 0), branch = y - 5, place = box(x - bw / 2, y - h - 12, bw, h), sum = place.y - (slim ? 13 : 15), r = slim ? 5.5 : 6.5, cut = kind !== "heads" && gone(kind, id);
        thread("skip", id, "r", `${wire([[x, branch], [side, branch], [side, sum], [x + way * r, sum]])}M${x - r} ${sum}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0m${r - 3} 0h6m-3 -3v6`);
        press.push(["skip", box(Math.min(x, side) - 8, sum - 9, Math.abs(side - x) + 16, 17), `skip connection around ${says}`, box(side - 10, sum - 9, 20, branch - sum + 9)]);
        if (cut) trunk += `V${branch}M${x} ${sum}`; // what adds nothing: only the skip connection is left
        if (!mask) grow(says, 12, kind, id);
        else press.push([kind, place, says], [mask, box(place.x, place.y, h, h), `${mask === "pad" ? "padding" : "causal"} mask of ${says}`]);
        if (kind === "bridge") bridge = place;
        if (mask && !cut) {
          const shown = strong("bridge") ? kind : "heads", g = h - 10, u = g / 4, [gx, gy] = [place.x + 5, place.y + 5];
          thread("heads", id, "a", [1, 2, 3].map((s) => `M${place.x + 3 * s + 4} ${place.y - 2.5 * s}h${bw - 8}q4 0 4 4v${h - 8}`).join(""), { layer: 0, width: strong("heads") ? 2 : 1.25 });
          node(`box:${id}`, shown, place, "a");
          name(id, shown, x + g / 2 + 2, place.y + h / 2, lines, "a");
          range(4).forEach((row) => {
            const free = gone(mask, id) ? 4 : mask === "causal" ? row + 1 : 3;
            M.push(area(`see:${id}${row}`, box(gx, gy + row * u, free * u, u), { concept: lit("heads") || lit(mask) ? "a" : "r", strength: strong(mask) ? 0.8 : lit("heads") ? 0.5 : 0.2, radius: 0, layer: 1 }));
            if (free < 4) M.push(area(`${mask}:${id}:${row}`, box(gx + free * u, gy + row * u, g - free * u, u), { hatch: true, radius: 0, layer: 1, lit: lit(mask) }));
          });
          M.push(line(`grid:${id}`, `M${gx} ${gy}h${g}v${g}h${-g}z`, { concept: strong(mask) ? "a" : "edge", width: strong(mask) ? 3 : 1 }));
        }
        y = sum - r;
        grow("normalise", 4, "norm", id, "r", high - 4);
        y -= gap - 2;
      });
      const top = y - 3, [near, far] = [x - way * (bw / 2 + 12), side + way * 6];
      M.unshift(line(`${T}frame`, wire([[x, foot], [near, foot], [near, top], [far, top], [far, foot], [x, foot]], 9), { layer: 0, concept: "line" }));
      y = top;
      const last = grow(t ? "linear, softmax" : "**memory**", slim ? 8 : 12);
      if (t) put("next", x, y - 14, "next word", { anchor: "middle", muted: true });
      M.unshift(line(`${T}trunk`, `${trunk}V${t ? y - 6 : y}`, { layer: 0, concept: "edge" }));
      return { T, press, last, bridge };
    });
    const [{ last, press }, { bridge }] = drawn, [x0, y0, y1] = [last.x + bw, last.y + high / 2, bridge.y + bridge.h / 2], bend = (x0 + bridge.x) / 2 + 4;
    for (const [id, s] of [["k", -3], ["v", 3]]) {
      thread("bridge", id, id, wire([[x0, y0 + s], [bend - s, y0 + s], [bend - s, y1 + s], [bridge.x, y1 + s]]), { layer: 0 });
      if (!gone("bridge", id)) put(`letter ${id}`, bridge.x - 8, y1 + 4.5 * s, id.toUpperCase(), { anchor: "middle", concept: lit("bridge") ? id : undefined, muted: true });
    }
    press.push(["bridge", box(x0, Math.min(y0, y1) - 10, bridge.x - x0, Math.abs(y0 - y1) + 20), "bridge from the memory to cross-attention"]);
    const button = (i, at, first) => ({ act: `kind:${i}`, at, first, pressed: i === k });
    for (const { T, press } of drawn) press.forEach(([kind, place, text, hit], row) => {
      const i = kinds.findIndex(({ key }) => key === kind) + 1;
      M.push(area(`press ${T}${row}`, place, { strength: 0, layer: 1, hit, ...button(i, `${T}:${20 - row}:0`, row === Math.max(0, press.findIndex(([other]) => strong(other)))), says: `${text}${i === k && out ? ": pulled out" : ""}` }));
    });

    // ---------- what is lit ----------
    const notes = k ? (out ? now.score : now.short) : data.notes;
    put("name", left, 10, k ? now.name : "all wires in", { size: slim ? 15 : 17, strong: true, concept: k && now.concept !== "r" ? now.concept : undefined });
    notes.forEach((text, i) => put(`note${i}`, left, 31 + 16 * i, text, { muted: true }));
    if (k) M.push(token("pull", box(left, (slim ? 27 : 31) + 16 * notes.length, 118, slim ? 32 : 34), { word: out ? "put back in" : "pull out", chosen: !out, ...button(k, "pull:0:0", true), pressed: out, says: `${out ? "Put back in" : "Pull out"}: ${now.name}` }));

    // ---------- what it scores ----------
    const xP = slim ? left : left + D + 24, wP = left + S - xP, yP = slim ? H + 20 : 10, pitch = slim ? 24 : 28, xT = xP + 100, track = wP - 200;
    put("head", xP, yP, "pulled", { muted: true });
    put("right", xP + wP - 52, yP, "right %", { anchor: "end", muted: true });
    put("loss", xP + wP, yP, "loss", { anchor: "end", muted: true });
    rows.forEach(({ title, says, right, mean }, i) => {
      const y = yP + 10 + i * pitch, mid = y + pitch / 2, known = (seen >> i) & 1, bar = (key, x, w, h, look) => M.push(area(`${key}${i}`, box(xT + (track * x) / 100, mid - h / 2, w, h), { radius: 3, ...look }));
      if (i === k) M.push(area("row", box(xP - 4, y, wP + 8, pitch), { strength: 0.13 }));
      put(`r${i}`, xP, mid, title, { strong: i === k, muted: i !== k });
      bar("track", 0, track, 16, { strength: 0.08 });
      if (known) {
        bar("bar", 0, Math.max(1, (track * mean[0]) / 100), 16, { strength: 0.32 });
        bar("words", mean[1], 2, 20, { concept: "edge", radius: 1, layer: 1 });
        right.forEach((x, s) => M.push(area(`dot${i},${s}`, box(xT + (track * x) / 100 - 2.5, mid - 2.5 + 5 * (s - (runs - 1) / 2), 5, 5), { concept: "ink", radius: 2.5, layer: 1 })));
      }
      put(`right${i}`, xP + wP - 52, mid, known ? write(mean[0], 1) : "?", { anchor: "end", strong: i === k, muted: !known });
      put(`loss${i}`, xP + wP, mid, known ? write(mean[3], 3) : "?", { anchor: "end", strong: i === k, muted: !known });
      M.push(area(`press ${i}`, box(xP - 4, y, wP + 8, pitch), { strength: 0, layer: 1, ...button(i, `l:${i}:0`, i === k), says: `${says}${known ? `: ${write(mean[0], 1)} percent right, loss ${write(mean[3], 3)}` : ""}` }));
    });
    let y = yP + 22 + rows.length * pitch;
    put("legend", xP, y, data.legend, { muted: true });

    // ---------- how it translates ----------
    const chip = Math.min(38, wP / 10), tall = slim ? 32 : 28;
    y += 16;
    [["sentence", sources.length, sentence, 0], ["run", runs, run, wP - runs * chip - 34]].forEach(([what, count, chosen, x]) => {
      put(what, xP + x, y + tall / 2, what, { muted: true });
      range(count).forEach((i) => M.push(token(`${what}${i}`, box(xP + x + (x ? 34 : 64) + i * chip, y, chip - 4, tall), {
        word: `${i + 1}`, size: 13, chosen: i === chosen, act: `${what}:${i}`, at: `${what}:0:${i}`, first: i === chosen, pressed: i === chosen,
        says: x ? `run ${i + 1}` : `sentence ${i + 1}: ${sources[i]} All wires in: ${said[0][run][i]}${out ? ` Pulled: ${plain(said[k][run][i])}` : ""}`,
      })));
    });
    y += tall + 14;
    const bottom = y + 16 * (W < 340 ? 7 : 6) + 2;
    [["English", sources[sentence]], ["all in", plain(said[0][run][sentence])], ["pulled", out ? said[k][run][sentence] : k ? "?" : ""]].forEach(([who, text], n) => {
      if (text) put(who, xP, y, who, { muted: true });
      for (const [i, words] of fold(text, (wP - 56) / 6.9).slice(0, 3).entries()) put(`${who}${i}`, xP + 56, (y += i && 16), words, { muted: !n, size: 12.5 });
      y += 21;
    });

    const score = (i) => rows[i].mean, places = drawn.flatMap(({ press }) => press.filter(([kind]) => strong(kind)).map(([, place]) => place));
    return {
      focus: k ? [Math.min(...places.map(({ y }) => y)) - 20, Math.max(...places.map(({ y, h }) => y + h)) + 20] : [0, 100],
      marks: M, height: Math.max(H, bottom), caption: k ? now[out ? "result" : "job"] : data.caption,
      table: { caption: "Scores", rows: k ? [rows[0].says, rows[k].says] : [rows[0].says], columns: data.columns, values: k ? [score(0), score(k).map((x) => (out ? x : null))] : [score(0)] },
    };
  }

  return {
    lead: "What is each wire for? Tap one to see its job. Tap it again to pull it out, and see how the machine translates without it.",
    start: { sentence: 0, run: 0, seen: 1 },
    keep: ["sentence", "run"],
    chapters: ["whole", ...kinds.flatMap(({ chapter }) => [chapter, chapter])],
    draw,
    pause: ({ step }) => (step % 2 ? 3200 : 4400),
    move: (state) => (state.seen |= (2 << (state.step >> 1)) - 1),
    press(state, [what, i]) {
      if (what !== "kind") state[what] = Number(i);
      else state.step = Math.max(0, 2 * i - (state.step === 2 * i - 1 ? 0 : 1));
      if (state.step % 2 === 0) state.seen |= 1 << (state.step / 2);
    },
  };
});
