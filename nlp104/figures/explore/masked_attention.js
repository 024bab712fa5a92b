// A decoder writes: with every word the matrix of its self-attention gets a row and a column.
nlp104.scene("masked_attention", (data, { sum, range, softmax, write, cell, area, label, token, line, step, matrix, shares }) => {
  const words = data.tokens, count = words.length; // the first one is padding on the left
  const steps = [...range(count - 1).map((i) => ({ newest: i + 1 })), { newest: count - 1, all: true }];

  // What each row of the matrix is made of, in one state.
  function rows({ step: at, future, padding, when, head }) {
    const { newest } = steps[at], first = padding === "on" ? 0 : 1, places = range(newest - first + 1, first);
    return places.map((i) => {
      const hidden = places.map((j) => j === 0 || (future === "hidden" && j > i));
      const scores = places.map((j) => data.scores[head][i][j]);
      const masked = scores.map((score, b) => (hidden[b] ? -Infinity : score)), all = softmax(scores);
      const weights = when === "before" ? softmax(masked) : all.map((weight, b) => (hidden[b] ? 0 : weight));
      const ahead = places.map((j, b) => j > i && !hidden[b]);
      return { i, places, hidden, scores, masked, all, weights, ahead, total: sum(weights), leak: sum(weights.filter((_, b) => ahead[b])), empty: hidden.every(Boolean) };
    });
  }
  // How much of a row's weight lies on the very word that it has to write.
  const copied = ({ i, places, ahead, weights }) => sum(weights.filter((_, b) => ahead[b] && words[places[b]] === data.next[i]));
  // The row that is followed: the reader's, or the one that shows most of what is wrong, or the newest.
  function shown(state, R) {
    const by = (value) => R.reduce((best, row) => (value(row) > value(best) ? row : best));
    return R.find(({ i }) => i === state.row) ?? R.find(({ empty }) => empty)
      ?? (state.when === "after" ? by(({ total }) => -total) : state.future === "visible" ? by(copied) : (steps[state.step].all && R.at(-3)) || R.at(-1));
  }

  function draw(state, W) {
    const R = rows(state), { newest, all } = steps[state.step], places = R[0].places, traced = shown(state, R), slim = W < 560;
    const most = state.padding === "on" ? count : count - 1, first = count - most, size = slim ? 12 : 13.5, M = [];
    // Columns: word · matrix · bar · sum · the word to be written.
    const long = (tokens) => 6.6 * Math.max(...tokens.map((word) => word.replace(/^\[|\]$/g, "").length)); // of small letters
    const pill = (tokens) => (slim ? Math.min(54, Math.max(50, long(tokens) + 14)) : 84), pw = pill(words), next = pill(data.next), gap = slim ? 8 : 28, sumWidth = slim ? 0 : 56;
    const room = W - pw - next - gap - sumWidth - (slim ? 12 : 28);
    const cw = Math.min(58, (slim ? room - Math.max(30, 0.24 * room) : 0.64 * room) / most), bar = Math.min(220, room - cw * most);
    const x = pw + 6, xBar = x + most * cw + gap, xNext = xBar + bar + sumWidth + (slim ? 6 : 22);
    const tight = cw < 30, turn = cw < long(words.slice(first)) + 3; // on the smallest phones: .97, and words that stand upright
    const number = (value, digits) => (tight || (digits === 1 && cw < 34) ? write(value, digits - (digits === 1)).replace("0.", ".").replace("1.00", "1") : write(value, digits));
    const top = (slim ? 52 : 58) + (turn ? 14 : 0), rh = slim ? 31 : 36, y = (i) => top + (i - first) * rh, cx = (j) => x + (j - first) * cw, yTrace = top + most * rh + (slim ? 14 : 26), low = slim ? 24 : 26;

    M.push(label("h0", x, 12, all ? "the whole sentence at once" : "written so far", { size: 13, muted: true }));
    M.push(label("h1", xBar + bar / 2, top - 20, slim ? "sum" : "sum of the row", { size: slim ? 12 : 13, muted: true, anchor: "middle" }));
    M.push(label("h2", xNext + next / 2, top - 20, slim ? "next" : "must write", { size: slim ? 12 : 13, muted: true, anchor: "middle" }));
    R.forEach(({ i, weights, hidden, ahead, total }) => {
      const chosen = i === traced.i, off = Math.abs(total - 1) > 0.005, middle = y(i) + rh / 2;
      M.push(token(`r${i}`, { x: 0, y: y(i) + 4, w: pw, h: rh - 8 }, { word: words[i], size: slim ? 12 : 14, chosen, act: `row:${i}`, at: `r:${i}:0`, first: chosen, pressed: chosen, says: `Row ${words[i]}` }));
      M.push(token(`c${i}`, { x: cx(i) + 1, y: 24, w: cw - 2, h: top - (turn ? 26 : 30) }, { word: words[i], size: slim ? 12 : 13.5, bare: true, turn }));
      places.forEach((j, b) => M.push(cell(`w${i},${j}`, { x: cx(j), y: y(i), w: cw, h: rh, value: weights[b] }, {
        concept: "a", max: 0.9, digits: 2, size, hidden: hidden[b], text: hidden[b] ? "0" : number(weights[b], 2), leak: ahead[b], act: `row:${i}`, at: `w:${i}:${j}`, says: `${words[i]} looks at ${words[j]}: ${hidden[b] ? "0, hidden" : write(weights[b])}`,
      })));
      const answer = places.findIndex((j, b) => ahead[b] && words[j] === data.next[i]);
      if (answer >= 0) M.push(area(`answer${i}`, { x: cx(places[answer]), y: y(i), w: cw, h: rh }, { outline: true, concept: "ink", radius: 5, layer: 2 }));
      const high = slim ? 8 : 14, yBar = slim ? middle + 5 : middle - 7;
      M.push(area(`b${i}`, { x: xBar, y: yBar, w: bar, h: high }, { strength: 0.1, radius: 3 }));
      if (off) M.push(area(`lost${i}`, { x: xBar + total * bar, y: yBar, w: Math.max(0, (1 - total) * bar), h: high }, { hatch: true, radius: 3, layer: 1 }));
      M.push(shares(`s${i},`, weights, { x: xBar, y: yBar, w: bar, h: high, of: (b) => (ahead[b] ? { hatch: true, leak: true } : {}) }));
      M.push(label(`t${i}`, slim ? xBar + bar / 2 : xBar + bar + 12, slim ? middle - 7 : middle, write(total), { size: slim ? 12 : 14, anchor: slim ? "middle" : "start", strong: off, muted: !off }));
      if (data.next[i]) M.push(token(`n${i}`, { x: xNext, y: y(i) + 4, w: next, h: rh - 8 }, { word: data.next[i], size: slim ? 12 : 14, muted: all || i !== newest }));
      else M.push(label(`n${i}`, xNext + next / 2, middle, "nothing", { size: 12, muted: true, anchor: "middle" }));
    });
    if (!all && newest < count - 1) M.push(area("caret", { x: cx(newest + 1) + 5, y: 28, w: 2.5, h: 18 }, { concept: "ink", radius: 1, layer: 2 }));
    M.push(area("traced", { x: x - 2, y: y(traced.i) - 1, w: places.length * cw + 4, h: rh + 2 }, { outline: true, concept: "ink", radius: 7, layer: 2 }));

    // The chosen row, line by line: the same three things in the order that was chosen.
    const before = state.when === "before";
    const lines = before
      ? [["score", traced.scores, 1], ["+ mask", traced.masked, 1], ["softmax", traced.weights, 2]]
      : [["score", traced.scores, 1], ["softmax", traced.all, 2], ["× mask", traced.weights, 2]];
    lines.forEach(([name, values, digits], n) => {
      const middle = yTrace + low * n + 13, weighted = digits === 2, total = sum(values);
      const lit = { concept: name === "softmax" ? "a" : "r" };
      M.push(slim ? label(`l${name}`, 0, middle, name, { size: 12, ...(n ? lit : { muted: true }) }) : step(`l${name}`, { x: 0, y: middle - 10.5, w: pw, h: 21 }, { source: name, size: 13, lit: n > 0, ...lit }));
      if (n) M.push(line(`rule${n}`, `M${x} ${middle - 13}H${x + places.length * cw}`));
      values.forEach((value, b) => M.push(label(`l${name}${places[b]}`, cx(places[b]) + cw / 2, middle, value === 0 && traced.hidden[b] ? "0" : number(value, digits), { size: slim ? 12 : 13, anchor: "middle", concept: weighted && value ? "a" : undefined, muted: !value || value === -Infinity })));
      if (weighted) M.push(label(`l${name}sum`, xBar, middle, `sum ${Math.abs(total - 1) > 0.005 ? `**${write(total)}**` : write(total)}`, { size: slim ? 12 : 13, muted: Math.abs(total - 1) <= 0.005 }));
    });

    const due = (i) => (data.next[i] === "." ? "the full stop" : `**${data.next[i]}**`); // not "to write .."
    const name = `**${words[traced.i]}**`, target = due(traced.i), last = R.at(-1), best = last.weights.indexOf(Math.max(...last.weights));
    let caption;
    if (traced.empty) caption = before ? `Row ${name} may look at nothing. The softmax would divide 0 by 0, so the row is set to **zeros**: it adds up to **0.00** and carries nothing.` : `Row ${name} may look at nothing: the mask takes all of its weights, so the row adds up to **0.00** and carries nothing.`;
    else if (!before && Math.abs(traced.total - 1) > 0.005) caption = `Masked too late: the softmax has shared out 1 over every word, then the mask throws **${write(1 - traced.total)}** of it away. Row ${name} keeps only **${write(traced.total)}**.`;
    else if (state.future === "visible" && traced.leak > 0) {
      const lies = `[a|**${write(traced.leak)}**] of its weight lies on words that come later`, answer = copied(traced);
      caption = data.next[traced.i] ? `A leak: row ${name} must write ${target}, and ${lies}${answer ? `, [a|**${write(answer)}**] on ${target} itself (framed)` : ""}. A model that is trained like this learns to copy.` : `A leak, though row ${name} has nothing to write: ${lies}.`;
    } else if (state.future === "visible" && newest > 1) caption = `Row ${name} comes last and has no future to see. Choose a row above it: each of them can now look ahead.`;
    else if (all) caption = `In training all **${most}** rows are computed at once. Thanks to the mask each is, number for number, the row that came out while writing.`;
    else if (newest === 1) caption = `The decoder begins with one token. Its row has a single weight, **1.00**, and it must write ${due(1)}.`;
    else caption = `**${words[newest]}** was just written: a new row and a new column. It looks most at **${words[last.places[best]]}** ([a|**${write(last.weights[best])}**]), to write ${due(newest)}. No row above it has changed.`;
    return { marks: M, height: yTrace + 3 * low + 4, caption, table: { caption: "Attention weights", rows: R.map(({ i }) => words[i]), columns: places.map((j) => words[j]), values: R.map(({ weights, hidden }) => weights.map((weight, b) => (hidden[b] ? null : weight))) } };
  }

  const heads = data.scores.length;
  return {
    lead: `A decoder writes “${words.slice(2).join(" ")}”. Each word becomes a new row and a new column. Tap a row to follow it.`,
    start: { future: "hidden", padding: "off", when: "before", head: 0, row: -1 },
    keep: ["future", "padding", "when", "head"],
    chapters: [...words.slice(1).map((word) => word.replace(/^\[(.+)\]$/, (_, sign) => sign.toLowerCase())), "training"],
    options: [
      { name: "future", label: "Future", values: [["hidden", "hidden"], ["visible", "visible"]] },
      { name: "padding", label: "Padding on the left", values: [["off", "off"], ["on", "on"]] },
      { name: "when", label: "Mask", values: [["before", "before softmax"], ["after", "after it"]] },
      ...(heads > 1 ? [{ name: "head", label: "Head", values: range(heads).map((h) => [h, `${h + 1}`]) }] : []),
    ],
    draw,
    move: (state) => (state.row = -1),
    option(state, name, value) { // something to be seen must be there
      if ((value === "visible" || value === "after") && state.step < 2) state.step = Math.min(3, steps.length - 1);
      if (name === "when" && value === "after") state.future = "hidden"; // or there is nothing to hide
      if (name === "padding") state.row = -1;
    },
    press: (state, [, row]) => (state.row = Number(row)),
  };
});
