// Versions 0 to 6 of attention on one sentence: what goes in, who looks where, which noun gets the votes.
nlp104.scene("evolution", (data, { sum, range, transpose, multiply, most, softmax, write, area, label, token, matrix }) => {
  const names = ["V0 additive", "V1 dot product", "V2 scaled", "V3 many queries", "V4 cross-attention", "V5 self-attention", "V6 multi-head"].slice(0, data.versions.length);
  const NEW = [["weights"], ["weights"], ["weights"], ["Q"], ["K", "V"], ["Q"], ["heads"]]; // what a version adds, framed
  const it = data.words.indexOf("it"), root = Math.sqrt, ROWS = names.length > 5 ? 5 : names.length > 3 ? 2 : 1; // at most

  // Everything that a version computes: one entry for each head.
  function compute({ step, ending }) {
    const X = data.endings[ending], words = [...data.words, ending], { weights, questions } = data.versions[step];
    const asked = questions && (step < 3 ? [questions[ending === "wide" ? 1 : 0]] : questions);
    const rows = asked ? (step < 3 ? [`${ending}?`] : ["tired?", "wide?"]) : words;
    const one = (W) => {
      const Q = asked ?? multiply(X, W[0]), [WK, WV] = asked ? W : W.slice(1);
      const K = step > 3 ? multiply(X, WK) : X, V = step > 3 ? multiply(X, WV) : X;
      let scores = multiply(Q, transpose(K));
      if (step === 0) {
        const [Wq, Wx, w] = W, inputs = multiply(X, Wx);
        scores = multiply(Q, Wq).map((q) => inputs.map((x) => sum(w.map(([share], u) => Math.tanh(q[u] + x[u]) * share))));
      } else if (step > 1) scores = scores.map((row) => row.map((x) => x / root(Q[0].length)));
      const A = scores.map(softmax);
      return { Q, K, V, WQ: asked ? null : W[0], WK: step > 3 ? WK : null, WV: step > 3 ? WV : null, A, Y: multiply(A, V) };
    };
    const heads = step < 6 ? [one(weights)] : range(2).map((h) => one(weights.slice(0, 3).map((w) => w[h])));
    const output = heads.map(({ Y }, h) => (step < 6 ? Y : multiply(Y, weights[3][h]))); // each head's part of the sum
    return { X, words, rows, heads, output };
  }
  const followed = (state, { rows }) => (rows.length === 5 ? (state.row < 0 ? it : state.row) : rows.length === 2 ? (state.ending === "wide" ? 1 : 0) : 0);
  const votes = (C, row) => data.nouns.map((_, n) => C.output.map((Y) => Y[row][n]));

  function draw(state, W) {
    const C = compute(state), { step } = state, slim = W < 560, head = step === 6 ? state.head : 0, H = C.heads[head], row = followed(state, C);
    const M = [], size = slim ? 12 : 13, rh = 30, tiny = W < 320 ? 8 : slim ? 9 : 11, wide = W < 320 ? 9 : slim ? 10 : 12, pw = slim ? 66 : 72, depth = data.features.length, fresh = NEW[step];
    const outlined = (x, y, w, h) => M.push(area("new", { x: x - 5, y: y - 5, w: w + 10, h: h + 10 }, { outline: true, concept: "a", radius: 8, layer: 2 }));

    // Left: X, and where a version has them W_Q, W_K, W_V above their products.
    // On a phone what follows moves up where a version has none, and the room for them is left at the end.
    const top = 30, reserved = names.length > 4 ? depth * tiny + (slim ? 34 : 40) : 0, yX = top + (slim && step < 4 ? 0 : reserved);
    C.words.forEach((word, i) => M.push(token(`x${i}`, { x: 0, y: yX + i * rh + 3, w: pw, h: rh - 6 }, { word, size })));
    M.push(matrix("X", C.X, { x: pw + 4, y: yX, w: tiny, h: rh, max: 1, numbers: false }), label("lX", pw + 4, yX - 14, "$X$", { size: 17, concept: "r" }));
    const between = slim ? 14 : 16, at = {};
    let x = pw + 4 + depth * tiny + between;
    for (const letter of ["Q", "K", "V"]) {
      const kernel = H[`W${letter}`], concept = letter.toLowerCase(), product = H[letter];
      if (!kernel) continue;
      M.push(matrix(`W${letter}`, kernel, { x, y: top, w: wide, h: tiny, concept, max: most(kernel), numbers: false }), label(`lW${letter}`, x + 2 * wide, top - 15, `$W_${letter}$`, { size: 16, concept, anchor: "middle" }));
      M.push(matrix(letter, product, { x, y: yX, w: wide, h: rh, concept, max: most(product), numbers: false }), label(`l${letter}`, x + 2 * wide, yX - 14, `$${letter}$`, { size: 17, concept, anchor: "middle" }));
      at[letter] = x;
      x += 4 * wide + between;
    }
    const views = fresh.filter((letter) => letter in at).map((letter) => at[letter]);
    if (views.length) outlined(views[0], top - 22, views.at(-1) - views[0] + 4 * wide, yX - top + 5 * rh + 22);

    // Middle: who looks where.
    const x0 = slim ? 0 : Math.min(386, W - 312), y0 = slim ? yX + 5 * rh + (names.length > 6 ? 40 : 34) : top, cw = slim ? (W - pw - 6) / 5 : 47, yA = y0 + 26, xA = x0 + pw + 6;
    if (step === 6) ["1", "2"].forEach((name, h) => M.push(token(`head${h}`, { x: x0 + h * 34, y: y0 - 6, w: 30, h: 28 }, { word: name, size: 13, chosen: h === head, act: `head:${h}`, at: `h:0:${h}`, first: h === head, pressed: h === head, says: `Head ${name}` })));
    if (step === 6) outlined(x0, y0 - 6, 64, 28);
    C.words.forEach((word, j) => M.push(token(`c${j}`, { x: xA + j * cw, y: y0, w: cw, h: 22 }, { word, size: 12, bare: true })));
    C.rows.forEach((name, i) => M.push(token(`r${i}${C.rows.length}`, { x: x0, y: yA + i * rh + 3, w: pw, h: rh - 6 }, { word: name, size, chosen: i === row, act: C.rows.length > 1 ? `row:${i}` : undefined, at: `r:${i}:0`, first: i === row, pressed: i === row, says: `Query of ${name}`, hit: { x: x0, y: yA + i * rh, w: pw, h: rh } })));
    M.push(matrix(`A${head}`, H.A, { x: xA, y: yA, w: cw, h: rh, concept: "a", max: 1, digits: 2, size: 12 }));
    M.push(area("row", { x: xA - 2, y: yA + row * rh - 1, w: 5 * cw + 4, h: rh + 2 }, { outline: true, concept: "ink", radius: 7, layer: 2 }));
    if (fresh.includes("weights")) outlined(x0, yA - 2, pw + 6 + 5 * cw, rh + 4);
    if (step === 3) outlined(x0, yA - 2, pw, 2 * rh + 4);

    // Right: what comes out, as votes for a noun; of several heads each has its part.
    const tally = votes(C, row), best = tally.map(sum), winner = Math.max(...best), clear = best.filter((v) => v > winner - 0.05).length === 1 && winner > 0.2;
    const xV = x0, yV = yA + (slim ? C.rows.length : ROWS) * rh + 34, scale = (slim ? W : W - x0) - pw - 60;
    M.push(label("lv", xV, yV - 16, `what **${C.rows[row].replace("?", "")}** takes over: votes for a noun`, { size, muted: true }));
    data.nouns.forEach((noun, n) => {
      const y = yV + n * 26, wins = clear && best[n] === winner;
      M.push(token(`n${n}`, { x: xV, y: y + 2, w: pw, h: 22 }, { word: noun, size, chosen: wins }));
      let end = xV + pw + 6;
      tally[n].forEach((part, h) => {
        M.push(area(`v${n},${h}`, { x: end, y: y + 6, w: Math.max(0, (part / 1.6) * scale - 1), h: 14 }, { concept: "v", strength: h ? 0.45 : 0.9, radius: 2, layer: 1 }));
        end += (part / 1.6) * scale;
      });
      M.push(label(`t${n}`, end + 8, y + 13, write(best[n]), { size, strong: wins, muted: !wins }));
    });
    const name = `**${C.rows[row].replace("?", "")}**`, seen = H.A[row], peak = seen.indexOf(Math.max(...seen)), noun = data.nouns[best.indexOf(winner)];
    const captions = [
      `Somebody outside asks: what here can be ${name}? A small network scores every word, and the answer is their mean. It finds **${C.words[peak]}** ([a|**${write(seen[peak])}**]), but only because the question already says that it ${state.ending === "wide" ? "is a place" : "lives"}.`,
      `A score is a dot product now: nothing to learn, one multiplication. With long vectors it is all or nothing: [a|**${write(seen[peak])}**] for **${C.words[peak]}**, and where the softmax is so sure, hardly anything can still be learned.`,
      `Divided by √8 the scores are calmer: **${C.words[peak]}** gets [a|**${write(seen[peak])}**], the others keep a share, and a mistake can still be mended.`,
      `A matrix of queries: both questions are answered by one product, and no row notices the other. Still they come from outside.`,
      `Words are found by one view of them, the [k|key], and hand over another, the [v|value]. What comes out are no inputs any more, but votes.`,
      row === it ? `Every word asks for itself. **it** looks for an adjective and finds **${state.ending}** ([a|**${write(seen[peak])}**]). Now it knows that it ${state.ending === "wide" ? "is a place: street or bridge? The two tie" : "lives: animal or dog? The two tie"}.` : `Every word asks for itself: ${name} looks most at **${C.words[peak]}** ([a|**${write(seen[peak])}**]).`,
      row === it ? `Two questions at once. Head 1 asks for an adjective, head 2 for the nouns of the sentence, and $W_O$ adds up their votes: **it** is the **${noun}** ([v|**${write(winner)}**]).` : `In head ${head + 1} ${name} looks most at **${C.words[peak]}** ([a|**${write(seen[peak])}**]).`,
    ];
    const bottom = yV + 4 * 26 + 6, spare = slim ? top + reserved - yX + (ROWS - C.rows.length) * rh : 0, height = slim ? bottom + spare : Math.max(bottom, yX + 5 * rh + 6);
    return { marks: M, height, focus: step < 6 ? [-72, bottom] : [y0, bottom], /* the equation above, too; last of all the votes */ caption: `**${names[step]}.** ${captions[step]}`, table: { caption: `Weights of ${names[step]}`, rows: C.rows, columns: C.words, values: H.A } };
  }

  // One equation for each version; what is new stands out.
  const fresh = (html, concept) => `<span class="fresh" style="--concept:var(--${concept});--concept-ink:var(--${concept}-ink)">${html}</span>`;
  const soft = (html) => `<span class="up">softmax</span>( ${html} ) `, over = (html) => `<span class="over"><span>${html}</span><span>√<span class="root">d</span></span></span>`;
  const kT = "K<sup>⊤</sup>", xT = "X<sup>⊤</sup>";
  const equations = [
    `y = ${soft(fresh('<span class="up">tanh</span>(qW<sub>q</sub> + XW<sub>x</sub>) w', "a"))} X`,
    `y = ${soft(fresh(`q ${xT}`, "a"))} X`,
    `y = ${soft(over(`q ${xT}`).replace("<span>√", '<span class="fresh" style="--concept:var(--a);--concept-ink:var(--a-ink)">√'))} X`,
    `Y = ${soft(over(`${fresh("Q", "q")} ${xT}`))} X`,
    `Y = ${soft(over(`Q ${fresh(kT, "k")}`))} ${fresh("V", "v")}`,
    `Y = ${soft(over(`${fresh("X W<sub>Q</sub>", "q")} ${kT}`))} V`,
    `Y = ${fresh("Y<sub>1</sub>", "v")} W<sub>O1</sub> + ${fresh("Y<sub>2</sub>", "v")} W<sub>O2</sub>`,
  ];
  return {
    lead: `“The animal crossed the street. It was …” Who is **it**? Choose how the sentence ends${names.length > 5 ? ", tap a word to follow its query" : ""}.`,
    start: { step: data.start, ending: "tired", row: -1, head: 0 },
    keep: ["ending"],
    chapters: names.map((name) => name.slice(0, 2)),
    options: [{ name: "ending", label: "The sentence ends with", values: Object.keys(data.endings).map((word) => [word, word]) }],
    equation: equations.slice(0, names.length).map((html, step) => `<span class="variant" data-term="${step}">${html}</span>`).join(""),
    spoken: "The equation of this version",
    lit: ({ step }) => [`${step}`],
    draw,
    pause: () => 4500,
    move: (state) => Object.assign(state, { row: -1, head: 0 }),
    press(state, [what, value]) {
      if (what === "row" && state.step > 4) state.row = Number(value);
      else if (what === "row") state.ending = Object.keys(data.endings)[value];
      else state.head = Number(value);
    },
  };
});
