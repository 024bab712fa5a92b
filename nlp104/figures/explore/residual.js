// A signal on its way up a stack, and a gradient on its way down, with and without skips and norms.
nlp104.scene("residual", (data, { range, write, area, label, token, step, line }) => {
  const DEPTH = 2 * data.layers, TURN = data.layers + 1, END = DEPTH + 2;
  const NORMS = ["none", "post", "pre"], KINDS = ["attention", "feed-forward"];
  const size = (log) => { // of what has this logarithm: two digits that count
    const x = 10 ** log, [digits, power] = x.toExponential(1).split("e");
    return x >= 0.01 && x < 9950 ? `${Number(x.toPrecision(2))}` : `${digits}·10$^{${write(Number(power), 0)}}$`;
  };

  function draw(state, W) {
    const slim = W < 560, M = [], { step: at, gain, skip, norm } = state, post = norm === 1, pre = norm === 2;
    const six = data.runs.slice(6 * gain, 6 * gain + 6), bare = six[0], r = six[3 * skip + norm], down = at >= TURN, done = at === END, begins = at % TURN === 0;
    const level = done ? 0 : down ? 2 * (END - 1 - at) : 2 * at, up = done ? DEPTH : level, box = down ? Math.min(level, DEPTH - 1) : Math.max(0, level - 1);
    const [from, came, made] = down ? [r.gradient, r.past[box], r.through[box]] : [r.signal, r.signal[box], r.change[box]], levels = range(DEPTH + 1);
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size: slim ? 12 : 13, ...look }));
    const draft = (key, path, look) => M.push(line(key, path, { concept: "edge", layer: 0, ...look }));

    // The tower: a wire from the bottom to the top, and boxes beside it.
    const [P, top, x0, wb, big, space, gap, strip, foot, sx, bx] = slim ? [16, 222, 32, 30, 16, 14, 18, 32, 150, 96, 216] : [18, 58, 250, 38, 18, 26, 28, 44, 498, 84, 158];
    const y = (l) => top + (DEPTH - l) * P, xb = x0 + 12, xm = xb + wb / 2, ground = y(0) + 8, mine = { concept: down ? "ink" : "r" };
    const each = (path) => range(DEPTH).map((i) => path(y(i))).join(""), stream = { concept: "r", width: 2 };
    draft("stem", `${each((a) => `M${x0} ${a + 2}v-4`)}M${x0} ${ground}v-10M${x0} ${top + 2}v-16`, stream);
    draft("skips", each((a) => `M${x0} ${a - 2}v${4 - P}`), { ...stream, opacity: skip });
    draft("ways", each((a) => `M${x0} ${a - 2}H${xm}v-4m0 ${10 - P}v-2H${x0}`), skip ? {} : stream);
    for (const i of range(DEPTH)) {
      const a = y(i), now = i === box && !done && !begins;
      M.push(area(`b${i}`, { x: xb, y: a - P + 4, w: wb, h: P - 10 }, { concept: now ? "ink" : "r", strength: now ? 1 : 0.4, radius: 2 }));
      M.push(area(`n${i}`, post ? { x: x0 - 9, y: a - P - 1.5, w: 18, h: 3 } : { x: xb, y: a - 5, w: wb, h: 3 }, { concept: "ink", radius: 1, opacity: norm && 1 }));
      if (i % 2) put(`y${i}`, x0 - 14, a, `${(i + 1) / 2}`, { size: 12, anchor: "end", muted: true });
    }
    M.push(area("last", { x: x0 - 9, y: top - 9, w: 18, h: 3 }, { concept: "ink", radius: 1, opacity: +pre }));

    // Bars: powers of ten away from 1, at every height that was reached. Beside them the cosine with the own word.
    const all = six.flatMap((run) => [...run.signal, ...run.gradient]), low = Math.min(-1, Math.floor(Math.min(...all))), high = Math.max(1, Math.ceil(Math.max(...all)));
    const xs = xb + wb + space, w = (W - xs - strip - 2 * gap) / 2;
    const rose = (l) => down || l <= level, fell = (l) => down && l >= level;
    const head = (key, x, title, value, anchor) => {
      put(`h${key}`, x, top - 44, title, { muted: true, anchor });
      put(`v${key}`, x, top - 22, value, { size: big, strong: true, anchor });
    };
    [["signal", "↑ signal", rose, up], ["gradient", "↓ gradient", fell, level]].forEach(([kind, title, seen, here], p) => {
      const x = xs + p * (w + gap), X = (log) => x + ((log - low) / (high - low)) * w, known = levels.filter(seen);
      head(p, x, title, known.length ? size(r[kind][here]) : "?", "start");
      for (const log of [low, 0, high].filter((log) => !log || Math.abs(X(log) - X(0)) > 34)) {
        draft(`g${p}${Math.sign(log)}`, `M${X(log)} ${top - 6}V${ground}`, { concept: log ? "line" : "edge" });
        put(`t${p}${Math.sign(log)}`, X(log), ground + 12, log ? `10$^{${write(log, 0)}}$` : "1", { size: 12, muted: true, anchor: log < 0 ? "start" : log ? "end" : "middle" });
      }
      for (const l of levels) {
        const end = X(seen(l) ? r[kind][l] : 0);
        M.push(area(`${kind}${l}`, { x: Math.min(X(0), end) - 1.5, y: y(l) - 4, w: Math.abs(end - X(0)) + 3, h: 8 }, { concept: p ? "ink" : "r", strength: l === level && !done ? 1 : 0.7, radius: 2, layer: 1, opacity: +seen(l) }));
      }
      if ((skip || norm) && known.length) draft(`bare${p}`, `M${known.map((l) => [X(bare[kind][l]), y(l)]).join("L")}`);
    });
    put("bare", W, ground + 32, skip || norm ? "thin line: neither" : "", { size: 12, muted: true, anchor: "end" });
    head("o", W, slim ? "word" : "own word", write(r.own[up]), "end");
    for (const l of levels) M.push(area(`o${l}`, { x: W - strip, y: y(l) - P / 2 + 1, w: strip, h: P - 2 }, { strength: rose(l) ? Math.max(0.04, 0.9 * r.own[l]) : 0, radius: 2 }));
    if (!done) {
      M.push(area("band", { x: x0 - 12, y: y(level) - P / 2, w: W - x0 + 12, h: P }, { strength: 0.13, radius: 5 }));
      M.push(area("dot", { x: x0 - 6, y: y(level) - 6, w: 12, h: 12 }, { ...mine, layer: 2 }));

      // One sub-layer large: what comes in, what it makes of it, what the wire and the norm do.
      const Y = (t) => foot - t * (foot - (slim ? 26 : 62)), look = { ...mine, width: 3 };
      const sum = `${skip ? "x + " : ""}f(${pre ? "{LN}(x)" : "x"})`, arrow = (x, t) => `M${x - 5} ${Y(t) + (down ? -3 : 3)}l5 ${down ? 6 : -6}l5 ${down ? -6 : 6}`;
      put("lt", 0, 8, `layer ${(box >> 1) + 1}, ${KINDS[box % 2]}`, { strong: true });
      put("lf", slim ? W : 0, slim ? 8 : 32, `$${post ? `{LN}(${sum})` : sum}$`, { size: 16, anchor: slim ? "end" : "start" });
      draft("ls", `M${sx} ${foot}V${Y(0.12)}M${sx} ${Y(0.7)}V${Y(1)}${arrow(bx, 0.64)}${arrow(sx, 0.04)}`, look);
      draft("lk", `M${sx} ${Y(0.12)}V${Y(0.7)}${arrow(sx, 0.4)}`, { ...look, opacity: skip });
      draft("lw", `M${sx} ${Y(0.12)}H${bx}V${Y(0.7)}H${sx}`, skip ? {} : look);
      M.push(step("lb", { x: bx - 54, y: Y(0.46) - 15, w: 108, h: 30 }, { source: KINDS[box % 2], lit: true, radius: 6 }));
      M.push(step("ln", { x: (post ? sx : bx) - 26, y: Y(post ? 0.86 : 0.24) - 10, w: 52, h: 20 }, { source: "norm", lit: true, concept: "ink", radius: 4, opacity: norm && 1 }));
      M.push(step("l+", { x: sx - 9, y: Y(0.7) - 9, w: 18, h: 18 }, { source: "+", lit: true, opacity: skip }));
      [[0.02, from[box], 1], [0.4, came, skip], [0.7, (down ? r.past : r.sum)[box], post], [1, from[box + 1], 1], [down ? 0.09 : 0.73, made, 1]].forEach(([t, log, there], i) =>
        put(`l${i}`, i < 4 ? sx - 12 : slim ? bx + 10 : sx + 14, Y(t), there && !begins ? size(log) : "", { strong: true, anchor: i < 4 ? "end" : "start" }));
    }

    // In words; and at the end the ends of all six towers.
    const bold = (log) => `**${size(log)}**`;
    const log = from[level], own = `**${write(r.own[up])}**`, tens = (x) => `**${write(Math.abs(x), 1)}**`, ends = [r.signal[DEPTH], r.gradient[0]];
    let caption = `A signal of size **1** goes in below. What comes out above ${DEPTH} sub-layers? (Word: cosine with what went in.)`;
    if (done) {
      caption = `The signal ends at ${bold(ends[0])}, the gradient at ${bold(ends[1])}. Both `;
      if (Math.max(...ends.map(Math.abs)) > 1.5) caption += `${log < 0 ? "vanish" : "explode"}, by ${ends.map(tens).join(" and ")} powers of ten.`;
      else caption += `arrive, and the vectors are ${r.own[DEPTH] > 0.1 ? "still somewhat" : "no longer"} like their own word (cosine ${own}).`;
      six.forEach((run, i) => {
        const s = +(i > 2), n = i % 3, wide = slim ? (W - 16) / 3 : 96, [row, column] = slim ? [s, n] : [n, s], x = column * (wide + 8), yc = slim ? 80 * row : 58 + 96 * row, now = run === r;
        const word = n ? (s ? `skips, ${NORMS[n]}` : `${NORMS[n]}-norm`) : s ? "skips" : "neither";
        M.push(token(`c${i}`, { x, y: yc, w: wide, h: 26 }, { word, size: 12, chosen: now, act: `run:${s}:${n}`, at: `c:${row}:${column}`, first: now, pressed: now, says: word }));
        [`↑ ${size(run.signal[DEPTH])}`, `↓ ${size(run.gradient[0])}`, `word ${write(run.own[DEPTH])}`].forEach((text, k) => put(`c${i},${k}`, x + 10, yc + 36 + 16 * k, text));
      });
    } else if (at === TURN) caption = `A gradient of length **1** is set off on top${pre ? `; the last norm leaves ${bold(log)} of it` : ""}. How much arrives at the bottom?`;
    else if (at) {
      caption = `${down ? `Below layer **${level / 2 + 1}** the gradient has length` : `Above layer **${at}** the signal has size`} ${bold(log)}${Math.abs(log) < 0.5 ? "" : `, ${tens(log)} powers of ten ${log < 0 ? "smaller" : "larger"}`}. `;
      if (skip) caption += `The last wire brought ${bold(came)}${down ? " past its box;" : ", its box added"} ${bold(made)}${down ? " came through" : post ? ", and the norm set the sum to 1" : ""}.`;
      else caption += norm && !down ? `The norms keep the size, not the direction: own word ${own}.` : "All of it came through the boxes.";
    }
    return { marks: M, height: ground + 40, caption, table: { caption: "Powers of ten; cosine with the own word", rows: levels.map((l) => `above ${l}`), columns: ["signal", "gradient", "own word"], values: levels.map((l) => [rose(l) ? r.signal[l] : null, fell(l) ? r.gradient[l] : null, rose(l) ? r.own[l] : null]) } };
  }

  return {
    lead: "What is left of a signal on top, and of a gradient at the bottom? Guess, step up and down, then switch on skips and norms.",
    start: { skip: 0, norm: 0, gain: 1 },
    keep: ["skip", "norm", "gain"],
    chapters: [...range(TURN).fill("up"), ...range(TURN).fill("down"), "six"],
    options: [["skip", "Skips", ["off", "on"]], ["norm", "Norm", NORMS], ["gain", "First weights", ["× ½", "× 1", "× 2"]]].map(([name, label, texts]) => ({ name, label, values: texts.map((text, i) => [i, text]) })),
    draw,
    pause: () => 600,
    press: (state, [, skip, norm]) => Object.assign(state, { skip: Number(skip), norm: Number(norm) }),
  };
});
