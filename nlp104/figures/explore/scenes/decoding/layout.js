// Which word is shown, and where all words stand.
nlp104.share("decoding", ({ range, decoding: { nameIn, path } }) => {
  const PITCH = 27; // of words, on a phone

  function see(data, search, state, width) {
    const found = search(state);
    const { sentence, frames, numBeams } = found;
    const phase = Math.min(state.step, 3); // vector, logits, softmax; then words
    const open = phase < 3;
    const now = Math.min(Math.max(1, state.step - 2), frames.length);
    const frame = frames[now - 1];
    const lead = open ? frame.read[0] : frame.kept[0].from;
    const done = frames.slice(0, open ? 0 : now);
    // Nothing shall jump when another first word is tapped.
    const firsts = state.mode === "greedy" ? range(6) : [0];
    const lengths = firsts.map((first) => search({ ...state, first }).frames.length);
    const many = numBeams > 1;
    const slim = width < 560;
    const head = slim ? 0 : 52;
    // Before there is a word, the candidates stand where the eye is, on a phone.
    const whole = 1 + Math.max(...lengths);
    const count = slim && open && !many ? 2 : whole;
    const view = {
      ...found,
      data,
      state,
      width,
      slim,
      head,
      sourceWidth: Math.min(88, (width - head) / sentence.source.length),
      phase,
      open,
      now,
      frame,
      lead,
      done,
      shown: [path(lead)[0], ...done.flatMap(({ kept }) => kept)],
      node: sentence.nodes[lead.node],
      last: !open && now === frames.length,
      dice: state.mode === "sampling",
      many,
      pool: many && !open, // beginnings compete
      count,
      spare: (whole - count) * PITCH, // pixels
      name: nameIn(data.words),
    };
    const layout = slim ? downwards(view) : rightwards(view);
    const next = layout.place({ length: now, row: open ? 0 : frame.kept[0].row });
    return { ...view, ...layout, next };
  }

  // On a phone words are written downwards. In slots stand keys (0) and values (1).
  function downwards({ width, many, numBeams, count }) {
    const top = 98;
    const height = many ? 46 : PITCH;
    const column = many ? Math.min(width / numBeams, 112) : 84;
    const pill = { w: Math.min(column - 5, 86), h: 22 };
    return {
      pill,
      bottom: top + count * height + 14,
      place: ({ length, row }) => ({
        x: many ? row * column + (column - pill.w) / 2 : 0,
        y: top + length * height,
      }),
      slot: (i, { y }) => ({ x: pill.w + 10 + 56 * i, y: y + 3, w: 52, h: 17 }),
      digit: (j, { x, y, w, h }) => ({ x: x + (j * w) / 4, y, w: w / 4, h }),
      slotName: (i) => [pill.w + 10 + 56 * i, top - 10],
      sumName: [width, top - 10],
      sum: (x, y) => [width, y + 11],
      anchor: "end",
      link(from, to) {
        const x = from.x + pill.w / 2;
        const y = from.y + pill.h + (many && from.y > top ? 15 : 0); // below its sum
        const end = to.x + pill.w / 2;
        const middle = (y + to.y) / 2;
        return `M${x} ${y}C${x} ${middle} ${end} ${middle} ${end} ${to.y}`;
      },
    };
  }
  function rightwards({ head, width, many, numBeams, count }) {
    const top = 96;
    const height = many ? 46 : 24;
    const column = Math.min(many ? 112 : 92, (width - head) / count);
    const pill = { w: Math.min(column - (many ? 18 : 10), 86), h: 24 };
    return {
      pill,
      bottom: top + (many ? numBeams * height : 146) + 22,
      place: ({ length, row }) => ({ x: head + length * column, y: top + row * height }),
      slot: (i, { x }) => ({ x: x + 4, y: top + 50 + 46 * i, w: pill.w - 8, h: 44 }),
      digit: (j, { x, y, w, h }) => ({ x, y: y + (j * h) / 4, w, h: h / 4 }),
      slotName: (i) => [0, top + 72 + 46 * i],
      sumName: [0, top + (many ? 32 : 36)],
      sum: (x, y) => [x + pill.w / 2, y + 36],
      anchor: "middle",
      link(from, to) {
        const x = from.x + pill.w;
        const y = from.y + pill.h / 2;
        const end = to.y + pill.h / 2;
        const middle = (x + to.x) / 2;
        return `M${x} ${y}C${middle} ${y} ${middle} ${end} ${to.x} ${end}`;
      },
    };
  }
  return { see };
});
