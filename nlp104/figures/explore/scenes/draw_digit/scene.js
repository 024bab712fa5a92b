// A digit that the reader draws, and a Vision Transformer that reads it while it is drawn.
nlp104.scene("draw_digit", (data, { range, softmax, largest, draw_digit }) => {
  const { reader, lookOf, strokesOf, until, imageOf, layout, draw, field, percent } = draw_digit;
  const read = reader(data.model);
  const LAST = 24; // steps: from the first dot to the whole digit
  const ORDERS = { own: range(8), mixed: data.mixed };

  const exampleOf = ({ ink }) => data.examples.find(({ name }) => name === String(ink));
  function inkOf(state) {
    const example = exampleOf(state);
    if (example || String(state.ink).startsWith(".")) return example ?? { strokes: state.ink };
    throw new RangeError(`Expected strokes or an example. Received: ${state.ink}.`);
  }

  // What the model gets of it by now: drawn digits as far as the pen has come, others row by row.
  function viewOf(state, width) {
    const { strokes: code = "", image } = inkOf(state);
    const part = state.step / LAST;
    const strokes = until(strokesOf(code), part);
    const rows = Math.round(8 * part);
    const image8 =
      image?.map((ink, i) => (i < 8 * rows ? ink : 0)) ?? imageOf(strokes, state.sheet === "fit");
    const order = ORDERS[state.patches];
    const { logits, looks } = read(image8, order);
    const shares = softmax(logits);
    const best = largest(shares);
    const second = largest(shares.map((share, digit) => (digit === best ? 0 : share)));
    const given = Boolean(image);
    const empty = image8.every((ink) => !ink);
    const shown = {
      strokes,
      given,
      image8,
      order,
      look: lookOf(looks),
      shares,
      best,
      second,
      empty,
    };
    return { ...shown, ...layout(width), state };
  }

  const named = (digit) => `${digit === 8 ? "an" : "a"} **${digit}**`;

  function caption({ shares, best, second, empty, state }) {
    const sure = `**${percent(shares[best])}**`;
    if (empty) return `Nothing is there. It must name a digit all the same: **${best}**, ${sure}.`;
    const whole = state.step === LAST;
    const begin = whole ? "It" : `${percent(state.step / LAST)} of it is there. It`;
    const truth = whole ? exampleOf(state)?.label : null;
    const end = Number.isInteger(truth) && truth !== best ? ` It is ${named(truth)}.` : "";
    if (shares[best] > 0.7) return `${begin} reads ${named(best)}, ${sure} sure.${end}`;
    const other = `${named(second)}, ${percent(shares[second])}`;
    return `${begin} reads ${named(best)}, ${sure}, or ${other}.${end}`;
  }

  const table = ({ shares }) => ({
    caption: "How likely each digit is, in per cent",
    rows: ["per cent"],
    columns: range(10).map(String),
    values: [shares.map((share) => 100 * share)],
  });

  return {
    lead: "Draw a digit with a finger, the mouse, or the arrow keys and Space.",
    start: { step: LAST, ink: data.examples[0].name, patches: "own", sheet: "fit" },
    keep: ["patches", "sheet"],
    chapters: range(LAST + 1).map(
      (step) => ["begun", "half", "done"][Math.floor((2 * step) / LAST)],
    ),
    options: [
      { name: "ink", field: field(data.examples) },
      {
        name: "patches",
        label: "Patches",
        values: [
          ["own", "in order"],
          ["mixed", "mixed"],
        ],
      },
      {
        name: "sheet",
        label: "Drawing",
        values: [
          ["fit", "fitted"],
          ["raw", "as it is"],
        ],
      },
    ],
    draw(state, width) {
      const view = viewOf(state, width);
      return {
        marks: draw(view),
        height: view.height,
        caption: caption(view),
        table: table(view),
      };
    },
    option(state, name) {
      if (name === "ink") state.step = LAST;
    },
    pause: () => 90,
  };
});
