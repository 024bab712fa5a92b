// The sentence as words to tap, and below it, for each blank, bars of what could stand there.
nlp104.share("blanks", ({ area, label, line, token }) => {
  const PILL = 32; // pixels: the height of a word
  const ROW = 24; // of a bar
  const HEAD = 26; // above the bars of a blank
  const GAP = 6;

  // The words in lines.
  function lines(words, width, size) {
    let [x, y] = [0, 0];
    return words.map((word) => {
      const mark = /^\W$/.test(word); // a full stop, which stays with its word
      const w = mark ? 12 : Math.max(34, 0.6 * size * word.length + 20);
      if (mark) x -= GAP;
      else if (x + w + 12 > width) [x, y] = [0, y + PILL + GAP];
      const place = { x, y, w, h: PILL };
      x += w + GAP;
      return place;
    });
  }

  // On a phone one below the other, else side by side. All sentences, and a single blank, take the
  // same room, so that nothing below it moves.
  function layout({ words }, sentences, width, rows, count) {
    const slim = width < 560;
    const placed = (some) => lines(some, width, slim ? 14 : 15);
    const lowest = Math.max(...sentences.map((one) => placed(one.words).at(-1).y));
    const top = lowest + PILL + 26;
    const tall = HEAD + ROW * rows + 18; // of the bars of one blank
    const single = count < 2;
    const across = slim || single ? 1 : count;
    const wide = (width - 32 * (across - 1)) / across;
    const legend = top + (slim ? 2 : 1) * tall;
    const row = slim && single ? 1.7 * ROW : ROW;
    const places = placed(words);
    return { slim, places, top, tall, width, wide, across, row, legend, height: legend + 8 };
  }

  function word(view, text, i) {
    const { sentence, places, blanks, slim, can } = view;
    const number = blanks.findIndex(({ at }) => at === i);
    const hidden = number >= 0;
    const size = slim ? 14 : 15;
    if (!can(sentence, i)) return token(`word ${i}`, places[i], { word: text, size, bare: true });
    const name = blanks.length > 1 ? `${number + 1}` : "___";
    return [
      token(`word ${i}`, places[i], {
        word: hidden ? name : text,
        size,
        dashed: hidden,
        muted: hidden,
        act: `hide:${i}`,
        at: `w:0:${i}`,
        first: hidden ? number === 0 : !blanks.length && i === 0,
        pressed: hidden,
        says: hidden ? `${name}: ${text} is hidden` : `${text} can be seen`,
      }),
      hidden && area(`ring ${i}`, places[i], { concept: "v", outline: true, radius: 10, layer: 2 }),
    ];
  }

  function bar(view, x, y, unit, key, { word: text, share, own, before }) {
    const { percent, slim, row } = view;
    const thick = Math.min(24, row - 10);
    const left = x + (slim ? 92 : 104);
    const w = Math.max(1.5, unit * share);
    return [
      label(`${key} word`, left - 8, y, text, { anchor: "end", strong: own }),
      area(
        `${key} bar`,
        { x: left, y: y - thick / 2, w, h: thick },
        { concept: "v", strength: 0.6, radius: 3 },
      ),
      before !== undefined &&
        line(`${key} before`, `M${left + unit * before} ${y - 10}v20`, {
          concept: "ink",
          width: 2,
          layer: 2,
        }),
      label(`${key} share`, left + unit * Math.max(share, before ?? 0) + 8, y, percent(share), {
        strong: own,
      }),
    ];
  }

  // Bars for one blank; above them the word that stood there.
  function panel(view, { own, rows }, k) {
    const { slim, top, tall, wide, across, blanks, scale, row: pitch } = view;
    const [x, y] = across === 1 ? [0, top + k * tall] : [k * (wide + 32), top];
    const unit = (wide - (slim ? 92 : 104) - 58) / scale;
    const name = blanks.length > 1 ? `Blank ${k + 1}` : "The blank";
    return [
      label(`panel ${k}`, x, y, `**${name}**, where “${own}” stood`),
      rows.map((row, i) => bar(view, x, y + 16 + (i + 0.5) * pitch, unit, `bar ${k} ${i}`, row)),
    ];
  }

  // What the marks in the bars mean; with one blank, what the room below its bars is for.
  function legend({ blanks, legend: y, slim }) {
    if (blanks.length > 1)
      return [
        line("legend", `M5 ${y - 9}v18`, { concept: "ink", width: 2 }),
        label("legend words", 14, y, "with the other word seen", { muted: true }),
      ];
    const more = blanks.length === 1 && slim;
    return more && label("more", 0, y - 24, "Hide a second word: what changes?", { muted: true });
  }

  const draw = (view) => [
    view.sentence.words.map((text, i) => word(view, text, i)),
    view.blanks.map((blank, k) => panel(view, blank, k)),
    legend(view),
  ];

  return { layout, draw };
});
