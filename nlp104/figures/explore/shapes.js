// Sizes are set with faders; every box says what it takes, gives and holds, and draws it to scale.
nlp104.scene("shapes", (data, { sum, range, tidy, write, area, label, token, line }) => {
  const { sizes, presets, kinds, boxes, says } = data, count = boxes.length, all = range(count), LINES = 3;
  const exact = (x) => x.toLocaleString("en"), some = (x) => x.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 }).replace("B", "G").replace(/(?=[A-Z])/, " ");
  const short = (x, digits = 3) => tidy(+x.toPrecision(digits)), times = (x, digits) => (x < 1 ? `÷ ${short(1 / x, digits)}` : `× ${short(x, digits)}`), total = (list, key) => sum(list.map((one) => one[key]));

  // All that follows from the sizes.
  function compute(state) {
    const at = {};
    for (const { letter, name, notches } of sizes) {
      const value = presets[state.preset]?.[name] ?? state[name];
      at[letter] = (value >= 0 && value <= notches.at(-1) && Math.round(value)) || notches[0];
    }
    at.K = at.D / at.H;
    const shape = (word) => [...word].map((letter) => at[letter]), size = (list) => sum(list.map(([, word, colours]) => colours.length * shape(word).reduce((a, x) => a * x, 1)));
    const made = boxes.map((box) => {
      const holds = box.holds.filter((one) => !(at.E && one[3])), each = box.layer ? at.N : 1;
      return { ...box, holds, each, tied: holds.length < box.holds.length, numbers: size(box.gives), parameters: each * size(holds), work: each * size(box.products) };
    });
    return { at, made, parameters: total(made, "parameters"), work: total(made, "work"), fits: at.K % 1 === 0, shape, shown: (word) => `[${shape(word).map((x) => +x.toFixed(1)).join(", ")}]` };
  }

  function draw(state, W) {
    const now = compute(state), { at, made, parameters, work, fits, shape, shown } = now, chosen = state.step - 1, box = made[chosen], slim = W < 560, M = [];
    const [name, earlier] = String(state.was).split(":"), moved = sizes.find((size) => size.name === name), old = moved && compute({ ...state, preset: "", [name]: +earlier }), changed = fits && old?.fits;
    const ratios = changed && made.map((one, i) => tidy(one.numbers / old.made[i].numbers)), order = all.toSorted((a, b) => made[b].numbers - made[a].numbers);
    const put = (key, x, y, source, look) => M.push(label(key, x, y, source, { size: 12, ...look }));
    const rect = (key, x, y, w, h, look) => M.push(area(key, { x, y, w, h }, { radius: 1, layer: 1, ...look }));

    // Faders. Those that cost no parameters stand first.
    const cw = slim ? W / 6 : 56, high = slim ? 54 : 72, w = Math.min(46, cw - 4), travel = high - 22;
    sizes.forEach(({ letter, name, label: words, notches }, i) => {
      const below = slim && i > 2, x = cw * (below ? i - 2.5 : slim || i < 3 ? i + 0.5 : i + 0.9), top = 18 + below * (high + 30), value = at[letter], mine = changed && moved.name === name;
      const notch = Math.max(0, notches.findLastIndex((one) => one <= value)), last = notches.length - 1, knob = top + travel * (1 - notch / last);
      put(`f${i}`, x, top - 10, words, { anchor: "middle", size: 13, muted: !mine, strong: mine });
      M.push(line(`track${i}`, `M${x} ${top + 2}v${high - 4}`, { concept: "edge", layer: 0 }));
      [["+", 1, top, knob - top], ["−", -1, knob + 22, top + travel - knob]].forEach(([sign, by, y, h], k) => {
        put(sign + i, x + 12, top + 8 + k * (high - 16), sign, { anchor: "middle", muted: true, opacity: +(h > 14) });
        if (h > 1) rect(`by${sign}${i}`, x - w / 2, y, w, h, { strength: 0, layer: 2, act: `turn:${i}:${notch + by}`, at: `f:${2 * k}:${i}`, says: `${name} ${sign}` });
      });
      const word = letter === "E" ? ["no", "yes"][value] : value < 1e4 ? exact(value) : `${short(value / 1000)}k`;
      M.push(token(`knob${i}`, { x: x - w / 2, y: knob, w, h: 22 }, { word, size: 12.5, chosen: mine, act: `turn:${i}:${notch}`, at: `f:1:${i}`, first: true, says: `${name}: ${word}`, slide: { value: notch, low: 0, high: last, by: 1, length: travel } }));
    });
    ["parameters", "work"].forEach((key, i) => {
      const x = cw * (slim ? 3.2 : 10);
      put(key, x, 12 + 38 * i, fits ? (i ? some : exact)(now[key]) : "–", { size: 16, strong: true });
      put(`${key}:`, x, 30 + 38 * i, `${i ? "multiply-adds" : key}${changed && now[key] !== old[key] ? ` **${times(now[key] / old[key])}**` : ""}`, { muted: true });
    });

    // Tensors: as high as they have tokens, as wide as they have numbers for each. One scale for all.
    const T = slim ? W : 430, side = 92, tower = T / 2 - side - 12, pitch = slim ? 18 : 19, roof = (slim ? 2 * high + 74 : high + 52) + 15 * LINES, floor = roof + 13 * pitch, rows = [0, 0];
    const scale = Math.min((tower - 8) / Math.max(3 * at.D, at.F, at.H * at.S, at.H * at.T), (LINES * W) / at.V), tall = 13 / Math.max(at.S, at.T);
    made.forEach(({ stack, gives, name, title }, i) => {
      const bad = !fits && /H/.test(gives[0][1]), lit = i === chosen, badge = changed && ratios[i] !== 1 ? ` **${times(ratios[i], 2).replace(" ", "")}**` : "", press = { strength: lit ? 0.12 : 0, radius: 4, layer: 0, act: `box:${i}`, at: `b:0:${i}`, first: i === Math.max(0, chosen) % count, pressed: lit, says: title };
      const tensor = (key, concept, long, wide, x, y, parts = 1) => {
        const n = bad || (wide / parts) * scale < 2.5 ? 1 : parts, each = (wide / n) * scale;
        for (const part of range(n)) rect(`b${i},${key},${part}`, x + part * each, y - (long * tall) / 2, Math.max(1.4, each - 0.8 * (n > 1)), Math.max(1.4, long * tall), { concept, strength: lit ? 1 : 0.55, outline: bad });
      };
      if (stack > 1) {
        const wide = at.V * scale, lines = Math.ceil(wide / W - 1e-9), top = roof - 15 * lines, x = Math.max(0, Math.min(W, T - side + 2) - wide);
        put(`n${i}`, lines > 1 ? 0 : Math.min(x, W - 220), top - 12, `${name} ${shown("BTV")}${lines > 1 ? `, in ${lines} lines` : ""}${badge}`, { strong: lit });
        for (const n of range(lines)) tensor(n, "r", at.T, Math.min(W / scale, at.V - (n * W) / scale), x, top + 15 * n + 6.5);
        rect(`p${i}`, x, top - 2, Math.min(W, wide), 15 * lines, press);
        return;
      }
      const y = floor - pitch * (rows[stack]++ + 0.5), forms = gives.flatMap(([, word, colours]) => [...colours].map((concept) => {
        const [, a, b = 1, c] = shape(word);
        return c ? [concept, b, a * c, a] : [concept, a, b];
      }));
      rect(`p${i}`, stack ? T / 2 + 2 : 16, y - pitch / 2, T / 2 - 18, pitch, press);
      forms.reduce((x, [concept, long, wide, parts], k) => (tensor(k, concept, long, wide, x, y, parts), x + wide * scale + 4), (stack ? T - side - tower / 2 : side + tower / 2) + 2 - (total(forms, 2) * scale + 4 * forms.length) / 2);
      put(`n${i}`, stack ? T - 17 : 17, y, name + badge, { anchor: stack ? "end" : "start", strong: lit, muted: !lit && !badge });
    });
    [0, 1].forEach((stack) => {
      const top = floor - rows[stack] * pitch, turn = stack ? -4 : 4;
      M.push(line(`frame${stack}`, `M${stack * T + 4 * turn} ${top + 2}h${-turn}V${floor - 2 * pitch - 2}h${turn}`, { concept: "edge" }));
      put(`N${stack}`, stack * T + turn, (top + floor) / 2 - pitch, `${at.N} layer${at.N > 1 ? "s" : ""}`, { anchor: "middle", muted: true, slant: -90 });
    });
    const up = floor - 9 * pitch;
    for (const [concept, by] of [["k", -2], ["v", 2]]) M.push(line(`m${concept}`, `M${side + tower / 2 + by} ${up}V${up - 5 + by}H${T / 2 + by}V${floor - 6.5 * pitch + by}H${T / 2 + 10}`, { concept, width: 1.5 }));
    put("memory", T / 2 - 8, up - 15, "memory", { anchor: "end", muted: true });
    says.scale.forEach((words, i) => put(`note${i}`, 17, roof + 10 + 15 * i, `${words}${i ? "" : at.B}`, { muted: true }));

    // The box in numbers.
    const xP = slim ? 0 : T + 20, low = slim ? 17 : 19, each = (x, of) => (x ? of(x / box.each) + (box.each > 1 ? ` × ${at.N} layers` : "") : "none");
    const lines = box ? ["takes", "gives", "holds"].map((key) => [key, ...box[key].map(([words, word]) => `${words} ${shown(word)}`.trim())]) : chosen < 0 ? says.try.map((words) => [words, ""]) : [["largest", ...order.slice(0, 5).map((i) => `${made[i].name}${says.stacks[made[i].stack]} ${some(made[i].numbers)}`)]];
    if (box && fits) lines.push(["parameters", each(box.parameters, exact)], ["multiply-adds", each(box.work, some)], ["output", `${exact(box.numbers)} numbers`, `${some(4 * box.numbers)}B, rank ${order.indexOf(chosen) + 1} of ${count}`]);
    put("title", xP, slim ? floor + 18 : roof + 10, box?.title ?? says[chosen < 0 ? "ask" : "all"], { size: 13, strong: true });
    lines.flatMap(([key, value = "nothing", ...more]) => [[key, value], ...more.map((value) => ["", value])]).forEach(([key, value], i) => {
      const y = (slim ? floor + 18 : roof + 10) + low * (i + 1);
      put(`key${i}`, xP, y, key, { muted: Boolean(value) });
      put(`value${i}`, xP + 90, y, value);
    });

    // Parameters: the share of each kind; every matrix as a rectangle, in a scale of its own.
    const yB = floor + (slim ? 18 + 11.5 * low : 28), shares = kinds.map((_, kind) => total(made.filter((one) => one.kind === kind), "parameters") / parameters), percent = shares.map((x) => `${write(100 * x, x < 0.01 ? 2 : 0)} %`);
    put("where", 0, yB, says.where);
    put("rows", W, yB, says.rows[+slim], { anchor: "end", muted: true });
    kinds.forEach(([kind, concept], i) => {
      const look = { concept, strength: box?.holds[0] && box.kind === i ? 1 : 0.5 }, x = W * (slim ? (i % 2) * 0.53 : i / 4), y = yB + 40 + slim * 18 * (i >> 1);
      rect(`share${i}`, sum(shares.slice(0, i)) * W, yB + 12, shares[i] * W, 12, look);
      rect(`sign${i}`, x, y - 5, 10, 10, look);
      put(`kind${i}`, x + 14, y, `${kind} **${percent[i]}**`);
    });
    const yF = yB + (slim ? 70 : 54), room = slim ? 80 : 126, kernels = made.flatMap(({ holds, layer }, i) => holds.filter(([, word]) => word[1]).flatMap(([, word, colours]) => [...colours].map((concept, k) => [i, layer, word === "DD" ? at.D : layer ? at.F : at.V, concept, k])));
    const inside = kernels.filter((one) => one[1]), tables = kernels.filter((one) => !one[1]);
    let p = W / total(inside, 2);
    while ((at.N + Math.ceil((total(tables, 2) * p) / W - 1e-9)) * (at.D * p + 1) > room) p *= 0.97;
    const kernel = (key, x, row, wide, concept, lit) => rect(key, x, yF + row * (at.D * p + 1), Math.max(0.5, wide - 0.8), at.D * p, { concept, strength: lit ? 1 : 0.45 });
    for (const n of range(at.N)) inside.reduce((x, [i, , wide, concept, k]) => (kernel(`w${n},${i},${k}`, x, n, wide * p, concept, i === chosen), x + wide * p), 0);
    tables.forEach(([i, , wide], n) => {
      for (let from = n * wide * p, to; from < (n + 1) * wide * p - 0.01; from = to) {
        const row = Math.floor(from / W + 1e-9);
        to = Math.min((n + 1) * wide * p, (row + 1) * W);
        kernel(`e${i},${row}`, from - row * W, at.N + row, to - from, "ink", i === chosen || box?.tied);
      }
    });

    // In words.
    let caption = says[fits ? (chosen < 0 ? "start" : "end") : "misfit"];
    if (changed) {
      const found = [...new Set(ratios)].filter((x) => x !== 1).sort((a, b) => b - a).map((x) => [x, all.filter((i) => ratios[i] === x)]), became = (x, y) => (x === y ? "the **same**" : `**${times(x / y)}**`);
      caption = `${moved.label} **${earlier} → ${at[moved.letter]}**: ${parameters === old.parameters ? says.none : `parameters ${became(parameters, old.parameters)}`}, arithmetic ${became(work, old.work)}. ${found.length ? "Outputs:" : says.same} ${found.map(([x, list]) => `**${times(x)}** in ${list.length} box${list.length > 1 ? "es" : ""} (${[...new Set(list.map((i) => made[i].name))].slice(0, 3).join("; ")}${list.length > 3 ? "; …" : ""})`).join(", ")}${found[0] ? "." : ""}`;
    } else if (box && fits) caption = `**${box.title}.** ${box.says}${box.tied ? ` ${says.tied}` : ""}`;
    const most = shares.indexOf(Math.max(...shares)), [first, second] = order.map((i) => made[i]);
    const words = { ...at, K: +at.K.toFixed(1), count, parameters: exact(parameters), largest: first.title, next: times(first.numbers / second.numbers), kind: kinds[most][0], share: percent[most] };
    return { marks: M, height: yF + room, caption: caption.replace(/\{(\w+)\}/g, (all, key) => words[key] ?? all), table: { caption: says.table, rows: made.map(({ title, gives }) => `${title} ${gives.map((one) => shown(one[1])).join(" ")}`), columns: ["numbers", "parameters", "multiply-adds"], values: made.map((one) => [one.numbers, one.parameters, one.work].map((x) => (fits ? x : null))) } };
  }

  function turn(state, [, i, notch]) {
    const { name, letter, notches } = sizes[i], { at } = compute(state);
    if (notches[notch] === at[letter]) return;
    for (const size of sizes) state[size.name] = at[size.letter];
    if (!String(state.was).startsWith(`${name}:`)) state.was = `${name}:${at[letter]}`;
    Object.assign(state, { preset: "own", [name]: notches[notch] });
  }

  return {
    lead: says.lead,
    start: data.start,
    keep: ["preset", ...sizes.map(({ name }) => name)],
    chapters: ["all", ...boxes.map(({ stack, layer }) => says.chapters[stack][+layer]), "sum"],
    options: [{ name: "preset", label: "Sizes", values: [...Object.keys(presets), "own"].map((name) => [name, name]) }],
    draw,
    pause: () => 3200,
    move: (state) => (state.was = ""),
    option: (state) => Object.assign(state, presets[state.preset], { was: "" }),
    press(state, act) {
      if (act[0] === "turn") turn(state, act);
      else Object.assign(state, { step: +act[1] + 1, was: "" });
    },
    slide: (state, [, i], notch) => turn(state, [0, i, notch]),
  };
});
