// The tokens, the phrases as bars over their words, and the pile of those that are open.
nlp104.share("brackets", ({ area, label, token }) => {
  const GAP = 4;
  const PILL = 26; // pixels: the height of a token
  const ROW = 22; // of a bar

  // Tokens in lines.
  function lines(tokens, width) {
    let [x, y] = [0, 0];
    return tokens.map((word) => {
      const w = 7.6 * word.length + 15;
      if (x + w > width) [x, y] = [0, y + PILL + GAP];
      const place = { x, y, w, h: PILL };
      x += w + GAP;
      return place;
    });
  }

  function layout(sentence, width) {
    const { deepest } = nlp104.brackets;
    const { tokens, words } = sentence;
    const places = lines(tokens, width);
    const top = places.at(-1).y + PILL + 22;
    const pitch = Math.min(96, width / words.length);
    const ground = top + ROW * deepest(sentence) + 4; // where the words stand
    return { width, places, pitch, ground, shelf: ground + 48, height: ground + 92 };
  }

  const strip = ({ tokens, places, step, fault }) =>
    tokens.map((word, i) =>
      token(`token ${i}`, places[i], {
        word,
        size: 13,
        chosen: i === step - 1,
        dashed: i === fault,
        bare: i >= step,
        muted: i >= step,
        act: `to:${i + 1}`,
        at: `t:0:${i}`,
        first: i === Math.max(0, step - 1),
        says: `Read up to ${word}`,
      }),
    );

  // A phrase over its words; an open one goes on to the right.
  function bar({ pitch, ground, place }, { at, name, from, to, depth }) {
    const open = to === undefined;
    const end = open ? Math.max(place, from + 0.5) : to;
    const box = {
      x: pitch * from + 1,
      y: ground - ROW * (depth + 1),
      w: pitch * (end - from) - 3,
      h: ROW - 3,
    };
    const look = open
      ? { concept: "r", outline: true, radius: 4 }
      : { concept: "r", strength: 0.22, radius: 4 };
    return [
      area(`bar ${at}`, box, { layer: 1, ...look }),
      label(`bar ${at} name`, box.x + box.w / 2, box.y + box.h / 2, name, {
        anchor: "middle",
        size: 12,
        strong: open,
      }),
    ];
  }

  const words = ({ words: all, pitch, ground, place, width }) =>
    all.map((word, i) =>
      label(`word ${i}`, pitch * (i + 0.5), ground + 12, word, {
        anchor: "middle",
        size: width < 560 ? 12 : 14,
        muted: i >= place,
        strong: i < place,
      }),
    );

  // The open phrases in a row, the one that closes next at its end.
  function pile({ pile: all, shelf: y, width }) {
    const wide = Math.min(64, (width - 56) / Math.max(1, all.length));
    return [
      label("open", 0, y + 14, "open:", { muted: true }),
      all.map(({ at, name }, i) =>
        token(
          `open ${at}`,
          { x: 48 + i * wide, y, w: wide - 4, h: 28 },
          { word: name, size: wide < 44 ? 12 : 13, chosen: i === all.length - 1 },
        ),
      ),
      !all.length && label("none", 48, y + 14, "nothing"),
    ];
  }

  const draw = (view) => [
    strip(view),
    [...view.done, ...view.pile].map((phrase) => bar(view, phrase)),
    words(view),
    pile(view),
  ];

  return { layout, draw };
});
