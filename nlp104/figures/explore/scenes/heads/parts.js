// The three bands as marks: the words and their projections, the heads, the output.
nlp104.share("heads", ({ most, write, range, cell, area, label, line, token, heads }) => {
  const { STEPS, rect } = heads;
  const LETTERS = ["q", "k", "v"];
  const same = (x, y) => Math.abs(x - y) < 0.005;

  const text = (key, x, y, source, look) => label(key, x, y, source, { anchor: "middle", ...look });
  const symbol = (key, x, y, source, concept, size = 17) =>
    text(key, x, y, `$${source}$`, { size, concept });

  // One number; a dot says that the other word moved it.
  function number(view, key, p, i, j, value, old, { group, button, says, ...look }) {
    const place = rect(p, i, j);
    const digits = look.digits ? 1 + (p.w > 26.5) : 0;
    const numbers = p.h > 15 && p.w > (digits ? 20 : 11);
    const known = look.known !== false;
    const press = group &&
      numbers &&
      known && {
        act: button,
        at: `${group}:${i}:${j}`,
        first: !i && !j,
        pressed: button === view.cell,
        says: `${says}: ${write(value, look.digits ?? 0)}`,
      };
    const r = p.h > 22 ? 5 : 4;
    const corner = { x: place.x + p.w - r - 1.5, y: place.y + 1.5, w: r, h: r };
    const moved = view.changed && known && !same(value, old);
    return [
      cell(key, place, { value, size: 12, numbers, ...look, digits, ...press }),
      moved && area(`${key}*`, corner, { concept: "ink", radius: r / 2, layer: 2 }),
    ];
  }
  const grid = (view, key, p, A, old, look) =>
    A.map((row, i) =>
      row.map((x, j) => number(view, `${key}${i},${j}`, p, i, j, x, old[i][j], look(i, j))),
    );

  const word = ({ words, follow }, key, place, w, look) =>
    token(key, place, {
      word: words[w],
      size: 12,
      chosen: w === follow,
      act: `word:${w}`,
      pressed: w === follow,
      says: `Follow ${words[w]}`,
      ...look,
    });
  const column = (view, { y, h }, gap) =>
    view.words.map((_, w) => {
      const place = { x: 0, y: y + w * h + gap, w: view.place.pill, h: h - 2 * gap };
      const chosen = w === view.follow;
      return word(view, `w${w}`, place, w, {
        bare: h < 20 && !chosen,
        at: `w:${w}:0`,
        first: chosen,
      });
    });

  // The numbers of Q, K or V. From the split on these stay where they are, and copies move on.
  function projected(view, letter, m, p) {
    const { step, act, words, now, before, place, deal } = view;
    const name = letter.toUpperCase();
    const look = { concept: letter, max: most(before.wide[m]), known: step >= STEPS.project };
    const copies = now.wide[m].map((row, w) =>
      row.map((value, c) => {
        const [g, ...at] = deal(w, c);
        const [i, j] = letter === "k" ? at.reverse() : at;
        const there = act ? [place.heads[g][letter], i, j] : [p, w, c];
        return number(view, `${letter}'${w},${c}`, ...there, value, before.wide[m][w][c], {
          ...look,
          ...(!act && { numbers: false }),
          group: act && `${letter}${g}`,
          button: `${letter}:${w}:${c}`,
          says: `Head ${g + 1}: ${name} of ${words[w]}, number ${c + 1}`,
        });
      }),
    );
    const stay = grid(view, letter, p, now.wide[m], before.wide[m], (w, c) => ({
      ...look,
      group: letter,
      button: `${letter}:${w}:${c}`,
      says: `${name} of ${words[w]}, number ${c + 1}`,
    }));
    return [copies, stay];
  }

  // One projection: the kernel, the numbers, the heads that they are meant for, the cut.
  function projection(view, letter, m) {
    const { act, right, kernels, place, n, k, h, groups } = view;
    const p = place.wide[m];
    const W = place.W[m];
    const name = letter.toUpperCase();
    const look = () => ({ concept: letter, max: most(kernels[m]) });
    const at = right ? rect(p, 0, k, n, 0) : rect(p, n / h, 0, 1, h * k);
    const d = right ? `M${at.x} ${at.y - 5}v${at.h + 10}` : `M${at.x - 3} ${at.y}h${at.w + 6}`;
    const meant = groups.map((g) => {
      const source = place.slim ? `${g + 1}` : `head ${g + 1}`;
      const x = p.x + (g + 0.5) * k * p.w;
      return text(`to${letter}${g}`, x, p.y + n * p.h + 13, source, { size: 12, muted: true });
    });
    return [
      !act && grid(view, `W${letter}`, W, kernels[m], kernels[m], look),
      !act && symbol(`lW${letter}`, p.x + 13, W.y - 13, `W_${name}`, letter),
      symbol(`l${letter}`, p.x + 9, p.y - 13, name, letter),
      projected(view, letter, m, p),
      !act && meant,
      act === 1 && line(`cut${letter}`, d, { concept: "ink", width: 2.5, layer: 2 }),
    ];
  }

  // The calls that cut, or join.
  function shapes({ step, act, right, place, size, n, k, h }) {
    if (step < STEPS.split) return null;
    const [wide, split, joined] = [`[${n}, ${h}, ${k}]`, `[${h}, ${n}, ${k}]`, `[${n}, ${h * k}]`];
    let source = act < 2 ? `reshape → ${split}` : `reshape → ${joined}`;
    if (right)
      source =
        act < 2
          ? `reshape → ${wide}, transpose → ${split}`
          : `transpose → ${wide}, reshape → ${joined}`;
    return text("shapes", 0, place.shapes, source, { size, anchor: "start", muted: true });
  }

  function inputs(view) {
    const { act, now, before, place, inputs: X } = view;
    return [
      act < 2 && column(view, place.X, act ? 0.5 : 2),
      grid(view, "X", place.X, now.X, before.X, () => ({ max: most(X) })),
      symbol("lX", place.X.x + 9, place.X.y - 13, "X", "r"),
      LETTERS.map((letter, m) => projection(view, letter, m)),
      shapes(view),
    ];
  }

  // The words of a head. One that is cut in halves has a pill as tall as both.
  function owners(view, g) {
    const { words, follow, width, place, n, k, origin } = view;
    const { A, v, pill } = place.heads[g];
    const spans = [];
    for (const i of range(n)) {
      const [w] = origin(g, i, 0);
      if (spans.at(-1)?.w === w) spans.at(-1).count += 1;
      else spans.push({ w, i, count: 1 });
    }
    return spans.map(({ w, i, count }, l) => {
      const left = { x: A.x - pill - 3, y: A.y + i * A.h + 2, w: pill, h: count * A.h - 4 };
      const above = { x: A.x + i * A.w + 1, y: A.y - 23, w: count * A.w - 2, h: 20 };
      const chosen = count > 1 && w === follow;
      const look = { anchor: "start", size: 12, muted: true };
      const x = v.x + k * v.w + 6;
      return [
        word(view, `p${g},${w}`, left, w, { at: `p${g}:${l}:0`, first: !i }),
        token(`c${g},${w}`, above, { word: words[w], size: 12, bare: count < 2, chosen }),
        width >= 330 && text(`n${g},${w}`, x, v.y + (i + count / 2) * v.h, words[w], look),
      ];
    });
  }

  function names({ place, n, k }, g) {
    const H = place.heads[g];
    const middle = (p, columns) => p.x + (columns * p.w) / 2;
    return [
      ["q", `Q_${g + 1}`, middle(H.q, k), H.q.y],
      ["k", `K_${g + 1}^T`, middle(H.k, n), H.k.y],
      ["v", `V_${g + 1}`, middle(H.v, k), H.v.y],
      ["v", `Y_${g + 1}`, middle(H.Y, k), H.Y.y],
    ].map(([concept, source, x, y], l) => symbol(`l${g}${l}`, x, y - 14, source, concept, 16));
  }

  // The weights of a head, and its answers, copies of which move on to be joined.
  function attention(view, g) {
    const { step, words, now, before, place, origin } = view;
    const { A, Y } = place.heads[g];
    const weights = grid(view, `A${g}`, A, now.A[g], before.A[g], (i, j) => ({
      ...{ concept: "a", max: 0.9, digits: 2, known: step >= STEPS.look },
      group: `A${g}`,
      button: `A:${g}:${i}:${j}`,
      says: `Head ${g + 1}, row ${i + 1} to column ${j + 1}`,
    }));
    const known = step >= STEPS.mix;
    const look = { concept: "v", max: most(before.wide[2]), digits: 2, known };
    const stay = () => ({ ...look, numbers: false });
    const copies = now.Y[g].map((row, i) =>
      row.map((value, j) => {
        const [w, c] = origin(g, i, j);
        const joined = step >= STEPS.join;
        const there = {
          group: "J",
          button: `J:${w}:${c}`,
          says: `Joined: ${words[w]}, number ${c + 1}`,
        };
        const here = {
          group: `Y${g}`,
          button: `Y:${g}:${i}:${j}`,
          says: `Head ${g + 1}: answer ${i + 1}, number ${j + 1}`,
        };
        const at = joined ? [place.J, w, c] : [Y, i, j];
        return number(view, `Y'${g},${i},${j}`, ...at, value, before.Y[g][i][j], {
          ...look,
          ...(joined ? there : here),
        });
      }),
    );
    return [weights, grid(view, `Y${g}`, Y, now.Y[g], before.Y[g], stay), copies];
  }

  function head(view, g) {
    const { act, size } = view;
    const { x, top } = view.place.heads[g];
    return [
      text(`h${g}`, x, top + 6, `**Head ${g + 1}**`, { size, anchor: "start" }),
      act === 1 && [owners(view, g), names(view, g)],
      attention(view, g),
    ];
  }

  function output(view) {
    const { step, right, kernels, now, before, place, n, d, k, h, groups, words } = view;
    const { WO, J, O } = place;
    const parts = groups.map((g) => {
      const at = right ? rect(J, 0, g * k, 0, k) : rect(J, (g * n) / h, h * k, n / h, 0);
      const x = at.x + (right ? at.w / 2 : 15);
      return symbol(`lJ${g}`, x, at.y + (right ? -13 : at.h / 2), `Y_${g + 1}`, "v", 16);
    });
    const kernel = kernels[3];
    return [
      column(view, J, 2),
      grid(view, "WO", WO, kernel, kernel, () => ({ max: most(kernel) })),
      symbol("lWO", WO.x + (d * WO.w) / 2, WO.y - 13, "W_O", "r"),
      parts,
      symbol("lO", O.x + (d * O.w) / 2, O.y - 13, "Y", "r"),
      grid(view, "O", O, now.O, before.O, (w, c) => ({
        ...{ max: most(before.O), digits: 2, known: step >= STEPS.out },
        group: "O",
        button: `O:${w}:${c}`,
        says: `Output of ${words[w]}, number ${c + 1}`,
      })),
    ];
  }

  return { LETTERS, same, inputs, head, output };
});
