// News of the first word on its way to another one, through time or through layers.
nlp104.scene("paths", (data, { range, limit, paths }) => {
  const { placeNetwork, network, placeKinds, caption } = paths;
  const KINDS = Object.keys(data.reach);
  const RECURRENCE = 0;
  const ATTENTION = 3;
  const ALL = 8; // the step that compares
  const sentence = (n) => data.sentences.find((words) => words.length === n) ?? data.sentences[0];

  function reading(state, width) {
    const slim = width < 560;
    const words = sentence(slim ? 8 : state.n);
    const n = words.length;
    const all = state.step === ALL;
    const time = state.step < ALL ? state.step : n - 1;
    const kind = limit(state.kind | 0, 0, KINDS.length - 1);
    const to = state.to < 0 ? n - 1 : limit(state.to | 0, 1, n - 1);
    const reach = (k) => data.reach[KINDS[k]] ?? n - 1; // words that a step gets ahead
    const steps = (k, word) => Math.ceil(word / reach(k));
    const last = steps(kind, n - 1);
    const need = steps(kind, to);
    const colourOf = (k) => (k === ATTENTION ? "a" : "ink");
    return {
      width,
      slim,
      side: slim ? 0 : 200, // for all kinds, beside the network
      size: slim ? 12 : 13,
      kinds: KINDS,
      kind,
      words,
      n,
      to,
      all,
      time,
      far: reach(kind),
      steps,
      heard: (k, count) => Math.min(n - 1, count * reach(k)),
      last,
      now: Math.min(time, last),
      need,
      there: time >= need,
      recurrent: kind === RECURRENCE,
      attends: kind === ATTENTION,
      unit: (k) => (k === RECURRENCE ? "step" : "layer"),
      colourOf,
      colour: colourOf(kind),
    };
  }

  function table({ words, time, steps }) {
    const known = (k, j) => (steps(k, j) <= time ? steps(k, j) : null);
    return {
      caption: `Steps from ${words[0]} to each word; hidden: not reached yet`,
      rows: KINDS,
      columns: words,
      values: KINDS.map((_, k) => words.map((_, j) => known(k, j))),
    };
  }

  function draw(state, width) {
    const view = reading(state, width);
    const at = placeNetwork(view);
    const beside = placeKinds(view, at);
    const below = beside.y + KINDS.length * beside.pitch;
    return {
      marks: [network(view, at), paths.kinds(view, beside)],
      height: view.slim ? below : at.bottom + 16,
      caption: caption(view),
      table: table(view),
    };
  }

  return {
    lead:
      "How many steps lie between two words? " +
      "Choose a layer, tap the word to be reached, and follow the news of the first.",
    start: { kind: 0, to: -1, n: 8 },
    keep: ["kind", "to", "n"],
    chapters: [...range(ALL).map(String), "all"],
    options: [
      {
        name: "n",
        label: "Words",
        values: [
          [8, "8"],
          [16, "16"],
        ],
        when: (_, width) => width >= 560,
      },
    ],
    draw,
    pause: () => 1700,
    option(state) {
      state.to = -1;
    },
    press(state, [what, value]) {
      state[what] = Number(value);
    },
  };
});
