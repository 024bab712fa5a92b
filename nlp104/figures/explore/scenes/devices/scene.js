// Eight devices and one step of training: which slice each holds, what it works on, what it sends.
nlp104.scene("devices", (data, { exact, devices }) => {
  const { EXCHANGES, STEPS, see, grid, exchange, ledger, caption } = devices;
  const GRIDS = { one: "1", rows: "8 × 1", both: "2 × 4", slices: "1 × 8" };
  const { grids, sizes, tokens, start } = data;

  function table({ account, sent }) {
    const held = [1, 1, 2].map((times) => (account ? times * account.held : null));
    return {
      caption: "Bytes of each device",
      rows: ["weights", "gradients", "moments", ...EXCHANGES.map((name) => `sent: ${name}`)],
      columns: ["bytes"],
      values: [...held, ...EXCHANGES.map((_, i) => sent?.[i] ?? null)].map((x) => [x]),
    };
  }

  function draw(state, width) {
    const view = see(data, state, width);
    const { marks, height } = ledger(view);
    return {
      marks: [grid(view), exchange(view), marks],
      height,
      caption: caption(view),
      table: table(view),
    };
  }

  return {
    lead:
      "Compare 8 × 1 with 1 × 8: what does a device hold, and what does it send? " +
      "Then go through a step, or tap a device. (E: embeddings; QKV and $W_O$: attention; " +
      "$W_1$ and $W_2$: the feed-forward network.)",
    start,
    keep: ["grid", "size", "tokens"],
    chapters: STEPS.map(({ name }) => name),
    options: [
      {
        name: "grid",
        label: "Rows × slices",
        values: Object.keys(grids).map((key) => [key, GRIDS[key]]),
      },
      { name: "size", label: "Model", values: Object.keys(sizes).map((key) => [key, key]) },
      { name: "tokens", label: "Tokens", values: tokens.map((count) => [count, exact(count)]) },
    ],
    draw,
    pause: () => 4600,
    press(state, [, id]) {
      state.device = Number(id);
    },
  };
});
