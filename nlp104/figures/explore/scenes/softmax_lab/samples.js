// Below the bars: three numbers with the way they have come, and all samples on one axis.
nlp104.share("softmax_lab", ({ write, area, line }) => {
  // Of each number its name, text, a remark, and the value at the upper edge of its card.
  function numbersOf({ words, count, slim, weights, best, measured }) {
    const { small, log } = nlp104.softmax_lab;
    const [entropy, largest, slope] = measured;
    const choice = slim ? "like" : "like choosing among";
    return [
      [
        "entropy",
        `${write(entropy)} bits`,
        `${choice} ${write(2 ** entropy, 1)} words`,
        log(count),
      ],
      ["largest weight", write(largest), `of ${words[best]}`, 1],
      ["steepest slope", small(slope), `${slim ? "" : "of "}0.25 at most`, 0.25],
    ];
  }

  // The way is the mean of many samples, for every width so far.
  function card(view, [name, value, remark, high], n) {
    const { text } = nlp104.softmax_lab;
    const { slim, step, state, means, measured, cards } = view;
    const { titles, top, gap, width, height } = cards;
    const x = n * (width + gap);
    const y = (number) => top + height * (1 - number / high);
    const way = (scale) =>
      means[scale]
        .slice(0, step + 1)
        .map((row, i) => `${i ? "L" : "M"}${x + (i / 10) * width} ${y(row[n])}`)
        .join("");
    const [now, other] = state.scale ? ["on", "off"] : ["off", "on"];
    return [
      text(view, `n${n}`, x, titles, name, { muted: true }),
      text(view, `b${n}`, x, titles + 25, value, { size: slim ? 18 : 21, strong: true }),
      text(view, `o${n}`, x, titles + (slim ? 47 : 49), remark, { muted: true }),
      area(`c${n}`, { x, y: top, w: width, h: height }, { strength: 0.07, radius: 4 }),
      step > 0 && line(`e${n}`, way(other), { concept: "edge" }),
      step > 0 && line(`f${n}`, way(now), { concept: "a", width: 2.25 }),
      area(
        `d${n}`,
        { x: x + (step / 10) * width - 5, y: y(measured[n]) - 5, w: 10, h: 10 },
        { concept: "ink", radius: 5, layer: 2 },
      ),
    ];
  }

  function cards(view) {
    const { slim, counted, state } = view;
    const { top, height } = view.cards;
    const other = `scale ${state.scale ? "off" : "on"}`;
    const legend = slim
      ? `lines: means of ${counted} samples; thin: ${other}`
      : `dot: what you see · lines: the mean of ${counted} samples up to this width, ` +
        `thin with the ${other}`;
    return [
      numbersOf(view).map((numbers, n) => card(view, numbers, n)),
      nlp104.softmax_lab.text(view, "lc", 0, top + height + 15, legend, { size: 12, muted: true }),
    ];
  }

  // The dot products of every sample.
  const dots = ({ all, state, dots: { top, pitch, middle, unit } }) =>
    all.map((row, sample) =>
      row.map((x, i) => {
        const mine = sample === state.sample;
        const radius = mine ? 4 : 2.5;
        const place = {
          x: middle + x * unit - radius,
          y: top + 3 + (sample + 0.5) * pitch - radius,
          w: 2 * radius,
          h: 2 * radius,
        };
        const strength = mine ? 1 : 0.7;
        const look = { concept: mine ? "ink" : "r", strength, radius, layer: 1 };
        return area(`m${sample},${i}`, place, look);
      }),
    );

  // The axis never changes; behind it one standard deviation to both sides.
  function samples(view) {
    const { text, some } = nlp104.softmax_lab;
    const { width, d, by, state, variance, widest, count, end } = view;
    const { title, top, height, middle, unit } = view.dots;
    const deviation = Math.sqrt(d) / by;
    const look = { size: 12, muted: true };
    const expected = state.scale ? `= ${some(variance * d)} / ${d}` : `beside $d$ = **${d}**`;
    let named = state.scale ? "±1" : "±√d";
    if (!state.scale && view.step >= 5) named += ` = ±${some(deviation).replace(".0", "")}`;
    const products = `${view.samples * count} dot products${state.scale ? " / √d" : ""}`;
    return [
      text(view, "la", 0, title, products),
      text(view, "lv", width, title, `variance **${some(variance)}** ${expected}`, {
        anchor: "end",
      }),
      area(
        "sd",
        { x: middle - deviation * unit, y: top, w: 2 * deviation * unit, h: height },
        { strength: 0.16, radius: 3 },
      ),
      line("sz", `M${middle} ${top}v${height}`, { concept: "edge" }),
      dots(view),
      text(view, "low", 0, end, write(-widest, 0), look),
      text(view, "sdl", middle, end, named, { ...look, anchor: "middle" }),
      text(view, "up", width, end, `${widest}`, { ...look, anchor: "end" }),
    ];
  }

  return { cards, samples };
});
