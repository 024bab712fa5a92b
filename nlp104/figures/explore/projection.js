// X · W three times: a row of X meets a column of W, and their products add up to a cell.
nlp104.scene("projection", (data, { multiply, most, whole, write, range, tidy, cell, area, label, token, step, matrix, ledger }) => {
  const { tokens, features, inputs } = data, names = data.kernels.map(({ letter }) => letter);
  const concept = Object.fromEntries(names.map((letter) => [letter, letter.toLowerCase()]));
  const called = { Q: "query", K: "key", V: "value" };
  const count = tokens.length, depth = inputs[0].length;
  const start = Object.fromEntries(data.kernels.map(({ letter, values }) => [letter, values]));
  const digits = whole(inputs) && Object.values(start).every(whole) ? 0 : 1;
  const kernels = ({ edits }) => { // the weights, with what the reader has changed
    const changed = Object.fromEntries(names.map((letter) => [letter, start[letter].map((row) => [...row])]));
    for (const edit of edits.split(" ").filter(Boolean)) {
      const [letter, j, k, value] = edit.split(":");
      changed[letter][j][k] = Number(value);
    }
    return changed;
  };
  const steps = [{ kind: "all words" }];
  names.forEach((letter, m) => {
    if (!m) range(start[letter][0].length).forEach((c) => steps.push({ kind: "cell", letter, r: data.follow, c }));
    range(count).filter((r) => m || r !== data.follow).forEach((r) => steps.push({ kind: "row", letter, r }));
  });
  steps.push({ kind: "end" });
  const first = (letter, r, c) => steps.findIndex((s) => s.letter === letter && s.r === r && (s.c === undefined || s.c === c));
  const parse = (text) => (text ? { letter: text[0], r: Number(text.split(",")[0].slice(1)), c: Number(text.split(",")[1]) } : null);

  function draw(state, W) {
    const slim = W < 560, now = steps[state.step], W_ = kernels(state), order = state.order.split(",").map(Number);
    const places = order.map((_, word) => order.indexOf(word)); // of each word, its row
    const results = Object.fromEntries(names.map((letter) => [letter, multiply(inputs, W_[letter])]));
    const chosen = parse(state.cell) ?? (now.letter && { ...now, r: order[now.r] });
    const end = now.kind === "end" && !state.cell, letter = chosen?.letter ?? names[0];
    const size = slim ? 12 : 13, pw = slim ? 52 : 74, wh = slim ? 28 : 30, rh = slim ? 34 : 36, top = 30, gap = 54;
    const yR = top + depth * wh + gap, X0 = pw + (slim ? 4 : 8), sum = (widths) => widths.reduce((a, b) => a + b, 0);
    const columns = Object.fromEntries(names.map((name) => [name, W_[name][0].length]));
    const known = (name, word, c) => state.step >= first(name, places[word], c) || (chosen && chosen.letter === name && chosen.r === word && chosen.c === c);

    // Widths: rows never leave their word; the matrix in question is wide, the others wait narrow.
    const thin = 15, x = {}, w = {};
    let xw = thin;
    const between = slim ? 8 : 28, shown = slim ? [letter] : names;
    if (end) {
      const room = W - X0 - (slim ? 0 : depth * thin + between) - 20 * (names.length - 1);
      names.forEach((name) => (w[name] = room / sum(names.map((n) => columns[n]))));
    } else {
      const rest = shown.filter((name) => name !== letter);
      const unit = (W - X0 - between - 20 * rest.length - thin * sum(rest.map((n) => columns[n]))) / (depth + 1.12 * columns[letter]);
      xw = Math.min(46, unit);
      shown.forEach((name) => (w[name] = name === letter ? Math.min(54, 1.12 * unit) : thin));
    }
    let next = X0 + (end && slim ? 0 : depth * xw + between);
    (end ? names : shown).forEach((name) => {
      x[name] = next;
      next += columns[name] * w[name] + 20;
    });
    const row = (word) => yR + places[word] * rh, M = [];

    range(count).forEach((word) => M.push(token(`t${word}`, { x: 0, y: row(word) + 4, w: pw, h: rh - 8 }, {
      word: tokens[word], size: slim ? 12 : 14, chosen: chosen?.r === word && !end, act: `swap:${word}`, at: `t:${places[word]}:0`, first: !places[word],
      says: `${tokens[word]}, row ${places[word] + 1}. Press to move it one place down.`,
    })));
    if (!(end && slim)) {
      range(count).forEach((word) => M.push(matrix(`X${word}-`, [inputs[word]], { x: X0, y: row(word), w: xw, h: rh, max: most(inputs), digits, size, faint: chosen && !end && chosen.r !== word })));
      M.push(label("X", X0, yR - 14, `$X$`, { size: 18, concept: "r" }), !end && label("Xs", X0 + 22, yR - 14, `${count} × ${depth}`, { size, muted: true }));
    }
    for (const name of end ? names : shown) {
      const c = concept[name], active = name === letter && !end, all = W_[name], middle = x[name] + (columns[name] * w[name]) / 2;
      if (!(end && slim)) M.push(matrix(`W${name}`, all, {
        x: x[name], y: top, w: w[name], h: wh, concept: c, max: most(all), digits, size,
        of: (j, k) => ({ faint: end || (active && chosen && chosen.c !== undefined && chosen.c !== k), ...(active && {
          act: `weight:${name}:${j}:${k}`, at: `w:${j}:${k}`, first: !j && !k, pressed: state.weight === `${name}:${j}:${k}`,
          says: `Weight of ${name}, ${features[j] ?? `row ${j + 1}`}, column ${k + 1}: ${write(all[j][k], digits)}. Press to change it.`,
        }) }),
      }), label(`lW${name}`, middle, top - 16, `$W_${name}$`, { size: 18, concept: c, anchor: "middle" }));
      range(count).forEach((word) => M.push(matrix(`${name}${word}-`, [results[name][word]], {
        x: x[name], y: row(word), w: w[name], h: rh, concept: c, max: most(results[name]), digits, size: slim ? 12 : 14,
        of: (_, k) => ({
          known: known(name, word, k), act: `cell:${name}${word},${k}`, at: `${name}:${places[word]}:${k}`, first: !places[word] && !k, pressed: chosen?.letter === name && chosen.r === word && chosen.c === k,
          says: `${name}, ${tokens[word]}, column ${k + 1}${known(name, word, k) ? `: ${write(results[name][word][k], digits)}` : ""}`,
        }),
      })));
      M.push(label(`l${name}`, middle, yR - 14, `$${name}$`, { size: 18, concept: c, anchor: "middle" }));
    }
    // A word's features are written beside the rows of W that they meet.
    if (!end && !slim && features.length) range(depth).forEach((j) => M.push(label(`f${j}`, x[names[0]] - 8, top + (j + 0.5) * wh, features[j], { anchor: "end", size: 12, muted: !chosen || !inputs[chosen.r][j] })));

    if (chosen && !end) {
      const c = concept[letter], all = W_[letter], y = row(chosen.r), right = x[letter] + columns[letter] * w[letter];
      const one = chosen.c !== undefined, from = x[letter] + (one ? chosen.c : 0) * w[letter], wide = one ? w[letter] : right - x[letter];
      M.push(area("row", { x: X0 - 4, y: y - 1, w: (one ? from + w[letter] : right) - X0 + 8, h: rh + 2 }, { strength: 0.13, radius: 7 }));
      M.push(area("column", { x: from - 2, y: top - 3, w: wide + 4, h: y + rh + 6 - top }, { concept: c, strength: 0.15, radius: 7 }));
      const limit = slim || !features.length ? X0 + depth * xw : x[names[0]] - 84;
      const ys = range(depth).map((j) => top + (j + 0.5) * wh);
      M.push(label("what", 0, top - 16, one ? `row **${tokens[chosen.r]}** · column **${chosen.c + 1}**` : `row **${tokens[chosen.r]}** · every column`, { size, muted: true }));
      if (one) {
        M.push(area("now", { x: from, y, w: w[letter], h: rh }, { outline: true, concept: c, layer: 2 }));
        M.push(ledger(`L${letter}`, { x: 0, width: limit - 6, ys, y: top + depth * wh + 14, a: inputs[chosen.r], b: all.map((weights) => weights[chosen.c]), concepts: ["r", c, c], digits: [digits, digits, digits], size, total: results[letter][chosen.r][chosen.c] }));
      } else results[letter][chosen.r].forEach((value, k) => {
        const space = (depth * wh) / columns[letter], yk = top + (k + 0.5) * space;
        M.push(label(`C${k}`, 0, yk, `$x$ · [${c}|column ${k + 1}]`, { size }), label(`V${k}`, slim ? 128 : 150, yk, write(value, digits), { anchor: "end", size: size + 1, strong: true, concept: c }));
      });
    } else if (!end) names.forEach((name, i) => M.push(label(`F${name}`, 0, top + depth * wh * (0.25 + 0.25 * i), `[${concept[name]}|$${name}$] $=$ $X$ [${concept[name]}|$W_${name}$]`, { size: slim ? 19 : 24 })));

    // The weight in the reader's hand.
    if (state.weight && !end) {
      const [name, j, k] = state.weight.split(":");
      if (shown.includes(name)) {
        const at = { x: x[name] + k * w[name], y: top + j * wh };
        M.push(area("held", { ...at, w: w[name], h: wh }, { outline: true, concept: "ink", layer: 2 }));
        ["−", "+"].forEach((word, i) => M.push(token(`h${i}`, { x: at.x + w[name] / 2 - 38 + 42 * i, y: at.y + (Number(j) < depth - 1 ? wh + 2 : -wh - 2), w: 34, h: 30 }, { word, layer: 2, act: `change:${i ? 1 : -1}`, at: `h:0:${i}`, first: !i, says: i ? "more" : "less" })));
      }
    }

    const vector = (name, word) => `(${results[name][word].map((v) => write(v, digits)).join(", ")})`;
    let caption;
    if (state.weight && !end) {
      const [name, j, k] = state.weight.split(":"), met = range(count).filter((word) => inputs[word][j]);
      caption = `This weight of [${concept[name]}|$W_${name}$] is **${write(W_[name][j][k], digits)}**. It acts on column **${Number(k) + 1}** of [${concept[name]}|$${name}$], and only in words that have some of “${features[j] ?? `feature ${Number(j) + 1}`}”: **${met.map((word) => tokens[word]).join(", ") || "none here"}**.`;
    } else if (state.swapped && !chosen) caption = `The words stand in another order, and each one's row moved with it, number for number. A projection looks at **one word at a time**; it does not know where a word stands.`;
    else if (chosen && !end && chosen.c !== undefined) caption = `Row **${tokens[chosen.r]}** of $X$ meets column **${chosen.c + 1}** of [${concept[letter]}|$W_${letter}$]: ${depth} products add up to [${concept[letter]}|**${write(results[letter][chosen.r][chosen.c], digits)}**], one number of the ${called[letter]} of **${tokens[chosen.r]}**.`;
    else if (chosen && !end) caption = { Q: `The same columns, now with row **${tokens[chosen.r]}**: its whole [q|query] is [q|**${vector("Q", chosen.r)}**].`, K: `A second matrix, [k|$W_K$], makes of the same row a [k|key]: **${tokens[chosen.r]}** gets [k|**${vector("K", chosen.r)}**].`, V: `A third matrix, [v|$W_V$], makes the [v|value]: **${tokens[chosen.r]}** will hand on [v|**${vector("V", chosen.r)}**].` }[letter];
    else if (end) caption = "From the same row of $X$ each word now has a [q|**query**] (what it looks for), a [k|**key**] (what it can be found as) and a [v|**value**] (what it hands on).";
    else caption = `${count} words, ${depth} numbers each. Three matrices will read the same rows of $X$ in three ways. Press play, or tap any cell of [q|$Q$].`;
    const shape = end ? names : [letter];
    return {
      marks: M, height: yR + count * rh + 6, caption,
      table: { caption: shape.join(", "), rows: order.map((word) => tokens[word]), columns: shape.flatMap((name) => range(columns[name]).map((k) => `${name} ${k + 1}`)), values: order.map((word) => shape.flatMap((name) => results[name][word].map((v, k) => (known(name, word, k) ? v : null)))) },
    };
  }

  return {
    lead: "Tap a cell of a result to see what makes it, a weight to change it, a word to move it.",
    start: { cell: "", weight: "", edits: "", order: range(count).join(), swapped: false },
    chapters: steps.map(({ kind, letter }) => (kind === "all words" ? "$X$" : kind === "end" ? "all three" : `$${letter}$`)),
    draw,
    pause: (state) => ({ cell: 3000, row: 1900 })[steps[state.step].kind] ?? 1600,
    move: (state) => Object.assign(state, { cell: "", weight: "" }),
    press(state, [what, a, b, c]) {
      if (what === "cell") Object.assign(state, { cell: `${a}`, weight: "" });
      else if (what === "weight") {
        const met = range(count).filter((word) => inputs[word][b]); // follow it into a word that it acts on
        state.weight = state.weight === `${a}:${b}:${c}` ? "" : `${a}:${b}:${c}`;
        state.cell = `${a}${met.includes(data.follow) || !met.length ? data.follow : met[0]},${c}`;
      }
      else if (what === "swap") {
        const order = state.order.split(","), place = order.indexOf(a), other = (place + 1) % order.length;
        [order[place], order[other]] = [order[other], order[place]];
        Object.assign(state, { order: order.join(), swapped: true, cell: "", weight: "" });
      } else {
        const [letter, j, k] = state.weight.split(":"), value = kernels(state)[letter][j][k] + Number(a) * (digits ? 0.5 : 1);
        const others = state.edits.split(" ").filter((edit) => edit && !edit.startsWith(`${state.weight}:`));
        state.edits = [...others, `${state.weight}:${tidy(value)}`].join(" ");
      }
    },
  };
});
