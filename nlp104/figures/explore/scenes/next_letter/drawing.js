// The text, with your guesses piled on it and the model's hanging from it; the keys; two charts.
nlp104.share("next_letter", ({ area, label, line, token, range, write, next_letter: game }) => {
  const LETTER = 26; // pixels: the height of a letter
  const SIDE = 50; // what stands beside the text
  const CELL = 15.2; // the narrowest letter
  const HEAD = 28; // above the keys and the charts
  const ROW = 21; // of a chart

  function layout(passages, width) {
    const slim = width < 560;
    const most = Math.max(...passages.map(({ hidden }) => hidden.length));
    const room = width - SIDE;
    const across = Math.ceil(most / Math.ceil((most * CELL) / room));
    const lane = slim ? 42 : 52; // of a pile, with its number
    const pitch = 2 * lane + LETTER + 6;
    const top = 36 + Math.ceil(most / across) * pitch;
    const key = slim ? { w: width / 10, h: 46 } : { w: Math.min(36, (0.5 * width) / 10), h: 42 };
    const keys = { x: 0, y: top + HEAD, ...key };
    const low = slim ? keys.y + 3 * key.h + 26 : top;
    const left = slim ? 0 : 10 * key.w + 30;
    const half = (width - left - 26) / 2;
    return {
      slim,
      width,
      across,
      lane,
      pitch,
      keys,
      cell: Math.min(22, room / across),
      thought: { x: left, y: low, w: half },
      means: { x: left + half + 26, y: low, w: half },
      height: Math.max(keys.y + 3 * key.h, low + HEAD + 6 * ROW) + 4,
    };
  }

  const placeOf = ({ across, cell, lane, pitch }, i) => ({
    x: SIDE + cell * (i % across),
    y: 36 + pitch * Math.floor(i / across) + lane,
  });

  // A pile of guesses: up from the letter, or down.
  function pile(view, key, i, guesses, concept, up) {
    if (!guesses) return null;
    const { lane, cell } = view;
    const { x, y } = placeOf(view, i);
    const h = (lane - 16) * view.tall(guesses);
    const top = up ? y - h - 1 : y + LETTER + 1;
    const bar = { x: x + 1.5, y: top, w: cell - 3, h };
    return [
      area(`${key} ${i}`, bar, { concept, radius: 2, layer: 1 }),
      guesses > 1 &&
        label(`${key} ${i} guesses`, x + cell / 2, up ? top - 7 : top + h + 8, `${guesses}`, {
          size: 12,
          anchor: "middle",
        }),
    ];
  }

  function letter(view, i) {
    const { cell, step, passage, mine, guessers } = view;
    const { x, y } = placeOf(view, i);
    const box = { x, y, w: cell, h: LETTER };
    const now = i === step;
    const middle = { anchor: "middle", size: 17 };
    const put = (text, look) => label(`letter ${i}`, x + cell / 2, y + LETTER / 2, text, look);
    if (i >= step)
      return [
        area(
          `hidden ${i}`,
          { x: x + 0.5, y: y + 2, w: cell - 1, h: LETTER - 4 },
          { hatch: true, radius: 3 },
        ),
        now && area("now", box, { outline: true, concept: "ink", radius: 4, layer: 2 }),
        now && put("?", { ...middle, strong: true }),
      ];
    const text = passage.hidden[i];
    return [
      put(text === " " ? "␣" : text, { ...middle, muted: text === " " }),
      pile(view, "yours", i, mine[i], "you", true),
      pile(view, "model", i, guessers[0].places[i], "model", false),
    ];
  }

  function sides(view) {
    const lines = range(Math.ceil(view.last / view.across));
    return lines.map((k) => {
      const { y } = placeOf(view, k * view.across);
      return [
        label(`you ${k}`, 0, y - 9, "you", { strong: true }),
        label(`it ${k}`, 0, y + LETTER + 10, "model", { concept: "model", strong: true }),
        !k && !view.averages.yours && label("yours", SIDE, y - 9, "no guess yet", { muted: true }),
      ];
    });
  }

  function keyboard(view) {
    const { keys, tried, step, last } = view;
    const over = step >= last;
    const shift = [0, 0.5, 0];
    return game.KEYS.map((row, r) =>
      [...row].map((key, c) => {
        const wide = key === "_" ? 3 : 1;
        const place = {
          x: keys.x + keys.w * (c + shift[r]) + 1.5,
          y: keys.y + keys.h * r + 1.5,
          w: keys.w * wide - 3,
          h: keys.h - 3,
        };
        const wrong = tried.includes(key);
        const name = game.nameOf(key);
        const [x, y] = [place.x + place.w / 2, place.y + place.h / 2];
        return [
          token(`key ${key}`, place, {
            word: name,
            size: key === "_" ? 14 : 16,
            muted: wrong || over,
            dashed: wrong,
            act: over ? "" : `guess:${key}`,
            at: `k:${r}:${c}`,
            first: key === "q",
            pressed: wrong,
            says: wrong ? `${name}, wrong` : name,
          }),
          wrong &&
            line(`wrong ${key}`, `M${x - 9} ${y + 9}L${x + 9} ${y - 9}`, {
              concept: "ink",
              width: 1.5,
              layer: 2,
            }),
        ];
      }),
    );
  }

  function asking(view) {
    const { keys, step, last } = view;
    const y = keys.y - 16;
    const words =
      step < last
        ? `**Letter ${step + 1}** of ${last}: which is it?`
        : `All ${last} letters are open.`;
    return [
      label("asking", keys.x, y, words, { size: 14 }),
      step < last &&
        token(
          "open",
          { x: keys.x + 10 * keys.w - 77, y: y - 14, w: 76, h: 28 },
          {
            word: "show it",
            size: 13,
            act: "open",
            at: "o:0:0",
            first: true,
            says: "show it",
          },
        ),
    ];
  }

  const title = (key, { x, y }, words) => label(key, x, y + 12, words, { size: 14 });

  // What the model expected where the last open letter stands.
  function thought({ step, passage, guessers, thought: box }) {
    if (!step) return title("thought", box, "Bets");
    const [{ own }] = guessers;
    const right = game.keyOf(passage.hidden[step - 1]);
    const rows = passage.best[step - 1].map(([key, share]) => [game.keyOf(key), share]);
    if (!rows.some(([key]) => key === right)) rows.splice(-1, 1, [right, own[step - 1]]);
    const unit = box.w - 48 - 44;
    return [
      title("thought", box, `Bets on **letter ${step}**`),
      rows.map(([key, share], k) => {
        const [y, strong] = [box.y + HEAD + ROW * (k + 0.5), key === right];
        const w = Math.max(1.5, unit * share);
        const bar = { x: box.x + 48, y: y - 6.5, w, h: 13 };
        const look = { concept: "model", radius: 2, strength: strong ? 1 : 0.35 };
        return [
          label(`best ${k}`, box.x + 42, y, game.nameOf(key), { anchor: "end", strong }),
          area(`best ${k} bar`, bar, look),
          label(`best ${k} share`, box.x + 54 + w, y, game.percent(share), { strong }),
        ];
      }),
    ];
  }

  function mean({ x, y, w }, { name, guesses, nats }, k, unit) {
    const concept = ["you", "model", "table"][k];
    const bar = { x, y: y + 18, w: unit * (guesses ?? 0), h: 13 };
    const words = guesses ? `${write(guesses, 1)} a letter` : k ? "" : "press a key";
    const muted = { muted: true };
    return [
      label(`mean ${k}`, x, y + 8, name, {}),
      guesses && area(`mean ${k} bar`, bar, { concept, radius: 2 }),
      label(
        `mean ${k} guesses`,
        x + (guesses ? bar.w + 7 : 0),
        y + 24.5,
        words,
        guesses ? { strong: true } : muted,
      ),
      nats !== undefined &&
        label(`mean ${k} nats`, x + w, y + 8, `${write(nats, 1)} nats`, {
          ...muted,
          anchor: "end",
        }),
    ];
  }

  function means({ means: box, averages: { count, yours, rows } }) {
    const most = Math.max(4, ...rows.map(({ guesses }) => guesses ?? 0));
    const unit = (box.w - 104) / most;
    const row = (one, k) => mean({ ...box, y: box.y + HEAD + 2 * ROW * k }, one, k, unit);
    const letters = yours ? `your ${count}` : `all ${count}`;
    return [title("means", box, count ? `Guesses, ${letters}` : "Guesses"), rows.map(row)];
  }

  const draw = (view) => [
    label("shown", SIDE, 12, view.passage.shown, { size: 17 }),
    range(view.last).map((i) => letter(view, i)),
    sides(view),
    keyboard(view),
    asking(view),
    thought(view),
    means(view),
  ];

  return { layout, draw };
});
