// Every box as its output, as high as it has tokens and as wide as it has numbers for each.
nlp104.share("shapes", ({ range, note, line, shapes }) => {
  const { times, total, block } = shapes;

  // One scale for all: pixels for a number.
  function scaleOf({ width, size, tower, logitLines }) {
    const widest = Math.max(3 * size.D, size.F, size.H * size.S, size.H * size.T);
    return Math.min((tower - 8) / widest, (logitLines * width) / size.V);
  }

  // How high so many tokens are.
  const heightOf = (long, { size }) => long * (13 / Math.max(size.S, size.T));

  // Where the middle of a tower is, the encoder's or the decoder's.
  const middleOf = (stack, { stage, side, tower }) =>
    stack ? stage - side - tower / 2 : side + tower / 2;

  // Heads stand side by side where they can be told apart; what does not fit is an outline.
  function tensor(key, { concept, long, wide, parts = 1 }, x, y, view, { lit, bad }) {
    const scale = scaleOf(view);
    const h = heightOf(long, view);
    const count = bad || (wide / parts) * scale < 2.5 ? 1 : parts;
    const each = (wide / count) * scale;
    const w = Math.max(1.4, each - (count > 1 ? 0.8 : 0));
    return range(count).map((part) =>
      block(
        `${key},${part}`,
        { x: x + part * each, y: y - h / 2, w, h: Math.max(1.4, h) },
        { concept, strength: lit ? 1 : 0.55, outline: bad },
      ),
    );
  }

  const formsOf = ({ gives }, shape) =>
    gives.flatMap(([, word, colours]) => {
      const [, first, second = 1, third] = shape(word); // without the batch
      const form = third
        ? { long: second, wide: first * third, parts: first } // heads come first
        : { long: first, wide: second };
      return [...colours].map((concept) => ({ concept, ...form }));
    });

  // Where each begins, side by side around the middle of a tower.
  function leftsOf(forms, stack, view) {
    const reach = (some) => total(some, "wide") * scaleOf(view) + 4 * some.length;
    const left = middleOf(stack, view) + 2 - reach(forms) / 2;
    return forms.map((_, k) => left + reach(forms.slice(0, k)));
  }

  // The logits are wider than all else: they stand above, in lines if they must.
  function logits(i, view, form, badge) {
    const { width, size, shown, stage, side, roof } = view;
    const scale = scaleOf(view);
    const wide = size.V * scale;
    const lines = Math.ceil(wide / width - 1e-9);
    const top = roof - 15 * lines;
    const x = Math.max(0, Math.min(width, stage - side + 2) - wide);
    const folded = lines > 1 ? `, in ${lines} lines` : "";
    const title = `${view.made[i].name} ${shown("BTV")}${folded}${badge}`;
    const left = lines > 1 ? 0 : Math.min(x, width - 220);
    return [
      note(`n${i}`, left, top - 12, title, { strong: form.lit }),
      range(lines).map((n) => {
        const part = Math.min(width / scale, size.V - (n * width) / scale);
        const tokens = { concept: "r", long: size.T, wide: part };
        return tensor(`b${i},${n}`, tokens, x, top + 15 * n + 6.5, view, form);
      }),
      block(`p${i}`, { x, y: top - 2, w: Math.min(width, wide), h: 15 * lines }, form.press),
    ];
  }

  function inTower(i, view, form, badge) {
    const { made, shape, stage, pitch, floor } = view;
    const { stack, name } = made[i];
    const row = made.slice(0, i).filter((one) => one.stack === stack).length;
    const y = floor - pitch * (row + 0.5);
    const forms = formsOf(made[i], shape);
    const lefts = leftsOf(forms, stack, view);
    const tensors = forms.map((one, k) => tensor(`b${i},${k}`, one, lefts[k], y, view, form));
    const place = { x: stack ? stage / 2 + 2 : 16, y: y - pitch / 2, w: stage / 2 - 18, h: pitch };
    return [
      block(`p${i}`, place, form.press),
      tensors,
      note(`n${i}`, stack ? stage - 17 : 17, y, name + badge, {
        anchor: stack ? "end" : "start",
        size: view.slim ? 12 : 13,
        strong: form.lit,
        muted: !form.lit && !badge,
      }),
    ];
  }

  function box({ stack, gives, title }, i, view) {
    const { made, chosen, changed, ratios, fits } = view;
    const lit = i === chosen;
    const differs = changed && ratios[i] !== 1;
    const badge = differs ? ` **${times(ratios[i], 2).replace(" ", "")}**` : "";
    const press = {
      strength: lit ? 0.12 : 0,
      radius: 4,
      layer: 0,
      act: `box:${i}`,
      at: `b:0:${i}`,
      first: i === Math.max(0, chosen) % made.length,
      pressed: lit,
      says: title,
    };
    const form = { lit, press, bad: !fits && gives[0][1].includes("H") };
    return stack > 1 ? logits(i, view, form, badge) : inTower(i, view, form, badge);
  }

  // Around the layers of a tower: they are there N times.
  function frame(stack, { size, made, stage, pitch, floor }) {
    const top = floor - made.filter((one) => one.stack === stack).length * pitch;
    const turn = stack ? -4 : 4;
    const edge = stack * stage;
    const path = `M${edge + 4 * turn} ${top + 2}h${-turn}V${floor - 2 * pitch - 2}h${turn}`;
    const title = `${size.N} layer${size.N > 1 ? "s" : ""}`;
    const look = { anchor: "middle", muted: true, slant: -90 };
    return [
      line(`frame${stack}`, path, { concept: "edge" }),
      note(`N${stack}`, edge + turn, (top + floor) / 2 - pitch, title, look),
    ];
  }

  // What the encoder gives to the decoder: its keys and values, and not its queries.
  function context(view) {
    const { made, shape, stage, pitch, floor, size } = view;
    const up = floor - 9 * pitch;
    const middle = middleOf(0, view);
    const forms = formsOf(made.filter(({ stack }) => stack === 1)[6], shape); // Q, K and V
    const lefts = leftsOf(forms, 1, view);
    const foot = floor - 6.5 * pitch - heightOf(size.S, view) / 2 - 2;
    const wires = ["k", "v"].map((concept, i) => {
      const by = [-2, 2][i]; // so that none crosses the other
      const end = lefts[i + 1] + (forms[i + 1].wide * scaleOf(view)) / 2;
      const across = `M${middle - by} ${up}V${up - 5 - by}H${stage / 2 + by}`;
      const path = `${across}V${floor - 7 * pitch - by}H${end}V${foot}`;
      return line(`m${concept}`, path, { concept, width: 1.5 });
    });
    const look = { anchor: "end", muted: true };
    return [wires, note("context", stage / 2 - 8, up - 15, "context", look)];
  }

  const tensors = (view) => [
    view.made.map((one, i) => box(one, i, view)),
    [0, 1].map((stack) => frame(stack, view)),
    context(view),
    view.data.says.scale.map((words, i) => {
      const text = `${words}${i ? "" : view.size.B}`;
      return note(`note${i}`, 17, view.roof + 10 + 15 * i, text, { muted: true });
    }),
  ];

  return { tensors };
});
