// Left the sentence and its projections, in the middle who looks where, right what comes out.
nlp104.share("evolution", ({ most, write, area, label, token, matrix }) => {
  // What a version adds is framed.
  const NEW = [["score"], ["score"], ["score"], ["Q"], ["K", "V"], ["Q"], ["heads"]];
  const WORDS = 5;
  const HIGH = 30; // a row
  const NOUN = 26; // a row of votes
  const TOP = 30;
  const NAMED = 56; // the names of its columns above X, or above the queries that it meets
  const APART = 26; // queries above X
  const SCORE = 44; // the width of a score
  const SCALED = 66; // of what it is called where it is divided

  // How large everything is.
  function measures(width, count) {
    const slim = width < 560;
    const sizes = { slim, pill: slim ? 66 : 72, size: slim ? 12 : 13 };
    if (count < 5) {
      const room = width - sizes.pill - 2 * SCORE - 18;
      return { ...sizes, column: Math.min(20, Math.floor(room / 8)) };
    }
    if (width < 320) return { ...sizes, tiny: 8, wide: 9, column: 8 };
    // As wide as three projections beside them leave room for.
    const column = slim ? Math.max(9, Math.min(13, Math.floor((width - 232) / 8))) : 12;
    const cells = slim ? { tiny: 9, wide: 10 } : { tiny: 11, wide: 12 };
    return { ...sizes, ...cells, column };
  }

  // None of so many versions asks with more rows.
  function mostRows(count) {
    if (count > 5) return WORDS;
    return count > 3 ? 2 : 1;
  }

  // On a phone what follows moves up where a version has no projections, and the room for them is
  // left at the end.
  function layout({ step, count, rows, depth }, width) {
    const sizes = measures(width, count);
    const { slim, pill, tiny } = sizes;
    const largest = mostRows(count);
    const reserved = count > 4 ? depth * tiny + (slim ? 34 : 40) : 0;
    const asked = step < 4 ? rows * HIGH + APART : 0;
    const lowest = Math.max(NAMED + Math.min(2, largest) * HIGH + APART, TOP + reserved);
    const inputs = slim && step < 4 ? NAMED + asked : lowest;
    const x = slim ? 0 : Math.min(386, width - 312);
    const y = slim ? inputs + WORDS * HIGH + (count > 6 ? 40 : 34) : TOP;
    const below = y + 26;
    const votes = below + (slim ? rows : largest) * HIGH + 34;
    const bottom = votes + 4 * NOUN + 6;
    const spare = lowest - inputs + (largest - rows) * HIGH;
    return {
      ...sizes,
      inputs: { x: pill + 4, y: inputs, top: inputs - asked },
      weights: {
        ...{ x, y, below },
        start: x + pill + 6,
        w: slim ? (width - pill - 6) / WORDS : 47,
      },
      votes: { x, y: votes, scale: (slim ? width : width - x) - pill - 60 },
      bottom,
      height: slim ? bottom + spare : Math.max(bottom, inputs + WORDS * HIGH + 6),
    };
  }

  const framed = (x, y, w, h) =>
    area(
      "new",
      { x: x - 5, y: y - 5, w: w + 10, h: h + 10 },
      { outline: true, concept: "a", radius: 8, layer: 2 },
    );
  const symbol = (key, x, y, source, look) =>
    label(key, x, y, `$${source}$`, { size: 17, ...look });

  // The names of the columns, where they are wide enough to be read.
  function named({ features, place: { column, inputs } }) {
    if (column < 12) return null;
    const narrow = column < 16;
    const look = { size: 12, muted: true, slant: narrow ? -90 : -72 };
    const aside = narrow ? 0 : 3;
    return features.map((name, j) =>
      label(`f${j}`, inputs.x + (j + 0.5) * column + aside, inputs.top - 9, name, look),
    );
  }

  function inputs(view) {
    const { X, words, place } = view;
    const { pill, size, column } = place;
    const { x, y } = place.inputs;
    const look = { w: column, h: HIGH, max: 1, digits: 0, size: 12, numbers: column > 13 };
    return [
      words.map((word, i) => {
        const at = { x: 0, y: y + i * HIGH + 3, w: pill, h: HIGH - 6 };
        return token(`x${i}`, at, { word, size });
      }),
      named(view),
      matrix("X", X, { x, y, ...look }),
      symbol("lX", x - 12, y - 14, "X", { concept: "r", anchor: "end" }),
    ];
  }

  // Up to version 3 the queries have X's columns, and stand above them; beside X what it scores.
  function asked({ step, words, rows, row, looked, depth, place }) {
    if (step > 3) return null;
    const { pill, size, column } = place;
    const { x, y, top } = place.inputs;
    const wide = depth * column;
    const from = x + wide + 14;
    const chips = rows.map((word, i) => {
      const at = { x: 0, y: top + i * HIGH + 3, w: pill, h: HIGH - 6 };
      return token(`q${i}`, at, { word, size, chosen: i === row });
    });
    const look = { w: column, h: HIGH, concept: "q", max: 8, digits: 0, size: 12 };
    const best = looked.scores.map((scores) => Math.max(...scores));
    const numbers = words.map((_, i) =>
      rows.map((_, r) => {
        const score = looked.scores[r][i];
        const at = [from + (r + 1) * SCORE - 8, y + (i + 0.5) * HIGH];
        const followed = r === row && score === best[r];
        const told = write(score, step === 1 ? 0 : 1);
        return label(`e${r},${i}`, ...at, told, { anchor: "end", size, strong: followed });
      }),
    );
    const heads = rows.map((word, r) => {
      const end = from + (r + 1) * SCORE - 8;
      return label(`le${r}`, end, y - 12, word, { anchor: "end", size: 12, muted: true });
    });
    const name = `score${step === 3 ? "s" : ""}${step > 1 ? " ÷ √8" : ""}`;
    const above = step === 3 ? y - 30 : y - 12;
    const fresh =
      step === 3
        ? framed(x + 3, top, wide - 3, 2 * HIGH)
        : framed(from, y - 19, step === 2 ? SCALED : SCORE, WORDS * HIGH + 19);
    return [
      chips,
      matrix("asked", looked.Q, { x, y: top, ...look, numbers: column > 11 }),
      symbol("lq", x - 12, top - 14, step === 3 ? "Q" : "q", { concept: "q", anchor: "end" }),
      label("le", from, above, name, { size: 12, muted: true }),
      step === 3 && heads,
      numbers,
      fresh,
    ];
  }

  // Where a version has them, W_Q, W_K, W_V above their products.
  function projections({ step, looked, depth, place }) {
    const { slim, tiny, wide, column } = place;
    const { x: left, y } = place.inputs;
    const between = slim ? 14 : 16;
    const letters = ["Q", "K", "V"].filter((letter) => looked[`W${letter}`]);
    const start = left + depth * column + between + (column > 12 || !slim ? 8 : 0);
    const at = (i) => start + i * (4 * wide + between);
    const marks = letters.map((letter, i) => {
      const kernel = looked[`W${letter}`];
      const product = looked[letter];
      const concept = letter.toLowerCase();
      const x = at(i);
      const look = { x, w: wide, concept, numbers: false };
      const middle = { concept, anchor: "middle" };
      return [
        matrix(`W${letter}`, kernel, { ...look, y: TOP, h: tiny, max: most(kernel) }),
        symbol(`lW${letter}`, x + 2 * wide, TOP - 15, `W_${letter}`, { ...middle, size: 16 }),
        matrix(letter, product, { ...look, y, h: HIGH, max: most(product) }),
        symbol(`l${letter}`, x + 2 * wide, y - 14, letter, middle),
      ];
    });
    const fresh = letters.map((_, i) => i).filter((i) => NEW[step].includes(letters[i]));
    if (!fresh.length) return marks;
    const [first, last] = [fresh[0], fresh.at(-1)].map(at);
    const high = y - TOP + WORDS * HIGH + 22;
    return [marks, framed(first, TOP - 22, last - first + 4 * wide, high)];
  }

  // What the narrow columns of the projections are; those of V are the nouns that get votes.
  function meanings({ step, place }) {
    if (step < 4) return null;
    const of = `${place.column > 8 ? "columns of " : ""}${step > 4 ? "Q, " : ""}K: `;
    const names = `${of}living, place, verb, adjective. V: nouns`;
    const look = { size: 12, muted: true };
    return label("lm", 0, place.inputs.y + WORDS * HIGH + 16, names, look);
  }

  // In version 6 a reader chooses a head.
  function heads({ step, head, place }) {
    if (step < 6) return null;
    const { x, y } = place.weights;
    const buttons = ["1", "2"].map((word, h) => {
      const chosen = h === head;
      return token(
        `head${h}`,
        { x: x + h * 34, y: y - 6, w: 30, h: 28 },
        {
          ...{ word, size: 13, chosen },
          ...{ act: `head:${h}`, at: `h:0:${h}`, first: chosen, pressed: chosen },
          says: `Head ${word}`,
        },
      );
    });
    return [buttons, framed(x, y - 6, 64, 28)];
  }

  // The names of the rows; pressed, they are followed.
  function queries({ rows, row, place }) {
    const { pill, size } = place;
    const { x, below } = place.weights;
    return rows.map((word, i) => {
      const y = below + i * HIGH;
      const chosen = i === row;
      return token(
        `r${i}${rows.length}`,
        { x, y: y + 3, w: pill, h: HIGH - 6 },
        {
          ...{ word, size, chosen },
          ...{ act: rows.length > 1 ? `row:${i}` : undefined, at: `r:${i}:0` },
          ...{ first: chosen, pressed: chosen, says: `Query of ${word}` },
          hit: { x, y, w: pill, h: HIGH },
        },
      );
    });
  }

  function weights(view) {
    const { words, looked, head, row, place } = view;
    const { y, below, start, w } = place.weights;
    const above = words.map((word, j) => {
      const at = { x: start + j * w, y, w, h: 22 };
      return token(`c${j}`, at, { word, size: 12, bare: true });
    });
    const look = { x: start, y: below, w, h: HIGH, concept: "a", max: 1, digits: 2, size: 12 };
    const around = { x: start - 2, y: below + row * HIGH - 1, w: WORDS * w + 4, h: HIGH + 2 };
    return [
      heads(view),
      above,
      queries(view),
      matrix(`A${head}`, looked.A, look),
      area("row", around, { outline: true, concept: "ink", radius: 7, layer: 2 }),
    ];
  }

  // What comes out, as votes for a noun; of several heads each has its part.
  function votes({ nouns, rows, row, poll, place }) {
    const { pill, size } = place;
    const { x, y, scale } = place.votes;
    const name = rows[row].replace("?", "");
    const title = `what **${name}** takes over: votes for a noun`;
    const bars = nouns.map((word, n) => {
      const top = y + n * NOUN;
      const wins = poll.clear && poll.sums[n] === poll.most;
      let end = x + pill + 6;
      const parts = poll.parts[n].map((part, h) => {
        const long = (part / 1.6) * scale;
        const at = { x: end, y: top + 6, w: Math.max(0, long - 1), h: 14 };
        end += long;
        const strength = h ? 0.45 : 0.9;
        return area(`v${n},${h}`, at, { concept: "v", strength, radius: 2, layer: 1 });
      });
      const number = write(poll.sums[n]);
      return [
        token(`n${n}`, { x, y: top + 2, w: pill, h: 22 }, { word, size, chosen: wins }),
        parts,
        label(`t${n}`, end + 8, top + 13, number, { size, strong: wins, muted: !wins }),
      ];
    });
    return [label("lv", x, y - 16, title, { size, muted: true }), bars];
  }

  return { layout, inputs, asked, projections, meanings, weights, votes };
});
