// Eight devices and one step of training: which slice each holds, what it works on, what it sends.
nlp104.scene("devices", ({ grids, tokens: TOKENS, matrices, sizes, start }, { sum, range, area, label, token, line }) => {
  const own = (object, key, other) => (Object.hasOwn(object, key) ? key : other), exact = (x) => x.toLocaleString("en");
  const bytes = (x) => {
    const unit = x < 1e6 ? ["kB", 1e3] : x < 1e9 ? ["MB", 1e6] : ["GB", 1e9], value = x / unit[1];
    return x ? `${value < 10 ? value.toFixed(1) : exact(Math.round(value))} ${unit[0]}` : "nothing";
  };
  const GRIDS = { one: "1", rows: "8 × 1", both: "2 × 4", slices: "1 × 8" };
  const SENDS = ["embeddings", "attentions", "networks", "loss", "on the way back", "gradients"];
  const PART = ["x", "x", "x", "x", "x", "g"]; // what is summed: among a row of devices, among a column
  // Each step: its name, the matrices that are used, what X is, the exchange.
  const WHOLE = 0, CUT = 1, PARTIAL = 2, NONE = 3, WORDS = 4;
  const STEPS = [
    ["hold", "01234", NONE], ["embed", "0", WHOLE, 0],
    ["attention", "1", CUT], ["attention", "2", PARTIAL], ["attention", "", WHOLE, 1],
    ["network", "3", CUT], ["network", "4", PARTIAL], ["network", "", WHOLE, 2],
    ["words", "0", WORDS], ["words", "", WORDS, 3],
    ["back", "43210", WHOLE, 4], ["gradients", "01234", NONE, 5], ["Adam", "01234", NONE], ["the bill", "01234", NONE],
  ];

  function draw(state, W) {
    const size = own(sizes, state.size, start.size), grid = own(grids, state.grid, start.grid), which = Math.max(0, TOKENS.indexOf(Number(state.tokens))), T = TOKENS[which];
    const model = sizes[size], now = model.grids[grid], [rows, slices] = grids[grid], count = rows * slices, device = state.device >= 0 && state.device < count ? Math.floor(state.device) : 0;
    const [, used, form, exchange] = STEPS[state.step], slim = W < 560, M = [];
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size: slim ? 12 : 13, ...look }));
    const sent = now?.sent[which], words = now?.vocabulary;

    // ---------- the devices: those of a row share rows of the batch, those of a column a slice ----------
    const left = slim ? 42 : 54, gap = slim ? 6 : 10, L = slim ? W : Math.min(560, 0.62 * W), cw = (L - left - 3 * gap - 7) / 4, high = 20, pitch = 25, below = 28;
    const top = (row) => row * (34 + pitch * 6 + below), x = (column) => left + column * (cw + gap), bus = (row) => top(row) + 36 + pitch * 6;
    for (const row of range(2)) {
      put(`d${row}`, 0, top(row) + 11, "device", { muted: true, size: 12 });
      [...matrices.map(([name]) => name), "X"].forEach((name, i) => {
        const lit = now && (i < 5 ? used.includes(i) : form !== NONE);
        put(`n${row},${i}`, 0, top(row) + 28 + pitch * i + high / 2, name, { muted: !lit, strong: lit });
      });
    }
    for (const id of range(8)) {
      const column = id % 4, row = id >> 2, X = x(column), Y = top(row), on = id < count, r = Math.floor(id / slices), s = id % slices;
      if (!on) {
        M.push(area(`off${id}`, { x: X, y: Y + 28, w: cw, h: 6 * pitch - 5 }, { concept: "edge", strength: 0.07, radius: 6 }));
        continue;
      }
      M.push(token(`pill${id}`, { x: X, y: Y, w: cw, h: 22 }, { word: `${id}`, size: 13, chosen: id === device, act: `device:${id}`, at: `d:${row}:${column}`, first: id === device, pressed: id === device, says: `device ${id}`, hit: { x: X, y: Y - 4, w: cw, h: 30 } }));
      if (!now) continue;
      const slice = (key, y, h, concept, cut, part, of, strength, look) => M.push(area(key, cut ? { x: X + (part * cw) / of, y, w: cw / of, h } : { x: X, y: y + (part * h) / of, w: cw, h: h / of }, { concept, strength, radius: 1, layer: 1, ...look }));
      matrices.forEach(([, concepts, axis], i) => {
        const y = Y + 28 + pitch * i, lit = used.includes(i), whole = i === 0 && !words, h = high / concepts.length;
        M.push(area(`m${id},${i}`, { x: X, y, w: cw, h: high }, { concept: "r", strength: lit ? 0.13 : 0.07, radius: 2 }));
        concepts.forEach((concept, k) => slice(`s${id},${i},${k}`, y + k * h, h - (concepts.length > 1 ? 0.8 : 0), concept, axis, whole ? 0 : s, whole ? 1 : slices, lit ? 0.95 : 0.3));
      });
      if (form !== NONE) {
        const y = Y + 28 + pitch * 5 + 3, cut = (form === CUT || (form === WORDS && words)) && slices > 1, h = high / rows;
        M.push(area(`X${id}`, { x: X, y, w: cw, h: high }, { concept: "r", strength: 0.13, radius: 2 }));
        const place = { x: X + (cut ? (s * cw) / slices : 0), y: y + r * h, w: cut ? cw / slices : cw, h };
        M.push(area(`x${id}`, place, { concept: "r", strength: form === PARTIAL && slices > 1 ? 0.3 : 0.95, radius: 1, layer: 1 }));
        if (form === PARTIAL && slices > 1) M.push(area(`h${id}`, place, { hatch: true, radius: 1, layer: 1 }));
      }
    }

    // ---------- who tells whom: a line along all who add up ----------
    const talks = now && exchange !== undefined && sent[exchange] > 0;
    if (talks) {
      const across = PART[exchange] === "g", all = across ? slices === 1 : rows === 1, middle = (column) => x(column) + cw / 2, look = { concept: "ink", width: 3, layer: 2 };
      const end = (key, X, y, way) => M.push(line(key, `M${X - 5} ${y + way * 6}L${X} ${y}L${X + 5} ${y + way * 6}`, look));
      if (all) M.push(line("bus", `M${middle(0)} ${bus(0)}H${L - 2}V${bus(1)}H${middle(0)}`, look));
      else if (!across) for (const row of range(2)) M.push(line(`bus${row}`, `M${middle(0)} ${bus(row)}H${middle(3)}`, look));
      if (all || !across) for (const id of range(8)) M.push(line(`tick${id}`, `M${middle(id % 4)} ${bus(id >> 2)}v-10`, look)), end(`end${id}`, middle(id % 4), bus(id >> 2) - 11, 1);
      else for (const column of range(4)) M.push(line(`bus${column}`, `M${middle(column)} ${bus(0) - 10}V${top(1) - 3}`, look)), end(`up${column}`, middle(column), bus(0) - 11, 1), end(`down${column}`, middle(column), top(1) - 2, -1);
    }
    if (talks) for (const row of range(PART[exchange] === "g" && slices > 1 ? 1 : 2)) put(`sum${row}`, PART[exchange] === "g" && slices > 1 ? 0 : left + cw / 2, bus(row) + (PART[exchange] === "g" && slices > 1 ? 4 : 13), `+ ${bytes(sent[exchange])}`, { strong: true, size: 12 });
    const foot = bus(1) + 24;

    // ---------- the ledger ----------
    const P = slim ? 0 : L + 26, wide = W - P, Y = slim ? foot + 14 : 0, row = slim ? 18 : 20, total = sent ? sum(sent) : 0;
    const alone = 4 * model.grids.one.held, most = Math.max(...Object.values(model.grids).flatMap((one) => one?.sent[which] ?? []));
    put("holds", P, Y + 10, now ? `Each device holds **${bytes(4 * now.held)}**` : "Nothing is held", { size: 13 });
    M.push(area("room", { x: P, y: Y + 22, w: wide, h: 14 }, { concept: "r", strength: 0.1, radius: 2 }));
    [["weights", 1, "ink", 0.85], ["gradients", 1, "r", 0.95], ["Adam’s m and v", 2, "r", 0.45]].forEach(([name, times, concept, strength], i, list) => {
      const before = sum(list.slice(0, i).map((one) => one[1])), lit = i === 1 ? state.step > 9 : state.step === 0 || state.step > 11;
      if (now) M.push(area(`hold${i}`, { x: P + (before * now.held * wide) / alone, y: Y + 22, w: Math.max(1, (times * now.held * wide) / alone - 0.8), h: 14 }, { concept, strength, radius: 1, layer: 1 }));
      M.push(area(`sign${i}`, { x: P, y: Y + 44 + row * i, w: 10, h: 10 }, { concept, strength, radius: 2, layer: 1 }));
      put(`hold${i}:`, P + 16, Y + 49 + row * i, name, { strong: lit, muted: !lit });
      put(`hold${i}=`, P + wide, Y + 49 + row * i, now ? bytes(times * now.held) : "–", { anchor: "end", strong: lit, muted: !lit });
    });
    const B = Y + 58 + 3 * row + 6, room = 62, start2 = P + (slim ? 118 : 126);
    put("sends", P, B, now ? `Each device sends **${bytes(total)}** in a step` : "Nothing is sent", { size: 13 });
    SENDS.forEach((name, i) => {
      const y = B + 20 + row * i, lit = exchange === i || state.step === 13, done = STEPS.findIndex((step) => step[3] === i) <= state.step;
      put(`send${i}`, P, y, name, { strong: lit, muted: !lit });
      put(`send${i}=`, P + wide, y, sent ? bytes(sent[i]).replace("nothing", "–") : "–", { anchor: "end", strong: lit, muted: !lit });
      if (sent?.[i]) M.push(area(`bar${i}`, { x: start2, y: y - 6, w: Math.max(1.5, ((wide - (start2 - P) - room) * sent[i]) / most), h: 12 }, { concept: i === 5 ? "ink" : "r", strength: lit ? 0.95 : done ? 0.6 : 0.25, radius: 2, layer: 1 }));
    });
    const D = B + 20 + 6 * row + 12, r = Math.floor(device / slices), s = device % slices;
    const part = (all, i, of) => {
      const [first, last] = [(all / of) * i + 1, (all / of) * (i + 1)].map(exact);
      return of === 1 ? `all ${last}` : `${first}${first === last ? "" : `–${last}`} of ${exact(all)}`;
    };
    put("own", P, D, `Device ${device} works on`, { size: 13, strong: true });
    const mine = now ? [["tokens", part(T, r, rows)], ["heads", part(model.heads, s, slices)], ["inner units", part(model.ff, s, slices)], ["words", words ? part(model.words, s, slices) : `all ${exact(model.words)}`]] : [];
    range(4).forEach((i) => {
      put(`own${i}`, P, D + row * (i + 1), mine[i]?.[0] ?? "–", { muted: true, size: 12 });
      put(`own${i}=`, P + (slim ? 90 : 74), D + row * (i + 1), mine[i]?.[1] ?? "", { size: 12 });
    });

    // ---------- in words ----------
    const ring = slices > 1, send = exchange === undefined || !now ? 0 : sent[exchange], each = `Each device sends **${bytes(send)}**`, layers = model.layers;
    const nothing = ring ? "" : `No device waits for another here. `;
    const shared = words || !ring ? "" : ` The ${exact(model.words)} words do not divide by ${slices}, so every device holds them all.`;
    const says = () => [
      {
        one: "One device has everything: all rows of the batch, all columns of every matrix. That is what the others are compared with.",
        rows: "**Eight by one: data parallel.** Every device holds the *whole* model and takes an eighth of the batch. Nobody needs less memory for weights.",
        both: "**Two by four.** Below each other: the same slices, other rows of the batch. Side by side: the same rows, other slices of every matrix.",
        slices: "**One by eight: model parallel.** Every device sees the whole batch and holds an eighth of every matrix. Only small vectors, such as norms, are held by all.",
      }[grid].replace(/(?<!\*)\*(?!\*)/g, "") + shared,
      words ? `Each device finds the words that are in its slice and has zeros for the others; a **sum** makes the embeddings whole. ${each}.` : `Every word is looked up where it is needed. ${count > 1 ? "Nothing to exchange." : ""}`,
      `${ring ? `Each device computes queries, keys and values of **${slices < model.heads ? `${model.heads / slices} heads` : "one head"}**, and their whole attention. A head needs no other head: nothing to exchange.` : `All ${model.heads} heads, for ${rows > 1 ? "its own rows of the batch" : "the whole batch"}. ${nothing}`}`,
      ring ? "The heads meet in $W_O$. Each device has only the rows that its heads meet, so what comes out is a **partial** sum (hatched): as large as the result, and not yet it." : `$W_O$ joins the heads. ${nothing}`,
      ring ? `Partial sums are **added up**, and then all devices of a row have the same $X$. ${each} for the ${3 * layers} attentions of the model.` : `$X$ is whole already. ${nothing}`,
      ring ? `$W_1$ is cut by columns: each device computes **${exact(model.ff / slices)}** of the ${exact(model.ff)} inner units. ReLU looks at each alone. Nothing to exchange.` : `All ${exact(model.ff)} inner units. ${nothing}`,
      ring ? "$W_2$ is cut by rows, so that each device multiplies the inner units that it has. Again a **partial** sum. Columns first, then rows: that order saves one exchange." : `And back to the width of the model. ${nothing}`,
      ring ? `One more sum, and $X$ is whole. ${each} for the ${2 * layers} networks of the model.` : `$X$ is whole already. ${nothing}`,
      words ? `Each device computes the logits of **${exact(model.words / slices)}** words: the largest tensor of all stays cut.` : `All ${exact(model.words)} logits of each token.${shared || ` ${nothing}`}`,
      words ? `The loss needs of each device only four numbers for each token: its greatest logit, two sums, and the right word’s logit if it has that. ${each}.` : `The loss of the device’s own tokens. ${count > 1 ? "Nothing to exchange but a few numbers for the mean." : ""}`,
      ring ? `Backwards all is mirrored: what was split is summed, what was summed is split. The gradient of every input is one sum among a row of devices. ${each}.` : `Backwards through the same matrices. Every device gets gradients of all its weights, ${rows > 1 ? "from its own rows of the batch" : "from the whole batch"}. ${nothing}`,
      rows > 1 ? `Devices that hold the same slice have seen other sentences. They **add up their gradients**. ${each}, however few or many tokens the batch has.` : count > 1 ? "All devices have seen all sentences, so the gradients of their slices are whole. Nothing to exchange." : "The gradients of all weights are whole.",
      `Adam changes the weights that a device holds, with the moments that lie beside them. Nothing to exchange${rows > 1 ? ": the same gradients lead to the same weights" : ""}.`,
      count > 1 ? `The bill for **${exact(T)}** tokens of each language: every device holds **${bytes(4 * now.held)}** of the ${bytes(alone)}, and sends **${bytes(total)}**: ${rows === 1 ? "in sums of vectors, so it grows with the batch" : slices === 1 ? "in gradients, so it grows with the model and not with the batch" : "vectors to its row, which grow with the batch, and gradients to its column, which grow with the model"}.` : "One device sends nothing, and holds everything. Now choose another grid.",
    ][state.step];
    const caption = now ? says() : `The preset ${size} has **${model.heads} heads**, and a head is not cut: ${slices} slices are refused. Take another grid, or a larger model.`;
    return {
      marks: M, height: Math.max(foot, D + 4 * row + 12), caption,
      table: { caption: "Bytes of each device", rows: ["weights", "gradients", "moments", ...SENDS.map((name) => `sent: ${name}`)], columns: ["bytes"], values: [1, 1, 2].map((times) => [now ? times * now.held : null]).concat(range(6).map((i) => [sent ? sent[i] : null])) },
    };
  }

  return {
    lead: "Choose how eight devices share a batch and a model, go through a step, tap a device.",
    start,
    keep: ["grid", "size", "tokens"],
    chapters: STEPS.map(([name]) => name),
    options: [
      { name: "grid", label: "Rows × slices", values: Object.keys(grids).map((key) => [key, GRIDS[key]]) },
      { name: "size", label: "Model", values: Object.keys(sizes).map((key) => [key, key]) },
      { name: "tokens", label: "Tokens", values: TOKENS.map((count) => [count, exact(count)]) },
    ],
    draw,
    pause: () => 4600,
    press: (state, [, id]) => (state.device = Number(id)),
  };
});
