// The tokens; below them the merges around this one, and how many tokens each has left.
nlp104.share("merges", ({ area, exact, label, limit, line, token, range }) => {
  const PILL = 30; // pixels: the height of a token
  const LINE = 38; // from one line of tokens to the next
  const WORD = 9; // between two words
  const ROW = 26; // of a merge
  const LETTERS = 24; // of a merge in the list
  const SHOWN = 5; // merges: the last one, and those around it

  // The tokens of each word, with the signs that cling to it.
  function wordsOf(parts) {
    const words = [];
    for (const tokens of parts)
      if (words.length && !tokens[0].token.startsWith("▁")) words.at(-1).push(...tokens);
      else words.push([...tokens]);
    return words;
  }

  // The places of all tokens, in lines that break between words, or within one that is too long.
  function lines(parts, width, size) {
    let [x, y] = [0, 0];
    const wide = ({ token: text }) => Math.max(18, 0.6 * size * [...text].length + 11);
    const tokens = wordsOf(parts).flatMap((word) => {
      const whole = word.reduce((total, one) => total + wide(one), 0);
      if (x && x + WORD + whole > width) [x, y] = [0, y + LINE];
      else if (x) x += WORD;
      return word.map((one) => {
        const w = wide(one);
        if (x && x + w > width) [x, y] = [0, y + LINE];
        const place = { x, y, w, h: PILL };
        x += w;
        return { ...one, place };
      });
    });
    return { tokens, height: y + PILL };
  }

  // On a phone the curve is below the merges, else beside them. The text keeps the room that it
  // takes as letters, so that nothing below it moves.
  function layout(states, now, width) {
    const slim = width < 560;
    const size = slim ? 14 : 15;
    const top = lines(states[0].parts, width, size).height + 28;
    const { tokens } = lines(now.parts, width, size);
    const foot = top + 14 + ROW * SHOWN;
    const curve = slim
      ? { x: 30, y: foot + 42, w: width - 44, h: 84 }
      : { x: 350, y: top + 26, w: width - 362, h: ROW * SHOWN - 34 };
    return { width, size, tokens, top, curve, height: curve.y + curve.h + 34 };
  }

  // A letter that no merge knows is a sign.
  const pieces = ({ tokens, size, known, fresh }) =>
    tokens.map(({ token: word, at, place, fresh: joined }) =>
      token(`piece ${at}`, place, {
        word,
        size,
        chosen: fresh && joined,
        dashed: ![...word].every((letter) => known.has(letter)),
      }),
    );

  // What becomes of both is left out where it finds no room.
  const joins = (one, other) => {
    const [pair, both] = [`${one} + ${other}`, `${one}${other}`];
    return pair.length + both.length > LETTERS ? pair : `${pair} → ${both}`;
  };

  const list = ({ merges, step, top, width }) => [
    label("list", 0, top, step ? "merges, the last one bold" : "the first merges", { muted: true }),
    range(Math.min(SHOWN, merges.length)).map((row) => {
      const k = 1 + row + limit(step - 3, 0, Math.max(0, merges.length - SHOWN));
      const [one, other, times] = merges[k - 1];
      const now = k === step;
      const [y, look] = [top + 14 + ROW * (row + 0.5), { strong: now, muted: !now }];
      return [
        label(`merge ${k}`, 26, y, `${k}`, { anchor: "end", ...look }),
        label(`merge ${k} joins`, 40, y, joins(one, other), look),
        label(`merge ${k} times`, Math.min(304, width), y, `${exact(times)} ×`, {
          anchor: "end",
          ...look,
        }),
      ];
    }),
  ];

  // How many tokens the text has after each merge.
  function curve({ states, merges, step, now, curve: box }) {
    const most = Math.max(1, states[0].count);
    const x = (k) => box.x + (box.w * k) / merges.length;
    const y = (count) => box.y + box.h * (1 - count / most);
    const steps = states.map(
      ({ from, count }, i) => `${i ? `H${x(from)}V` : `M${x(0)} `}${y(count)}`,
    );
    const late = step > 0.8 * merges.length; // to the right there is no room
    const dot = { x: x(step) - 5, y: y(now.count) - 5, w: 10, h: 10 };
    return [
      label("tokens", box.x - 24, box.y - 26, "tokens of this text", { muted: true }),
      line("ground", `M${x(0)} ${y(0)}H${x(merges.length)}`),
      line("curve", `${steps.join("")}H${x(merges.length)}`, { concept: "ink", width: 2 }),
      area("dot", dot, { concept: "ink", strength: 1, radius: 5, layer: 2 }),
      label("most", box.x - 8, y(most), `${most}`, { anchor: "end", size: 12, muted: true }),
      label("none", box.x - 8, y(0), "0", { anchor: "end", size: 12, muted: true }),
      label("count", x(step) + (late ? -10 : 10), y(now.count) - 12, `${now.count}`, {
        anchor: late ? "end" : "start",
        strong: true,
      }),
      range(Math.floor(merges.length / 100) + 1).map((i) =>
        label(`tick ${i}`, x(100 * i), y(0) + 14, `${100 * i}`, {
          anchor: "middle",
          size: 12,
          muted: true,
        }),
      ),
    ];
  }

  const draw = (view) => [pieces(view), list(view), curve(view)];

  return { layout, draw };
});
