// All kinds of layers at the same time: how far the news has come in each.
nlp104.share("paths", ({ range, area, token }) => {
  const notes = (n) => [
    "one word after the other",
    `${n} words at once, 1 to each side`,
    `${n} words at once, 2 to each side`,
    `${n} words at once, to every word`,
  ];

  // Beside the network, below it where there is little room.
  function placeKinds({ width, slim, side, n }, { bottom }) {
    const pill = 138;
    const x = slim ? 0 : width - side;
    const track = slim ? pill + 10 : x;
    const room = (slim ? width - 64 : width) - track;
    return {
      x,
      title: slim ? bottom + 34 : 9,
      y: slim ? bottom + 50 : 24,
      pill,
      pitch: slim ? 34 : 80,
      track,
      below: slim ? 9 : 38, // the slots, from the top of the pill
      slot: room / n,
    };
  }

  function name({ kinds, kind }, k, { x, pill }, y) {
    const chosen = k === kind;
    return token(
      `k${k}`,
      { x, y, w: pill, h: 28 },
      {
        word: kinds[k],
        size: 12,
        chosen,
        act: `kind:${k}`,
        at: `k:${k}:0`,
        first: chosen,
        pressed: chosen,
        says: `Follow ${kinds[k]}`,
      },
    );
  }

  function count(view, k, y) {
    const { put, some } = nlp104.paths;
    const { width, time, to, steps, unit } = view;
    const arrived = time >= steps(k, to);
    const waiting = time ? `${time} so far` : "";
    const text = arrived ? some(steps(k, to), unit(k)) : waiting;
    return put(view, `c${k}`, width, y + 14, text, {
      anchor: "end",
      strong: arrived,
      muted: !arrived,
    });
  }

  // A slot for each word, full once it has heard; a frame around that of the word asked for.
  function slots({ n, time, to, heard, colourOf }, k, { track, slot, below }, top) {
    const y = top + below;
    const words = range(n).map((j) => {
      const informed = j <= heard(k, time);
      return area(
        `t${n},${k},${j}`,
        { x: track + j * slot + 1, y, w: slot - 2, h: 10 },
        {
          concept: informed ? colourOf(k) : "r",
          strength: informed ? 1 : 0.16,
          radius: 3,
          layer: 1,
        },
      );
    });
    const frame = { x: track + to * slot - 1, y: y - 3, w: slot + 2, h: 16 };
    return [words, area(`to${k}`, frame, { outline: true, concept: "edge", radius: 5, layer: 2 })];
  }

  function kinds(view, at) {
    const { put } = nlp104.paths;
    const ring = view.slim ? ` (ring: **${view.words[view.to]}**)` : "";
    const title = `who has the news of **${view.words[0]}**${ring}`;
    const rows = view.kinds.map((_, k) => {
      const y = at.y + k * at.pitch;
      const marks = [name(view, k, at, y), count(view, k, y), slots(view, k, at, y)];
      if (view.slim) return marks;
      const look = { size: 12, muted: true };
      return [...marks, put(view, `o${k}`, at.x, y + at.below + 23, notes(view.n)[k], look)];
    });
    return [put(view, "kinds", at.x, at.title, title, { muted: true }), rows];
  }
  return { placeKinds, kinds };
});
