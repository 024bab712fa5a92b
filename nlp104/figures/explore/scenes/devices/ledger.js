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
        const lit = step >= from || step === 0;
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

  const isBill = ({ step }) => step === STEPS.length - 1;
  const doneIn = ({ step }, i) => STEPS.findIndex((one) => one.exchange === i) <= step;

  // One bar, of all that is sent in a step. The longest is the most of any grid.
  function sends(view, { x, y, width }) {
    const { letters, exchange, account, sent, mostSent } = view;
    const title = account
      ? `Each device sends **${bytes(sum(sent))}** in a step`
      : "Nothing is sent";
    const scale = (number) => (number * width) / mostSent;
    const now = sent?.[exchange] > 0;
    const text = now ? `now, ${EXCHANGES[exchange]}: ${bytes(sent[exchange])}` : kinds(view);
    const room = { concept: "r", strength: 0.1, radius: 2 };
    return [
      label("sends", x, y + 10, title, { size: 13 }),
      area("way", { x, y: y + 22, w: width, h: 14 }, room),
      (sent ?? []).map((number, i) => {
        const place = { x: x + scale(sum(sent.slice(0, i))), y: y + 22, h: 14 };
        const w = Math.max(1, scale(number) - 0.8);
        return number > 0 && area(`bar${i}`, { ...place, w }, look(view, i));
      }),
      label("sent", x, y + 49, text, { strong: now, muted: !now, size: letters }),
    ];
  }
  function look(view, i) {
    const concept = i === GRADIENTS ? "ink" : "r";
    const past = (doneIn(view, i) ? 0.6 : 0.35) + 0.25 * (i === GRADIENTS);
    return { concept, strength: view.exchange === i ? 0.95 : past, radius: 1, layer: 1 };
  }
  function kinds({ sent, rows, slices }) {
    if (!sent) return "";
    if (rows === 1) return slices === 1 ? "There is nobody else." : "all of it vectors";
    return slices === 1 ? "all of it gradients" : "grey: vectors, dark: gradients";
  }

  // The bill: what is sent in each exchange; where there is little room, in two columns.
  function bill({ slim, account, sent, letters }, { x, y, width, line }) {
    const end = { anchor: "end", strong: true, size: letters };
    const rows = slim ? 3 : 6;
    const wide = slim ? width / 2 - 12 : width;
    return [
      label("own", x, y, "What is sent, one by one", { size: 13, strong: true }),
      EXCHANGES.map((name, i) => {
        const left = x + (i < rows ? 0 : wide + 24);
        const at = y + line * ((i % rows) + 1);
        const size = account && sent[i] ? bytes(sent[i]) : "–";
        return [
          label(`send${i}`, left, at, name, { size: letters }),
          label(`send${i}=`, left + wide, at, size, end),
        ];
      }),
    ];
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
      label("own", x, y, `Device ${device + 1} works on`, { size: 13, strong: true }),
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
    const middle = (slim ? 58 : 66) + 3 * line;
    const bottom = slim ? foot + 10 : middle + 82;
    const place = { x, width: width - x, line };
    const last = isBill(view) ? bill : worksOn;
    return {
      marks: [
        holds(view, { ...place, y: 0 }),
        sends(view, { ...place, y: middle }),
        last(view, { ...place, y: bottom }),
      ],
      height: Math.max(foot, bottom + (slim ? 4 : 6) * line + 12),
    };
  }

  return { ledger };
});
