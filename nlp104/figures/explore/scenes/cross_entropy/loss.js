// What the place costs: a bar as high as the score that is held. It ends on the curve of all that
// the place could cost. Below it the lead of the right word, step by step.
nlp104.share("cross_entropy", ({ area, label, limit, line, range, write }) => {
  const quiet = { size: 12, muted: true };

  // The loss at every height of the held score, as far as it lies in the picture.
  function curve(view) {
    const { y, cost, end } = view;
    const { BOTTOM, TOP, costAt } = nlp104.cross_entropy;
    const points = range((TOP - BOTTOM) * 8 + 1).map((k) => {
      const score = TOP - k / 8;
      return [cost(costAt(view, score)), y(score)];
    });
    const inside = points.filter(([x]) => x <= end);
    return inside.map(([x, high], k) => `${k ? "L" : "M"}${x} ${high}`).join("");
  }

  // In two parts: for the right word, and for all others.
  function bar({ cost, at, y, x, held, parts, loss }) {
    const place = { y: y(x[held]) - 9, h: 18 };
    const look = { concept: "loss", radius: 1, layer: 1 };
    const [between, end] = [cost(parts[0]), cost(loss)];
    return [
      area("pays right", { x: at, w: between - at, ...place }, look),
      area("pays others", { x: between, w: end - between, ...place }, { ...look, strength: 0.35 }),
      area(
        "pays",
        { x: end - 5, y: place.y + 4, w: 10, h: 10 },
        { concept: "loss", radius: 5, layer: 2 },
      ),
    ];
  }

  function key({ at, end, foot, words, right, slim }) {
    const y = foot + (slim ? 30 : 12);
    const look = { concept: "loss", radius: 2 };
    const x = slim ? at : end - 105;
    const gap = end - at < 100 ? 44 : 52;
    return [
      area("key right", { x, y: y - 6, w: 12, h: 12 }, look),
      label("key right is", x + 16, y, words[right], quiet),
      area("key others", { x: x + gap, y: y - 6, w: 12, h: 12 }, { ...look, strength: 0.35 }),
      label("key others is", x + gap + 15, y, "others", quiet),
    ];
  }

  function loss(view) {
    const { points } = nlp104.cross_entropy;
    const { at, end, top, foot, slim, y, x, words, middle, held, masked, cost, floor } = view;
    const title = { size: slim ? 14 : 17, concept: "loss" };
    if (masked)
      return [
        label("loss", at, top - 18, `loss **0**${slim ? "" : ", masked"}`, {
          ...title,
          concept: null,
        }),
        area("frame", { x: at, y: top, w: end - at, h: foot - top }, { hatch: true, radius: 8 }),
      ];
    return [
      label("loss", at, top - 18, `loss **${points(view.loss)}**`, title),
      !slim &&
        label("curve is", end, top - 18, `curve: **${words[held]}** moved`, {
          anchor: "end",
          ...quiet,
        }),
      line("wall", `M${at} ${top}V${foot}`, { concept: "edge" }),
      line("floor", `M${cost(floor)} ${top}V${foot}`, { concept: "loss", width: 1, layer: 0 }),
      label("least", limit(cost(floor) - 30, at, end), foot + 12, `floor ${points(floor)}`, quiet),
      line("level", `M${middle(held)} ${y(x[held])}H${at}`, { concept: "edge", layer: 0 }),
      line("curve", curve(view), { concept: "loss", width: 2 }),
      bar(view),
      key(view),
    ];
  }

  // The lead of the right word after each step, with this smoothing and without.
  function race(view) {
    const { at, end, foot, ground, high, leads, plain, state, steps, words, right, slim } = view;
    const { step } = state;
    const two = view.epsilon > 0 && !view.masked;
    const most = Math.max(8, ...leads, ...plain);
    const px = (t) => at + ((end - at - 6) * t) / steps;
    const py = (value) => ground - (high * Math.max(-1, value)) / most;
    const path = (list) => list.map((value, t) => `${t ? "L" : "M"}${px(t)} ${py(value)}`).join("");
    const [now, other] = [leads.at(-1), plain.at(-1)];
    const late = px(step) + 70 > end;
    const without = { anchor: late ? "end" : "start", ...quiet };
    return [
      label(
        "lead",
        at,
        foot + 50,
        `lead${slim ? "" : ` of **${words[right]}**`}: **${write(now, 1)}**`,
      ),
      line("race ground", `M${at} ${ground}H${end}`, { concept: "edge" }),
      label("race end", end, ground + 14, `${steps} steps`, { anchor: "end", ...quiet }),
      !step &&
        !view.masked &&
        label("race is", end, ground - 14, slim ? "press Play" : "where does it end?", {
          anchor: "end",
          ...quiet,
        }),
      two && line("plain", path(plain), { concept: "edge", width: 1.5 }),
      two &&
        step > 3 &&
        label(
          "plain is",
          late ? end : px(step) + 8,
          py(other) - (late ? 10 : 0),
          `ε = 0: ${write(other, 1)}`,
          without,
        ),
      line("race", path(leads), { concept: "ink", width: 2 }),
      area(
        "now",
        { x: px(step) - 4, y: py(now) - 4, w: 8, h: 8 },
        { concept: "ink", radius: 4, layer: 2 },
      ),
    ];
  }

  return { costs: (view) => [loss(view), race(view)] };
});
