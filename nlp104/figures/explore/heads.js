// Two heads: split, attend, join, W_O. The wrong reshape cuts between words instead of columns.
nlp104.scene("heads", (data, { multiply, transpose, softmax, most, write, range, sum, cell, area, label, line, token }) => {
  const { words: first, other, heads: h, inputs, otherInput, kernels } = data, WO = kernels[3], LETTERS = ["q", "k", "v"];
  const n = first.length, d = inputs[0].length, k = kernels[0][0].length / h, third = 2, groups = range(h);
  const [PROJECT, SPLIT, LOOK, MIX, JOIN, OUT] = range(6, 1);
  // Where number c of word w goes: head, row, column; and the way back.
  const deal = (right, w, c) => {
    const flat = w * h * k + c;
    return right ? [Math.floor(c / k), w, c % k] : [Math.floor(flat / (n * k)), Math.floor(flat / k) % n, flat % k];
  };
  const origin = (right, g, i, j) => {
    const flat = (g * n + i) * k + j;
    return right ? [i, g * k + j] : [Math.floor(flat / (h * k)), flat % (h * k)];
  };
  function compute(right, changed) {
    const X = inputs.map((row, w) => (changed && w === third ? otherInput : row));
    const wide = range(3).map((m) => multiply(X, kernels[m]));
    const split = wide.map((A) => groups.map((g) => range(n).map((i) => range(k).map((j) => {
      const [w, c] = origin(right, g, i, j);
      return A[w][c];
    }))));
    const [Q, K, V] = split, scores = groups.map((g) => multiply(Q[g], transpose(K[g])).map((row) => row.map((x) => x / Math.sqrt(k))));
    const A = scores.map((head) => head.map(softmax)), Y = groups.map((g) => multiply(A[g], V[g]));
    const J = range(n).map((w) => range(h * k).map((c) => {
      const [g, i, j] = deal(right, w, c);
      return Y[g][i][j];
    }));
    return { X, wide, split, scores, A, Y, J, O: multiply(J, WO) };
  }

  // Three bands: the words, the heads, the output. The one that a step is about is large.
  function layout(act, W) {
    const slim = W < 560, tiny = W < 330, pw = slim ? 44 : 62, x0 = pw + 4, place = (x, y, w, h) => ({ x, y, w, h });
    const g1 = slim ? 8 : 24, cw = Math.min(40, (W - x0 - 3 * g1) / (d + 3 * h * k)), [kh, rh] = [slim ? [30, 38] : [34, 40], slim ? [0, 14] : [0, 26], [0, 10]][act];
    const y1 = act ? 24 : 24 + d * kh + 34, at = (m) => x0 + d * cw + g1 + m * (h * k * cw + g1), three = (y, h) => range(3).map((m) => place(at(m), y, cw, h));
    const big = act === 1, stacked = slim && big, [vh, gap, ah, pill] = big ? [slim ? 16 : 24, 25, slim ? 21 : 33, tiny ? 40 : 46] : [7, 4, 9, 4];
    const y2 = y1 + n * rh + (big ? 36 : 28), pane = stacked ? W : (W - 20) / 2, tall = 22 + n * vh + gap + n * ah;
    const qw = slim && !big ? 10 : 20, side = big && !tiny ? 42 : 0, aw = Math.min(38, (pane - k * qw - pill - 16 - side) / (n + k));
    const heads = groups.map((g) => {
      const x = stacked ? 0 : g * (pane + 20), top = y2 + (stacked ? g * (tall + 10) : 0), xA = x + k * qw + pill + 8, y = top + 22 + n * vh + gap, xY = xA + n * aw + 8;
      return { x, top, pill, q: place(x, y, qw, ah), k: place(xA, y - gap - k * vh, aw, vh), v: place(xY, y - gap - n * vh, aw, vh), A: place(xA, y, aw, ah), Y: place(xY, y, aw, ah) };
    });
    const y3 = y2 + (stacked ? 2 * tall + 10 : tall) + 46, jw = Math.min(68, (W - x0 - 34) / (d + h * k)), oh = slim ? 22 : 24, yJ = y3 + d * oh + 30, xO = x0 + h * k * jw + 34;
    return {
      slim, pw, heads, X: place(x0, y1, cw, rh), W: three(24, kh), wide: three(y1, rh), shapes: big ? y2 - 20 : y3 - 36, WO: place(xO, y3, jw, oh), J: place(x0, yJ, jw, oh + 4), O: place(xO, yJ, jw, oh + 4),
      height: [y1 + n * rh + 20, y3 - 46, yJ + n * (oh + 4)][act] + 6,
    };
  }

  function draw(state, W) {
    const { step } = state, right = state.reshape !== "wrong", changed = state.word === 1, act = step < SPLIT ? 0 : step < JOIN ? 1 : 2;
    const now = compute(right, changed), before = compute(right, false), P = layout(act, W), size = P.slim ? 12 : 13, M = [];
    const words = first.map((word, w) => (changed && w === third ? other : word)), follow = range(n).includes(state.follow) ? state.follow : third;
    const owner = (g, i) => origin(right, g, i, 0)[0], same = (x, y) => Math.abs(x - y) < 0.005, values = most(before.wide[2]);
    const rect = (p, i, j, rows = 1, columns = 1) => ({ x: p.x + j * p.w, y: p.y + i * p.h, w: columns * p.w, h: rows * p.h });
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { anchor: "middle", size, ...look }));

    // One number; a dot says that the other word moved it.
    function number(key, p, i, j, value, old, { group, button, says, ...look }) {
      const place = rect(p, i, j), digits = look.digits ? 1 + (p.w > 26.5) : 0, numbers = p.h > 15 && p.w > (digits ? 20 : 11), known = look.known !== false, r = p.h > 22 ? 5 : 4;
      M.push(cell(key, place, { value, size: 12, numbers, ...look, digits, ...(group && numbers && known && { act: button, at: `${group}:${i}:${j}`, first: !i && !j, pressed: button === state.cell, says: `${says}: ${write(value, look.digits ?? 0)}` }) }));
      if (changed && known && !same(value, old)) M.push(area(`${key}*`, { x: place.x + p.w - r - 1.5, y: place.y + 1.5, w: r, h: r }, { concept: "ink", radius: r / 2, layer: 2 }));
    }
    const grid = (key, p, A, old, look) => A.forEach((row, i) => row.forEach((value, j) => number(`${key}${i},${j}`, p, i, j, value, old[i][j], look(i, j))));
    const word = (key, place, w, look) => M.push(token(key, place, { word: words[w], size: 12, chosen: w === follow, act: `word:${w}`, pressed: w === follow, says: `Follow ${words[w]}`, ...look }));
    const rowsOf = (p, gap) => range(n).forEach((w) => word(`w${w}`, { x: 0, y: p.y + w * p.h + gap, w: P.pw, h: p.h - 2 * gap }, w, { bare: p.h < 20 && w !== follow, at: `w:${w}:0`, first: w === follow }));

    // The words and their projections. From the split on these stay where they are, and copies move on.
    if (act < 2) rowsOf(P.X, act ? 0.5 : 2);
    grid("X", P.X, now.X, before.X, () => ({ max: most(inputs) }));
    put("lX", P.X.x + 9, P.X.y - 13, "$X$", { size: 17, concept: "r" });
    LETTERS.forEach((letter, m) => {
      const p = P.wide[m], name = letter.toUpperCase(), look = { concept: letter, max: most(before.wide[m]), known: step >= PROJECT };
      if (!act) grid(`W${letter}`, P.W[m], kernels[m], kernels[m], () => ({ concept: letter, max: most(kernels[m]) }));
      if (!act) put(`lW${letter}`, p.x + 13, P.W[m].y - 13, `$W_${name}$`, { size: 17, concept: letter });
      put(`l${letter}`, p.x + 9, p.y - 13, `$${name}$`, { size: 17, concept: letter });
      now.wide[m].forEach((row, w) => row.forEach((value, c) => {
        const [g, ...at] = deal(right, w, c), [i, j] = letter === "k" ? at.reverse() : at;
        number(`${letter}'${w},${c}`, act ? P.heads[g][letter] : p, act ? i : w, act ? j : c, value, before.wide[m][w][c], { ...look, ...(!act && { numbers: false }), group: act && `${letter}${g}`, button: `${letter}:${w}:${c}`, says: `Head ${g + 1}: ${name} of ${words[w]}, number ${c + 1}` });
      }));
      grid(letter, p, now.wide[m], before.wide[m], (w, c) => ({ ...look, group: letter, button: `${letter}:${w}:${c}`, says: `${name} of ${words[w]}, number ${c + 1}` }));
      if (!act) groups.forEach((g) => put(`to${letter}${g}`, p.x + (g + 0.5) * k * p.w, p.y + n * p.h + 13, P.slim ? `${g + 1}` : `head ${g + 1}`, { size: 12, muted: true }));
      const at = right ? rect(p, 0, k, n, 0) : rect(p, n / h, 0, 1, h * k);
      if (act === 1) M.push(line(`cut${letter}`, right ? `M${at.x} ${at.y - 5}v${at.h + 10}` : `M${at.x - 3} ${at.y}h${at.w + 6}`, { concept: "ink", width: 2.5, layer: 2 }));
    });
    if (step >= SPLIT) put("shapes", 0, P.shapes, act < 2 ? (right ? `reshape → [${n}, ${h}, ${k}], transpose → [${h}, ${n}, ${k}]` : `reshape → [${h}, ${n}, ${k}]`) : right ? `transpose → [${n}, ${h}, ${k}], reshape → [${n}, ${h * k}]` : `reshape → [${n}, ${h * k}]`, { anchor: "start", muted: true });

    // The heads. A word that is cut in halves has a pill as tall as both.
    if (act) groups.forEach((g) => {
      const H = P.heads[g], spans = [], middle = (p, columns) => p.x + (columns * p.w) / 2;
      range(n).forEach((i) => (spans.at(-1)?.w === owner(g, i) ? spans.at(-1).count++ : spans.push({ w: owner(g, i), i, count: 1 })));
      put(`h${g}`, H.x, H.top + 6, `**Head ${g + 1}**`, { anchor: "start" });
      if (act === 1) {
        for (const { w, i, count } of spans) {
          word(`p${g},${w}`, { x: H.A.x - H.pill - 3, y: H.A.y + i * H.A.h + 2, w: H.pill, h: count * H.A.h - 4 }, w, { at: `p${g}:${spans.findIndex((span) => span.w === w)}:0`, first: !i });
          M.push(token(`c${g},${w}`, { x: H.A.x + i * H.A.w + 1, y: H.A.y - 23, w: count * H.A.w - 2, h: 20 }, { word: words[w], size: 12, bare: count < 2, chosen: count > 1 && w === follow }));
          if (W >= 330) put(`n${g},${w}`, H.v.x + k * H.v.w + 6, H.v.y + (i + count / 2) * H.v.h, words[w], { anchor: "start", size: 12, muted: true });
        }
        [["q", `$Q_${g + 1}$`, middle(H.q, k), H.q.y], ["k", `$K_${g + 1}^T$`, middle(H.k, n), H.k.y], ["v", `$V_${g + 1}$`, middle(H.v, k), H.v.y], ["v", `$Y_${g + 1}$`, middle(H.Y, k), H.Y.y]]
          .forEach(([concept, source, x, y], l) => put(`l${g}${l}`, x, y - 14, source, { size: 16, concept }));
      }
      grid(`A${g}`, H.A, now.A[g], before.A[g], (i, j) => ({ concept: "a", max: 0.9, digits: 2, known: step >= LOOK, group: `A${g}`, button: `A:${g}:${i}:${j}`, says: `Head ${g + 1}, row ${i + 1} to column ${j + 1}` }));
      const look = { concept: "v", max: values, digits: 2, known: step >= MIX };
      grid(`Y${g}`, H.Y, now.Y[g], before.Y[g], () => ({ ...look, numbers: false }));
      now.Y[g].forEach((row, i) => row.forEach((value, j) => {
        const [w, c] = origin(right, g, i, j), joined = step >= JOIN, there = { group: "J", button: `J:${w}:${c}`, says: `Joined: ${words[w]}, number ${c + 1}` }, here = { group: `Y${g}`, button: `Y:${g}:${i}:${j}`, says: `Head ${g + 1}: answer ${i + 1}, number ${j + 1}` };
        number(`Y'${g},${i},${j}`, joined ? P.J : H.Y, joined ? w : i, joined ? c : j, value, before.Y[g][i][j], { ...look, ...(joined ? there : here) });
      }));
    });

    // The output.
    if (act === 2) {
      rowsOf(P.J, 2);
      grid("WO", P.WO, WO, WO, () => ({ max: most(WO) }));
      put("lWO", P.WO.x + (d * P.WO.w) / 2, P.WO.y - 13, "$W_O$", { size: 17, concept: "r" });
      groups.forEach((g) => {
        const at = right ? rect(P.J, 0, g * k, 0, k) : rect(P.J, (g * n) / h, h * k, n / h, 0);
        put(`lJ${g}`, at.x + (right ? at.w / 2 : 15), at.y + (right ? -13 : at.h / 2), `$Y_${g + 1}$`, { size: 16, concept: "v" });
      });
    }
    if (act === 2) put("lO", P.O.x + (d * P.O.w) / 2, P.O.y - 13, "$Y$", { size: 17, concept: "r" });
    if (act === 2) grid("O", P.O, now.O, before.O, (w, c) => ({ max: most(before.O), digits: 2, known: step >= OUT, group: "O", button: `O:${w}:${c}`, says: `Output of ${words[w]}, number ${c + 1}` }));

    // What is looked at: a tapped number with what it is made of, or the word that is followed.
    const frame = (key, { x, y, w, h }, concept = "ink") => M.push(area(`f${key}`, { x: x - 1, y: y - 1, w: w + 2, h: h + 2 }, { outline: true, concept, layer: 2 }));
    const bold = (w) => `**${words[w]}**`, list = (all) => all.map(bold).join(" and "), row = (A, digits = 0) => `(${A.map((x) => write(x, digits)).join(", ")})`;
    const terms = (a, b, digits) => a.map((x, i) => `${write(x, digits)}·${write(b[i], 0)}`).join(" + ");
    const [kind, a, b, c] = M.some(({ act }) => act && act === state.cell) ? state.cell.split(":").map((part, i) => (i ? Number(part) : part)) : [], half = (g, i) => bold(owner(g, i)) + (right ? "" : ` (half ${origin(right, g, i, 0)[1] / k + 1})`);
    let caption;
    if (LETTERS.includes(kind)) {
      const m = LETTERS.indexOf(kind), name = `[${kind}|$${kind.toUpperCase()}$]`, value = `[${kind}|**${now.wide[m][a][b]}**]`, [g, i, j] = deal(right, a, b), home = deal(true, a, b);
      frame("now", rect(P.wide[m], a, b));
      if (act) frame("there", kind === "k" ? rect(P.heads[g].k, j, i) : rect(P.heads[g][kind], i, j));
      else frame("row", rect(P.X, a, 0, 1, d), "r"), frame("column", rect(P.W[m], 0, b, d), kind);
      caption = !act ? `Row ${bold(a)} of $X$ times column **${b + 1}** of [${kind}|$W_${kind.toUpperCase()}$]: ${terms(now.X[a], kernels[m].map((line) => line[b]), 0)} = ${value}.`
        : `This ${value} is number ${b + 1} of ${name} of ${bold(a)}. ${right ? `Head ${g + 1} gets it, in the row of ${bold(a)}.` : g === home[0] && i === home[1] ? "It is in its place, by chance." : `It belongs to head ${home[0] + 1}, ${bold(a)}; here it is in head ${g + 1}, in row ${i + 1}.`}`;
    } else if (kind === "A") {
      const H = P.heads[a];
      frame("row", rect(H.q, b, 0, 1, k), "q"), frame("column", rect(H.k, 0, c, k), "k"), frame("now", rect(H.A, b, c));
      caption = `${half(a, b)} asks ${half(a, c)}: [q|${row(now.split[0][a][b])}] · [k|${row(now.split[1][a][c])}] ÷ √${k} = ${write(now.scores[a][b][c])}. The softmax of the row makes it [a|**${write(now.A[a][b][c])}**].`;
    } else if (kind === "Y") {
      const H = P.heads[a];
      frame("row", rect(H.A, b, 0, 1, n), "a"), frame("column", rect(H.v, 0, c, n), "v"), frame("now", rect(H.Y, b, c));
      caption = `Weights of row ${b + 1} times [v|values]: ${terms(now.A[a][b], now.split[2][a].map((line) => line[c]), 2)} = [v|**${write(now.Y[a][b][c])}**].`;
    } else if (kind === "J") {
      const [g, i, j] = deal(right, a, b);
      frame("there", rect(P.heads[g].Y, i, j)), frame("now", rect(P.J, a, b));
      caption = `Number ${b + 1} of ${bold(a)} is number ${j + 1} of row ${i + 1} of **head ${g + 1}**${right ? "" : `: an answer to ${half(g, i)}`}.`;
    } else if (kind === "O") {
      frame("row", rect(P.J, a, 0, 1, h * k), "v"), frame("column", rect(P.WO, 0, b, h * k), "r"), frame("now", rect(P.O, a, b));
      caption = `Row ${bold(a)} times column ${b + 1} of $W_O$: ${terms(now.J[a], WO.map((line) => line[b]), 2)} = **${write(now.O[a][b])}**.`;
    } else {
      const whole = (key, p, count) => frame(key, rect(p, follow, 0, 1, count));
      if (!step) whole("row", P.X, d);
      if (step === PROJECT || step === SPLIT) LETTERS.forEach((letter, m) => whole(letter, P.wide[m], h * k));
      if (step >= JOIN) whole("row", P.J, h * k);
      if (step === OUT) whole("now", P.O, d);
      if (act === 1) groups.forEach((g) => {
        const mine = range(n).filter((i) => owner(g, i) === follow), H = P.heads[g], [i] = mine, count = mine.length;
        if (!count) return;
        if (step < MIX) frame(`q${g}`, rect(H.q, i, 0, count, k));
        if (step === SPLIT) frame(`k${g}`, rect(H.k, 0, i, k, count)), frame(`v${g}`, rect(H.v, i, 0, count, k));
        if (step >= LOOK) frame(`A${g}`, rect(H.A, i, 0, count, n));
        if (step === MIX) frame(`Y${g}`, rect(H.Y, i, 0, count, k));
      });
      const F = bold(follow), home = deal(false, follow, 0)[0], inside = groups.map((g) => range(n).filter((w) => deal(false, w, 0)[0] === g)), near = list(inside[home]), far = list(inside.filter((_, g) => g !== home).flat());
      const rows = groups.map((g) => range(n).filter((i) => now.split.some((A, m) => A[g][i].some((x, j) => !same(x, before.split[m][g][i][j])))));
      const out = range(n).filter((w) => now.O[w].some((x, c) => !same(x, before.O[w][c]))), still = range(n).filter((w) => !out.includes(w)), hit = Math.max(0, rows.findIndex((all) => all.length));
      const best = groups.map((g) => `${list(range(n).filter((w) => same(now.A[g][follow][w], Math.max(...now.A[g][follow]))))} ([a|${write(Math.max(...now.A[g][follow]))}]) in head ${g + 1}`), result = `(${now.O[follow].map((x) => write(x)).join(", ")})`;
      const moved = out.length === n ? `All ${n} words move: each of them has heard of ${bold(third)}.` : `Only ${list(out)} move. ${list(still)} never hear of ${bold(third)}: the sentence is cut in two.`;
      const replaced = [
        `**${first[third]}** became ${bold(third)}: one row of $X$. A dot marks every number that moves.`,
        "One row of [q|$Q$], [k|$K$] and [v|$V$] moves: a projection looks at one word at a time.",
        right ? `In both heads row ${rows[0].map((i) => i + 1)} moves, the row of ${bold(third)}, and no other.` : `In head ${hit + 1} rows ${rows[hit].map((i) => i + 1).join(" and ")} move, where ${list(rows[hit])} belong. The other head does not notice.`,
        right ? `In both heads ${bold(third)} asks anew, and every word weighs it anew.` : `In head ${hit + 1} every row moves, in the other head none: it knows nothing of ${bold(third)}.`,
        right ? "Every answer of both heads moves." : `Half of the answers move, and all of them are in head ${hit + 1}.`,
        `Joined. ${moved}`, moved,
      ];
      const plain = [
        `Four words, four numbers each. **One** wide matrix is there for all [q|queries], one for all [k|keys], one for all [v|values].`,
        `Three products, and no heads yet. The first half of a row is meant for head 1, the second half for head 2.`,
        right ? `The cut runs between **columns**: each head gets two numbers of every word. ${F} is in both heads.` : `The same shape, and no error. But the cut runs between **words**: ${F} is in head ${home + 1} only, folded into two rows.`,
        right ? `Each head asks on its own: ${F} looks most at ${best.join(", at ")}.` : `Halves ask halves. ${F} can find only ${near}; ${far} are in the other head.`,
        right ? `${F} gets [v|${row(now.Y[0][follow], 2)}] from head 1 and [v|${row(now.Y[1][follow], 2)}] from head 2: two answers to two questions.` : `Mixed are halves of ${near}. Both answers to ${F} come from head ${home + 1}.`,
        right ? `Joined: what the heads found out for a word stands side by side, in its row.` : `The same slip on the way back, row by row: a head fills whole rows. Again the shape is right.`,
        right ? `$W_O$ mixes: each number of the output takes from both heads. ${F} is now **${result}**.` : `The shape is right, the numbers are not. ${F} is now **${result}**, and never heard of ${far}.`,
      ];
      caption = (changed ? replaced : plain)[step];
    }
    // What is heard: the numbers of this step, row by row.
    const beside = (all) => range(all[0].length).map((i) => all.flatMap((A) => A[i])), name = (letters, count) => letters.flatMap((letter) => range(count).map((c) => `${letter} ${c + 1}`));
    const [numbers, columns] = [
      [now.X, name(["X"], d)], [beside(now.wide), name(["Q", "K", "V"], h * k)], [beside(groups.flatMap((g) => now.split.map((A) => A[g]))), name(groups.flatMap((g) => ["Q", "K", "V"].map((letter) => `Head ${g + 1}, ${letter}`)), k)],
      [beside(now.A), name(groups.map((g) => `Head ${g + 1}, weight`), n)], [beside(now.Y), name(groups.map((g) => `Head ${g + 1}, answer`), k)], [now.J, name(["Joined"], h * k)], [now.O, name(["Output"], d)],
    ][step];
    return { marks: M, height: Math.max(...range(3).map((a) => layout(a, W).height)), caption, table: { caption: chapters[step], rows: act === 1 ? range(n).map((i) => `Row ${i + 1}`) : words, columns, values: numbers } };
  }

  const chapters = ["X", "project", "split", "attend", "mix", "join", "out"];
  return {
    lead: "Follow a word through both heads, tap any number, then switch to the wrong cut.",
    start: { reshape: "right", word: 0, follow: third, cell: "" },
    keep: ["reshape", "word", "follow"],
    chapters,
    options: [
      { name: "reshape", label: "Reshape", values: [["right", "right"], ["wrong", "wrong"]] },
      { name: "word", label: "Word 3", values: [[0, first[third]], [1, other]] },
    ],
    draw,
    pause: () => 4200,
    move: (state) => Object.assign(state, { cell: "" }),
    press(state, [what, ...at]) {
      const cell = [what, ...at].join(":");
      Object.assign(state, what === "word" ? { follow: Number(at[0]), cell: "" } : { cell: state.cell === cell ? "" : cell });
    },
  };
});
