// What is looked at: a tapped number with what it is made of, or the word that is followed.
nlp104.share("heads", ({ write, range, area, heads }) => {
  const { STEPS, LETTERS, rect, same } = heads;
  const frame = (key, { x, y, w, h }, concept = "ink") =>
    area(
      `f${key}`,
      { x: x - 1, y: y - 1, w: w + 2, h: h + 2 },
      { outline: true, concept, layer: 2 },
    );
  const columnOf = (A, j) => A.map((row) => row[j]);
  const row = (A, digits) => `(${A.map((x) => write(x, digits)).join(", ")})`;
  const terms = (a, b, digits) =>
    a.map((x, i) => `${write(x, digits)}·${write(b[i], 0)}`).join(" + ");
  const bold = ({ words }, w) => `**${words[w]}**`;
  const list = (view, all) => all.map((w) => bold(view, w)).join(" and ");

  // A row of a head is a word, or half of one.
  function half(view, g, i) {
    const [w, c] = view.origin(g, i, 0);
    return bold(view, w) + (view.right ? "" : ` (half ${c / view.k + 1})`);
  }

  // ---------- a number that was tapped ----------
  function projected(view, letter, w, c) {
    const { act, right, now, kernels, place, d, k, deal } = view;
    const m = LETTERS.indexOf(letter);
    const name = letter.toUpperCase();
    const value = `[${letter}|**${now.wide[m][w][c]}**]`;
    const self = frame("now", rect(place.wide[m], w, c));
    if (!act) {
      const made = terms(now.X[w], columnOf(kernels[m], c), 0);
      return {
        marks: [
          self,
          frame("row", rect(place.X, w, 0, 1, d), "r"),
          frame("column", rect(place.W[m], 0, c, d), letter),
        ],
        caption:
          `Row ${bold(view, w)} of $X$ times column **${c + 1}** of ` +
          `[${letter}|$W_${name}$]: ${made} = ${value}.`,
      };
    }
    const [g, i, j] = deal(w, c);
    const home = Math.floor(c / k);
    const there = place.heads[g][letter];
    let fate =
      `It belongs to head ${home + 1}, ${bold(view, w)}; ` +
      `here it is in head ${g + 1}, in row ${i + 1}.`;
    if (g === home && i === w) fate = "It is in its place, by chance.";
    if (right) fate = `Head ${g + 1} gets it, in the row of ${bold(view, w)}.`;
    return {
      marks: [self, frame("there", letter === "k" ? rect(there, j, i) : rect(there, i, j))],
      caption:
        `This ${value} is number ${c + 1} of [${letter}|$${name}$] ` +
        `of ${bold(view, w)}. ${fate}`,
    };
  }

  function weight(view, g, i, j) {
    const { now, place, k } = view;
    const { q, k: keys, A } = place.heads[g];
    const [Q, K] = now.split;
    return {
      marks: [
        frame("row", rect(q, i, 0, 1, k), "q"),
        frame("column", rect(keys, 0, j, k), "k"),
        frame("now", rect(A, i, j)),
      ],
      caption:
        `${half(view, g, i)} asks ${half(view, g, j)}: [q|${row(Q[g][i], 0)}] · ` +
        `[k|${row(K[g][j], 0)}] ÷ √${k} = ${write(now.scores[g][i][j])}. ` +
        `The softmax of the row makes it [a|**${write(now.A[g][i][j])}**].`,
    };
  }

  function answer({ now, place, n }, g, i, j) {
    const { v, A, Y } = place.heads[g];
    const made = terms(now.A[g][i], columnOf(now.split[2][g], j), 2);
    return {
      marks: [
        frame("row", rect(A, i, 0, 1, n), "a"),
        frame("column", rect(v, 0, j, n), "v"),
        frame("now", rect(Y, i, j)),
      ],
      caption:
        `Weights of row ${i + 1} times [v|values]: ` +
        `${made} = [v|**${write(now.Y[g][i][j])}**].`,
    };
  }

  function joined(view, w, c) {
    const { right, place, deal } = view;
    const [g, i, j] = deal(w, c);
    return {
      marks: [frame("there", rect(place.heads[g].Y, i, j)), frame("now", rect(place.J, w, c))],
      caption:
        `Number ${c + 1} of ${bold(view, w)} is number ${j + 1} of row ${i + 1} of ` +
        `**head ${g + 1}**${right ? "" : `: an answer to ${half(view, g, i)}`}.`,
    };
  }

  function output(view, w, c) {
    const { now, kernels, place, k, h } = view;
    const made = terms(now.J[w], columnOf(kernels[3], c), 2);
    return {
      marks: [
        frame("row", rect(place.J, w, 0, 1, h * k), "v"),
        frame("column", rect(place.WO, 0, c, h * k), "r"),
        frame("now", rect(place.O, w, c)),
      ],
      caption:
        `Row ${bold(view, w)} times column ${c + 1} of $W_O$: ` +
        `${made} = **${write(now.O[w][c])}**.`,
    };
  }

  function tapped(view) {
    const [kind, ...at] = view.cell.split(":");
    const place = at.map(Number);
    if (LETTERS.includes(kind)) return projected(view, kind, ...place);
    return { A: weight, Y: answer, J: joined, O: output }[kind](view, ...place);
  }

  // ---------- the word that is followed ----------
  function outlines({ step, act, follow, place, n, d, k, h, groups, origin }) {
    const whole = (key, p, count) => frame(key, rect(p, follow, 0, 1, count));
    const { project, split, look, mix, join, out } = STEPS;
    const inside = groups.map((g) => {
      const mine = range(n).filter((i) => origin(g, i, 0)[0] === follow);
      const [i] = mine;
      const count = mine.length;
      const H = place.heads[g];
      if (!count) return null;
      return [
        step < mix && frame(`q${g}`, rect(H.q, i, 0, count, k)),
        step === split && [
          frame(`k${g}`, rect(H.k, 0, i, k, count)),
          frame(`v${g}`, rect(H.v, i, 0, count, k)),
        ],
        step >= look && frame(`A${g}`, rect(H.A, i, 0, count, n)),
        step === mix && frame(`Y${g}`, rect(H.Y, i, 0, count, k)),
      ];
    });
    return [
      !step && whole("row", place.X, d),
      [project, split].includes(step) &&
        LETTERS.map((letter, m) => whole(letter, place.wide[m], h * k)),
      step >= join && whole("row", place.J, h * k),
      step === out && whole("now", place.O, d),
      act === 1 && inside,
    ];
  }

  // From the split on, if the cut is right.
  function rightly(view) {
    const { now, follow, n, groups } = view;
    const F = bold(view, follow);
    const best = groups.map((g) => {
      const weights = now.A[g][follow];
      const top = Math.max(...weights);
      const at = range(n).filter((w) => same(weights[w], top));
      return `${list(view, at)} ([a|${write(top)}]) in head ${g + 1}`;
    });
    const [one, two] = now.Y.map((Y) => `[v|${row(Y[follow])}]`);
    return [
      "The cut runs between **columns**: each head gets two numbers of every word. " +
        `${F} is in both heads.`,
      `Each head asks on its own: ${F} looks most at ${best.join(", at ")}.`,
      `${F} gets ${one} from head 1 and ${two} from head 2: two answers to two questions.`,
      "Joined: what the heads found out for a word stands side by side, in its row.",
      "$W_O$ mixes: each number of the output takes from both heads. " +
        `${F} is now **${row(now.O[follow])}**.`,
    ];
  }

  function wrongly(view) {
    const { now, follow, n, deal } = view;
    const F = bold(view, follow);
    const headOf = (w) => deal(w, 0)[0];
    const home = headOf(follow);
    const near = list(
      view,
      range(n).filter((w) => headOf(w) === home),
    );
    const far = list(
      view,
      range(n).filter((w) => headOf(w) !== home),
    );
    return [
      "The same shape, and no error. But the cut runs between **words**: " +
        `${F} is in head ${home + 1} only, folded into two rows.`,
      `Halves ask halves. ${F} can find only ${near}; ${far} are in the other head.`,
      `Mixed are halves of ${near}. Both answers to ${F} come from head ${home + 1}.`,
      "The same slip on the way back, row by row: a head fills whole rows. " +
        "Again the shape is right.",
      "The shape is right, the numbers are not. " +
        `${F} is now **${row(now.O[follow])}**, and never heard of ${far}.`,
    ];
  }

  const plain = (view) => [
    "Four words, four numbers each. **One** wide matrix is there for all [q|queries], " +
      "one for all [k|keys], one for all [v|values].",
    "Three products, and no heads yet. The first half of a row is meant for head 1, " +
      "the second half for head 2.",
    ...(view.right ? rightly(view) : wrongly(view)),
  ];

  // What the other word has moved.
  function replaced(view) {
    const { first, third, right, now, before, n, groups } = view;
    const T = bold(view, third);
    const differ = (a, b) => a.some((x, i) => !same(x, b[i]));
    const rows = groups.map((g) =>
      range(n).filter((i) => now.split.some((A, m) => differ(A[g][i], before.split[m][g][i]))),
    );
    const out = range(n).filter((w) => differ(now.O[w], before.O[w]));
    const still = range(n).filter((w) => !out.includes(w));
    const hit = Math.max(
      0,
      rows.findIndex((all) => all.length),
    );
    const numbers = (g) => rows[g].map((i) => i + 1);
    const both = [
      `In both heads row ${numbers(0)} moves, the row of ${T}, and no other.`,
      `In both heads ${T} asks anew, and every word weighs it anew.`,
      "Every answer of both heads moves.",
    ];
    const one = [
      `In head ${hit + 1} rows ${numbers(hit).join(" and ")} move, ` +
        `where ${list(view, rows[hit])} belong. The other head does not notice.`,
      `In head ${hit + 1} every row moves, in the other head none: it knows nothing of ${T}.`,
      `Half of the answers move, and all of them are in head ${hit + 1}.`,
    ];
    let moved =
      `Only ${list(view, out)} move. ${list(view, still)} never hear of ${T}: ` +
      "the sentence is cut in two.";
    if (out.length === n) moved = `All ${n} words move: each of them has heard of ${T}.`;
    return [
      `**${first[third]}** became ${T}: one row of $X$. A dot marks every number that moves.`,
      "One row of [q|$Q$], [k|$K$] and [v|$V$] moves: a projection looks at one word at a time.",
      ...(right ? both : one),
      `Joined. ${moved}`,
      moved,
    ];
  }

  const followed = (view) => ({
    marks: outlines(view),
    caption: (view.changed ? replaced : plain)(view)[view.step],
  });

  return { tapped, followed };
});
