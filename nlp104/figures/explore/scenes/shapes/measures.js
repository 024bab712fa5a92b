// All that follows from the sizes, and where it stands.
nlp104.share("shapes", ({ sum, range, tidy, write, shapes: { total } }) => {
  const LINES = 3; // that the logits may take

  // An address can name sizes that no fader has.
  function sizesOf({ sizes, presets }, state) {
    const size = {};
    for (const { letter, name, notches } of sizes) {
      const value = presets[state.preset]?.[name] ?? state[name];
      const known = value >= 0 && value <= notches.at(-1);
      size[letter] = (known && Math.round(value)) || notches[0];
    }
    size.K = size.D / size.H;
    // The source may have a vocabulary of its own.
    const english = presets[state.preset]?.english ?? state.english;
    const two = !size.E && english > 0 && english <= 1e6;
    size.U = two ? Math.round(english) : size.V;
    return size;
  }

  function compute(data, state) {
    const size = sizesOf(data, state);
    const shape = (word) => [...word].map((letter) => size[letter]);
    const product = (word) => shape(word).reduce((a, b) => a * b, 1);
    const count = (arrays) =>
      sum(arrays.map(([, word, colours]) => colours.length * product(word)));
    const made = data.boxes.map((box) => {
      const holds = box.holds.filter(([, , , shared]) => !(size.E && shared));
      const each = box.layer ? size.N : 1;
      return {
        ...box,
        holds,
        each,
        tied: holds.length < box.holds.length,
        numbers: count(box.gives),
        parameters: each * count(holds),
        work: each * count(box.products),
      };
    });
    return {
      size,
      made,
      parameters: total(made, "parameters"),
      work: total(made, "work"),
      fits: size.K % 1 === 0,
      shape,
      shown: (word) =>
        `[${shape(word)
          .map((x) => +x.toFixed(1))
          .join(", ")}]`,
    };
  }

  // At first the towers have all the room, then the box that is chosen has a part of it.
  function layout(width, slim, alone) {
    const faderHeight = slim ? 54 : 72;
    const stage = slim || alone ? width : 430; // the width of both towers with their names
    const side = 92; // the width of the names
    const pitch = slim ? 18 : 19; // of boxes
    const rise = slim && alone ? 13 : 0; // so much more has each, and the height stays
    const roof = (slim ? 2 * faderHeight + 92 : faderHeight + 68) + 15 * LINES;
    const floor = roof + 13 * (pitch + rise);
    const lineHeight = slim ? 17 : 19; // of what stands beside the towers
    const kindsTop = floor - 13 * rise + (slim ? 18 + 11.5 * lineHeight : 28);
    return {
      faderWidth: slim ? width / 6 : 56,
      faderHeight,
      stage,
      side,
      tower: stage / 2 - side - 12,
      pitch: pitch + rise,
      roof,
      floor,
      lineHeight,
      kindsTop,
      matricesTop: kindsTop + (slim ? 70 : 54),
      matricesHeight: slim ? 80 : 126,
    };
  }

  // What a state comes to; `old` is what it was before a fader moved.
  function see(data, state, width) {
    const now = compute(data, state);
    const { made, fits, parameters } = now;
    const slim = width < 560;
    const [name, earlier] = String(state.was).split(":");
    const moved = data.sizes.find((one) => one.name === name);
    const old = moved && compute(data, { ...state, preset: "", [name]: +earlier });
    const changed = fits && old?.fits;
    const shares = data.kinds.map((_, kind) => {
      const own = made.filter((box) => box.kind === kind);
      return total(own, "parameters") / parameters;
    });
    const chosen = state.step - 1;
    return {
      ...now,
      ...layout(width, slim, chosen < 0),
      data,
      width,
      slim,
      chosen,
      box: made[chosen],
      moved,
      earlier,
      old,
      changed,
      ratios: changed && made.map((box, i) => tidy(box.numbers / old.made[i].numbers)),
      order: range(made.length).sort((a, b) => made[b].numbers - made[a].numbers),
      shares,
      percent: shares.map((x) => `${write(100 * x, x < 0.01 ? 2 : 0)} %`),
      logitLines: LINES,
    };
  }

  // A fader goes to a notch: all sizes are the reader's own from here on.
  function turn(data, state, i, notch) {
    const { name, letter, notches } = data.sizes[i];
    const size = sizesOf(data, state);
    if (notches[notch] === size[letter]) return;
    for (const one of data.sizes) state[one.name] = size[one.letter];
    state.english = data.presets[state.preset]?.english ?? state.english;
    if (!String(state.was).startsWith(`${name}:`)) state.was = `${name}:${size[letter]}`;
    Object.assign(state, { preset: "own", [name]: notches[notch] });
  }

  return { see, turn };
});
