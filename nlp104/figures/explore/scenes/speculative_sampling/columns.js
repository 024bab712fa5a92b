// A column for each token: what the draft guesses, what of it is kept, what is drawn instead.
nlp104.share("speculative_sampling", ({ area, label, line, token, write }) => {
  const TALL = 15; // pixels: what is lower holds no number

  function layout({ tokens, p, q }, width) {
    const slim = width < 560;
    const left = slim ? 4 : 24;
    const pitch = (width - 2 * left) / tokens.length;
    const tall = slim ? 200 : 230;
    const ground = 30 + tall;
    const unit = tall / (Math.max(...p, ...q) > 0.75 ? 1 : 0.75); // pixels for a probability of 1
    return { slim, left, pitch, unit, ground, bar: slim ? 46 : 96, width, meter: ground + 56 };
  }

  const middle = ({ left, pitch, slim }, i) => left + (i + 0.5) * pitch - (slim ? 27 : 24);

  // A piece of a column, from a probability on upwards; its number, if there is room.
  function piece(view, key, i, from, size, look, words) {
    const { bar, unit, ground } = view;
    const x = middle(view, i);
    const h = Math.max(0, unit * size - 2);
    const y = ground - unit * (from + size) + 1;
    const fits = h >= TALL;
    return [
      area(key, { x: x - bar / 2, y, w: bar, h }, { radius: 3, layer: 1, ...look }),
      fits &&
        words &&
        label(`${key} number`, x, y + h / 2, words, {
          anchor: "middle",
          strong: look !== KEPT,
          muted: look.opacity === GONE,
        }),
    ];
  }

  // The clothes of the still in the chapter: filled, striped and framed, dotted.
  const KEPT = { concept: "model", strength: 0.3 };
  const REFUSED = { concept: "refused", edge: true };
  const DRAWN = { concept: "instead", edge: true };
  const GUESSED = { concept: "draft", strength: 0.3 };
  const STRIPES = { hatch: true };
  const GONE = 0.45; // opacity of what was refused, once all is drawn

  // What is refused, in pieces: each lies on its own token, then on the one that is drawn for it.
  function pieces(view) {
    const { flow, kept, step } = view;
    const here = [...kept];
    const there = [...kept];
    return flow.flatMap((row, j) =>
      row.map((size, i) => {
        const [place, from] = step < 3 ? [j, here[j]] : [i, there[i]];
        here[j] += size;
        there[i] += size;
        if (size < 0.001) return [];
        const look = step < 3 ? REFUSED : DRAWN;
        return piece(view, `flow ${j} ${i}`, place, from, size, look, step > 1 && write(size));
      }),
    );
  }

  // The stripes of what is refused; in the end they stand faintly where it was.
  function stripes(view, i) {
    const { over, kept, q, out, step } = view;
    if (over[i] < 0.001) return [];
    if (step < 3) return piece(view, `stripes ${i}`, i, kept[i], over[i], STRIPES);
    const from = Math.max(kept[i], out[i]);
    if (q[i] - from < 0.001) return [];
    const whole = from === kept[i] && write(over[i]);
    const here = [i, from, q[i] - from];
    return [
      piece(view, `stripes ${i}`, ...here, { ...STRIPES, opacity: GONE }),
      piece(view, `gone ${i}`, ...here, { ...REFUSED, opacity: GONE }, whole),
    ];
  }

  // Where the model's probability lies, and what it is.
  function level(view, i) {
    const { bar, unit, ground, p, slim } = view;
    const x = middle(view, i) + bar / 2;
    const y = ground - unit * p[i];
    return [
      line(`p ${i}`, `M${x - bar - 3} ${y}H${x + 6}`, { concept: "model", width: 2.5, layer: 2 }),
      label(`p ${i} number`, x + 9, y, `p ${write(p[i])}`, {
        size: slim ? 12 : 13,
        concept: "model",
        strong: true,
      }),
    ];
  }

  // The draft's probability, with a handle as wide as a finger: in the middle of what it guesses,
  // and once that is cut up, at the left edge.
  function guess(view, i) {
    const { bar, unit, ground, q, out, tokens, state, step } = view;
    const x = middle(view, i);
    const y = ground - unit * q[i];
    const left = x - bar / 2;
    const [at, wide, grip] = step ? [left - 8, 16, [left - 22, 44]] : [x - 14, 28, [left, bar]];
    return [
      step > 0 && line(`q ${i}`, `M${left} ${y}h${bar}`, { concept: "draft", layer: 2 }),
      (!step || unit * (q[i] - (step < 3 ? view.p[i] : out[i])) > 24) &&
        label(`q ${i} number`, x + (step ? 6 : 0), y - (step ? 12 : 15), `q ${write(q[i])}`, {
          anchor: "middle",
          concept: "draft",
          strong: true,
        }),
      area(
        `knob ${i}`,
        { x: at, y: y - 5, w: wide, h: 10 },
        { concept: "draft", radius: 5, layer: 2 },
      ),
      area(
        `grip ${i}`,
        { x: grip[0], y: y - 22, w: grip[1], h: 44 },
        {
          strength: 0,
          layer: 2,
          act: `q:${i}`,
          at: `q:0:${i}`,
          first: i === (state.token | 0),
          says: `Probability of ${tokens[i]} in the draft`,
          slide: { value: q[i], low: 0, high: 1, by: 0.05, length: unit },
        },
      ),
    ];
  }

  function column(view, i) {
    const { kept, q, step, tokens, ground, bar, out, slim } = view;
    const x = middle(view, i);
    return [
      step
        ? piece(view, `kept ${i}`, i, 0, kept[i], KEPT, kept[i] && write(kept[i]))
        : piece(view, `kept ${i}`, i, 0, q[i], GUESSED, ""),
      step > 0 && stripes(view, i),
      level(view, i),
      guess(view, i),
      step === 3 &&
        label(`out ${i}`, x, ground + 40, `${slim ? "" : "out "}**${write(out[i])}**`, {
          anchor: "middle",
        }),
      token(`name ${i}`, { x: x - bar / 2, y: ground + 4, w: bar, h: 22 }, { word: tokens[i] }),
    ];
  }

  // How many guesses are kept.
  function meter({ width, meter: y, share, step }) {
    const wide = step ? width * share : 0;
    const rest = { x: wide + 1, y, w: step ? Math.max(0, width - wide - 2) : 0, h: 14 };
    return [
      area("kept share", { x: 0, y, w: wide, h: 14 }, KEPT),
      area("stripes share", rest, STRIPES),
      area("refused share", rest, REFUSED),
      step > 0 &&
        label("share", 0, y + 28, `kept ${write(100 * share, 0)} %`, { concept: "model" }),
      step > 0 &&
        label("other share", width, y + 28, `refused ${write(100 * (1 - share), 0)} %`, {
          concept: "draft",
          anchor: "end",
        }),
    ];
  }

  const columns = (view) => [
    line("ground", `M0 ${view.ground}H${view.width}`, { concept: "edge", layer: 0 }),
    view.tokens.map((_, i) => column(view, i)),
    view.step ? pieces(view) : [],
    meter(view),
  ];

  return { layout, columns };
});
