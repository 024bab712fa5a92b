// The steps of training, what a state comes to, and how bytes are written.
nlp104.share("devices", ({ exact, sum }) => {
  const UNITS = [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ];
  function bytes(x) {
    if (!x) return "nothing";
    const [unit, size] = UNITS.find(([, least]) => x >= least) ?? UNITS.at(-1);
    const value = x / size;
    return `${value < 10 ? value.toFixed(1) : exact(Math.round(value))} ${unit}`;
  }

  // What devices add up in a step, in the order of the figures that are handed over. Gradients are
  // summed among those of a column, all else among those of a row.
  const EXCHANGES = [
    "embeddings",
    "attentions",
    "networks",
    "loss",
    "on the way back",
    "gradients",
  ];
  const GRADIENTS = 5;

  // Each step: its name, its text, the matrices that are used, what is had of the tokens' vectors,
  // the exchange.
  const ALL = [0, 1, 2, 3, 4];
  const STEPS = [
    { name: "hold", text: "hold", uses: ALL, form: "whole" },
    { name: "embed", text: "embed", uses: [0], form: "whole", exchange: 0 },
    { name: "attention", text: "heads", uses: [1], form: "cut" },
    { name: "attention", text: "joined", uses: [2], form: "partial" },
    { name: "attention", text: "attended", uses: [], form: "whole", exchange: 1 },
    { name: "network", text: "inside", uses: [3], form: "cut" },
    { name: "network", text: "back", uses: [4], form: "partial" },
    { name: "network", text: "networks", uses: [], form: "whole", exchange: 2 },
    { name: "words", text: "logits", uses: [0], form: "words" },
    { name: "words", text: "loss", uses: [], form: "words", exchange: 3 },
    { name: "back", text: "backwards", uses: ALL, form: "whole", exchange: 4 },
    { name: "gradients", text: "gradients", uses: ALL, exchange: GRADIENTS },
    { name: "Adam", text: "adam", uses: ALL },
    { name: "the bill", text: "bill", uses: ALL },
  ];

  // An address can name what there is not.
  const own = (object, key, other) => (Object.hasOwn(object, key) ? key : other);

  // `account` is what each device holds and sends; a grid that would cut a head has none.
  function see({ grids, tokens, matrices, sizes, start }, state, width) {
    const size = own(sizes, state.size, start.size);
    const grid = own(grids, state.grid, start.grid);
    const batch = Math.max(0, tokens.indexOf(Number(state.tokens)));
    const model = sizes[size];
    const account = model.grids[grid];
    const [rows, slices] = grids[grid];
    const count = rows * slices;
    const known = state.device >= 0 && state.device < count;
    const device = known ? Math.floor(state.device) : 0;
    const slim = width < 560;
    const all = Object.values(model.grids).map((one) => sum(one?.sent[batch] ?? []));
    return {
      ...STEPS[state.step],
      ...layout(width, slim),
      step: state.step,
      width,
      slim,
      letters: slim ? 12 : 13, // their size
      matrices,
      size,
      grid,
      rows,
      slices,
      count,
      device,
      model,
      account,
      batch: tokens[batch],
      sent: account?.sent[batch],
      mostSent: Math.max(...all), // in a step, of any grid
      cutWords: account?.vocabulary, // each device has a slice of the words
    };
  }

  // A device has six rows: five matrices and the tokens. Where there is little room, the bars of
  // the ledger stand above and its list below, and all of it fits a screen.
  function layout(width, slim) {
    const left = slim ? 50 : 54;
    const gap = slim ? 6 : 10;
    const right = slim ? width : Math.min(560, 0.62 * width);
    const across = (right - left - 3 * gap - 7) / 4;
    const pitch = slim ? 19 : 25;
    const start = slim ? 186 : 0;
    const top = (row) => start + row * (34 + pitch * 6 + 28);
    const bus = (row) => top(row) + 36 + pitch * 6;
    return {
      left,
      right,
      across,
      pitch,
      high: pitch - 5,
      top,
      column: (i) => left + i * (across + gap),
      bus,
      foot: bus(1) + 24,
    };
  }

  return { bytes, EXCHANGES, GRADIENTS, STEPS, see };
});
