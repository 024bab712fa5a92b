// Order and attention: words to swap, a position as clocks, and two positions k apart.
nlp104.scene("positions", (data, { range, positions }) => {
  const { words, orders, views } = data;
  const start = words.join(" ");
  const first = orders[start];
  const ordered = ({ order }) => orders[order] ?? first;
  const clock = ({ view }) => view !== "swap";
  const leads = {
    swap: "Tap two words, without positions and with them.",
    clock: "Play: the first hand is fast, and each next one slower.",
    shift:
      "Thin hands: a position. Thick: $k$ steps on. " +
      "Choose $k$, then play: is it the same turn from every position?",
  };

  function draw(state, width) {
    if (!clock(state)) return positions.swap(data, state, ordered(state), first, width);
    const view = positions.clocksView(data, state, width);
    return view.shift ? positions.shift(view) : positions.odometer(view);
  }

  // The first word that is tapped is chosen, the second one changes places with it.
  function tap(state, word) {
    const { pick } = state;
    if (!first.includes(pick)) {
      state.pick = word;
      return;
    }
    const partner = { [word]: pick, [pick]: word };
    const order = ordered(state).map((other) => words[partner[other] ?? other]);
    Object.assign(state, { pick: -1, order: order.join(" ") });
  }

  return {
    lead:
      views.length > 1
        ? "Swap two words: does attention notice? " +
          "Then read a position from clocks, and see what a shift by $k$ does to it."
        : leads[views[0][0]],
    start: { on: false, order: start, pick: -1, ...data.start },
    keep: ["view", "d", "base"],
    chapters: range(data.count).map((position) => `${position & ~15}–${position | 15}`),
    options: [
      { name: "view", label: "View", values: views, when: () => views.length > 1 },
      {
        name: "on",
        label: "Positions",
        values: [
          [false, "off"],
          [true, "on"],
        ],
        when: (state) => !clock(state),
      },
      { name: "d", label: "Width", values: data.widths, when: clock },
      { name: "base", label: "Base", values: data.bases, when: clock },
    ],
    draw,
    pause: () => 600,
    press(state, [what, value]) {
      if (what === "k") state.k = Number(value);
      else tap(state, Number(value));
    },
  };
});
