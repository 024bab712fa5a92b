// The matrix: a row and a column for each word, and beside a row what its weights add up to.
nlp104.share("masked_attention", ({ write, cell, area, label, token, shares }) => {
  function headings({ all, slim, size, x, top, bar, nextWidth }) {
    const look = { size, muted: true, anchor: "middle" };
    const y = top - 20;
    return [
      label("h0", x.cells, 12, all ? "the whole sentence at once" : "written so far", {
        size: 13,
        muted: true,
      }),
      label("h1", x.bar + bar / 2, y, slim ? "sum" : "sum of the row", look),
      label("h2", x.next + nextWidth / 2, y, slim ? "next" : "must write", look),
    ];
  }

  // The word before a row and above a column.
  function names(view, { i }) {
    const { slim, large, pill, turn, top, w, h } = view;
    const word = view.words[i];
    const chosen = i === view.row.i;
    const button = { act: `row:${i}`, at: `r:${i}:0`, first: chosen, pressed: chosen };
    return [
      token(
        `r${i}`,
        { x: 0, y: view.rowY(i) + 4, w: pill, h: h - 8 },
        { word, size: large, chosen, ...button, says: `Row ${word}` },
      ),
      token(
        `c${i}`,
        { x: view.columnX(i) + 1, y: 24, w: w - 2, h: top - (turn ? 26 : 30) },
        { word, size: slim ? 12 : 13.5, bare: true, turn },
      ),
    ];
  }

  // The weights; the word that is to be written is framed, if it can be seen.
  function cells(view, { i, places, weights, hidden, ahead }) {
    const { words, slim, columnX, w, h } = view;
    const { numberIn } = nlp104.masked_attention;
    const y = view.rowY(i);
    const answer = places.find((j, place) => ahead[place] && words[j] === view.next[i]);
    const says = (j, place) => {
      const weight = hidden[place] ? "0, hidden" : write(weights[place]);
      return `${words[i]} looks at ${words[j]}: ${weight}`;
    };
    const marks = places.map((j, place) =>
      cell(
        `w${i},${j}`,
        { x: columnX(j), y, w, h, value: weights[place] },
        {
          concept: "a",
          max: 0.9,
          digits: 2,
          size: slim ? 12 : 13.5,
          hidden: hidden[place],
          text: hidden[place] ? "0" : numberIn(view, weights[place], 2),
          leak: ahead[place],
          act: `row:${i}`,
          at: `w:${i}:${j}`,
          says: says(j, place),
        },
      ),
    );
    const frame = { outline: true, concept: "ink", radius: 5, layer: 2 };
    return [
      marks,
      answer !== undefined && area(`answer${i}`, { x: columnX(answer), y, w, h }, frame),
    ];
  }

  // The weights end to end: do they fill 1?
  function sums(view, { i, weights, ahead, total }) {
    const { slim, large, bar } = view;
    const x = view.x.bar;
    const middle = view.rowY(i) + view.h / 2;
    const y = slim ? middle + 5 : middle - 7;
    const h = slim ? 8 : 14;
    const off = nlp104.masked_attention.isOff(total);
    const lost = { x: x + total * bar, y, w: Math.max(0, (1 - total) * bar), h };
    return [
      area(`b${i}`, { x, y, w: bar, h }, { strength: 0.1, radius: 3 }),
      off && area(`lost${i}`, lost, { hatch: true, radius: 3, layer: 1 }),
      shares(`s${i},`, weights, {
        x,
        y,
        w: bar,
        h,
        of: (place) => (ahead[place] ? { hatch: true, leak: true } : {}),
      }),
      label(`t${i}`, slim ? x + bar / 2 : x + bar + 12, slim ? middle - 7 : middle, write(total), {
        size: large,
        anchor: slim ? "middle" : "start",
        strong: off,
        muted: !off,
      }),
    ];
  }

  // What the row must write.
  function next(view, { i }) {
    const { x, nextWidth, h } = view;
    const y = view.rowY(i);
    const word = view.next[i];
    if (!word)
      return label(`n${i}`, x.next + nextWidth / 2, y + h / 2, "nothing", {
        size: 12,
        muted: true,
        anchor: "middle",
      });
    return token(
      `n${i}`,
      { x: x.next, y: y + 4, w: nextWidth, h: h - 8 },
      { word, size: view.large, muted: view.all || i !== view.newest },
    );
  }

  const rows = (view) =>
    view.rows.map((row) => [names, cells, sums, next].map((part) => part(view, row)));

  // Where the next word will stand.
  const caret = ({ all, newest, count, columnX }) =>
    !all &&
    newest < count - 1 &&
    area(
      "caret",
      { x: columnX(newest + 1) + 5, y: 28, w: 2.5, h: 18 },
      { concept: "ink", radius: 1, layer: 2 },
    );

  return { headings, rows, caret };
});
