// What each device holds and sends, to scale, and what the chosen one works on.
nlp104.share("devices", ({ sum, range, exact, area, label, devices }) => {
  const { bytes, EXCHANGES, GRADIENTS, STEPS } = devices;
  // So many times the weights; they are used from a step on.
  const HELD = [
    { name: "weights", times: 1, concept: "ink", strength: 0.85, from: 12 },
    { name: "gradients", times: 1, concept: "r", strength: 0.95, from: 10 },
    { name: "Adam’s m and v", times: 2, concept: "r", strength: 0.45, from: 12 },
  ];

  // The bar is as wide as what a device without others would hold.
  function holds(view, { x, y, width, line }) {
    const { step, letters, model, account } = view;
    const scale = (number) => (number * account.held * width) / (4 * model.grids.one.held);
    const title = account ? `Each device holds **${bytes(4 * account.held)}**` : "Nothing is held";
    const room = { concept: "r", strength: 0.1, radius: 2 };
    return [
      label("holds", x, y + 10, title, { size: 13 }),
      area("room", { x, y: y + 22, w: width, h: 14 }, room),
      HELD.map(({ name, times, concept, strength, from }, i) => {
        const before = sum(HELD.slice(0, i).map((one) => one.times));
        const lit = step >= from || (step === 0 && name !== "gradients");
        const look = { concept, strength, layer: 1 };
        const place = account && { x: x + scale(before), y: y + 22, h: 14 };
        const end = { anchor: "end", strong: lit, muted: !lit, size: letters };
        const at = y + 49 + line * i;
        const size = account ? bytes(times * account.held) : "–";
        return [
          account &&
            area(
              `hold${i}`,
              { ...place, w: Math.max(1, scale(times) - 0.8) },
              { ...look, radius: 1 },
            ),
          area(`sign${i}`, { x, y: at - 5, w: 10, h: 10 }, { ...look, radius: 2 }),
          label(`hold${i}:`, x + 16, at, name, { strong: lit, muted: !lit, size: letters }),
          label(`hold${i}=`, x + width, at, size, end),
        ];
      }),
    ];
  }

  // The longest bar is the most that is sent in any grid.
  function sends(view, { x, y, width, line }) {
    const { step, slim, letters, exchange, account, sent, mostSent } = view;
    const left = x + (slim ? 118 : 126);
    const room = width - (left - x) - 62;
    const title = account
      ? `Each device sends **${bytes(sum(sent))}** in a step`
      : "Nothing is sent";
    return [
      label("sends", x, y, title, { size: 13 }),
      EXCHANGES.map((name, i) => {
        const at = y + 20 + line * i;
        const lit = exchange === i || step === STEPS.length - 1;
        const done = STEPS.findIndex((one) => one.exchange === i) <= step;
        const look = { strong: lit, muted: !lit, size: letters };
        const size = sent?.[i] ? bytes(sent[i]) : "–";
        return [
          label(`send${i}`, x, at, name, look),
          label(`send${i}=`, x + width, at, size, { anchor: "end", ...look }),
          sent?.[i] && bar(i, left, at, (room * sent[i]) / mostSent, { lit, done }),
        ];
      }),
    ];
  }
  function bar(i, x, y, w, { lit, done }) {
    const concept = i === GRADIENTS ? "ink" : "r";
    const past = done ? 0.6 : 0.25;
    const look = { concept, strength: lit ? 0.95 : past, radius: 2, layer: 1 };
    return area(`bar${i}`, { x, y: y - 6, w: Math.max(1.5, w), h: 12 }, look);
  }

  // The numbers of one part of so many.
  function part(all, i, of) {
    const [first, last] = [(all / of) * i + 1, (all / of) * (i + 1)].map(exact);
    if (of === 1) return `all ${last}`;
    return `${first}${first === last ? "" : `–${last}`} of ${exact(all)}`;
  }
  function worksOn(view, { x, y, line }) {
    const { slim, device, model, account, rows, slices, batch, cutWords } = view;
    const row = Math.floor(device / slices);
    const slice = device % slices;
    const lines = [
      ["tokens", part(batch, row, rows)],
      ["heads", part(model.heads, slice, slices)],
      ["inner units", part(model.ff, slice, slices)],
      ["words", cutWords ? part(model.words, slice, slices) : part(model.words, 0, 1)],
    ];
    return [
      label("own", x, y, `Device ${device} works on`, { size: 13, strong: true }),
      range(4).map((i) => {
        const [name, text] = account ? lines[i] : ["–", ""];
        const at = y + line * (i + 1);
        return [
          label(`own${i}`, x, at, name, { muted: true, size: 12 }),
          label(`own${i}=`, x + (slim ? 90 : 74), at, text, { size: 12 }),
        ];
      }),
    ];
  }

  function ledger(view) {
    const { width, slim, right, foot } = view;
    const line = slim ? 18 : 20;
    const x = slim ? 0 : right + 26;
    const top = slim ? foot + 14 : 0;
    const middle = top + 64 + 3 * line;
    const bottom = middle + 32 + 6 * line;
    const place = { x, width: width - x, line };
    return {
      marks: [
        holds(view, { ...place, y: top }),
        sends(view, { ...place, y: middle }),
        worksOn(view, { ...place, y: bottom }),
      ],
      height: Math.max(foot, bottom + 4 * line + 12),
    };
  }

  return { ledger };
});
