// The Transformer with every wire in its place: tap one to learn its job, again to pull it out.
nlp104.scene("wires", (data, { limit, wires: { measures, layout, machine, beside } }) => {
  const { kinds, rows, sources, stacks } = data;
  const runs = rows[0].right.length;
  const pick = (x, count) => limit(x | 0, 0, count - 1);

  // What the state means. Step 0 is the whole; then each kind of wire has two: lit, pulled.
  function reading(state) {
    const number = Math.ceil(state.step / 2);
    const kind = kinds[number - 1];
    const pulled = number > 0 && state.step % 2 === 0;
    const seen = state.seen | 1 | (Number(pulled) << number); // a bit for each score that was shown
    const chosen = (key) => key === kind?.key;
    return {
      number,
      kind,
      pulled,
      runs,
      run: pick(state.run, runs),
      sentence: pick(state.sentence, sources.length),
      known: (i) => Boolean((seen >> i) & 1),
      chosen,
      lit: (key) => Boolean(key) && (!kind || pulled || chosen(key)),
      gone: (key, id) => pulled && chosen(key) && kind.pulled.includes(id),
      button: (i, at, first) => ({ act: `kind:${i}`, at, first, pressed: i === number }),
    };
  }

  // The part of the height that must be in sight: where the chosen wires are.
  function focus(view, { encoder, decoder }) {
    if (!view.kind) return [0, 100];
    const targets = [...encoder.targets, ...decoder.targets];
    const places = targets.filter(({ kind }) => view.chosen(kind)).map(({ place }) => place);
    const tops = places.map(({ y }) => y);
    const ends = places.map(({ y, h }) => y + h);
    return [Math.min(...tops) - 20, Math.max(...ends) + 20];
  }

  function caption({ kind, pulled }) {
    if (!kind) return data.caption;
    return pulled ? kind.result : kind.job;
  }

  function table({ number, pulled }) {
    const shown = number ? [rows[0], rows[number]] : [rows[0]];
    const hide = (i) => i > 0 && !pulled; // the reader may guess first
    return {
      caption: "Scores",
      rows: shown.map(({ says }) => says),
      columns: data.columns,
      values: shown.map(({ mean }, i) => mean.map((x) => (hide(i) ? null : x))),
    };
  }

  function draw(state, width) {
    const view = { data, ...measures(width), ...reading(state) };
    const places = layout(view, stacks);
    const { marks, bottom } = beside(view);
    return {
      focus: focus(view, places),
      marks: [machine(view, places), marks],
      height: Math.max(view.height, bottom),
      caption: caption(view),
      table: table(view),
    };
  }

  return {
    lead:
      "What is each wire for? Tap one to see its job. Tap it again to pull it out, " +
      "and see how the machine translates without it.",
    start: { sentence: 0, run: 0, seen: 1 },
    keep: ["sentence", "run"],
    chapters: ["whole", ...kinds.flatMap(() => ["one by one", "one by one"])],
    draw,
    pause: ({ step }) => (step % 2 ? 3200 : 4400),
    move(state) {
      state.seen |= (2 << (state.step >> 1)) - 1; // all scores up to here
    },
    press(state, [what, value]) {
      const i = Number(value);
      if (what === "kind") {
        const lit = state.step === 2 * i - 1;
        state.step = Math.max(0, lit ? 2 * i : 2 * i - 1);
      } else state[what] = i;
      if (state.step % 2 === 0) state.seen |= 1 << (state.step / 2);
    },
  };
});
