// Three bands: the words, the heads, the output. The one that a step is about is large.
nlp104.share("heads", ({ range, box }) => {
  // A part of a matrix whose cells are like p.
  const rect = (p, i, j, rows = 1, columns = 1) =>
    box(p.x + j * p.w, p.y + i * p.h, columns * p.w, rows * p.h);

  // The words with X, beside it the projections, above them their kernels.
  function words({ n, d, k, h }, act, width, slim, x, top) {
    const gap = slim ? 8 : 24;
    const w = Math.min(40, (width - x - 3 * gap) / (d + 3 * h * k));
    const high = slim ? 34 : 38;
    const rows = slim ? [42, 14, 10] : [44, 26, 10];
    const y = act ? top : top + d * high + 34;
    const at = (m) => x + d * w + gap + m * (h * k * w + gap);
    const three = (y, h) => range(3).map((m) => box(at(m), y, w, h));
    return {
      X: box(x, y, w, rows[act]),
      W: three(top, act ? 0 : high),
      wide: three(y, rows[act]),
      end: y + n * rows[act],
    };
  }

  // In each head Q, above the weights K, below V the answers; on a phone the heads are stacked.
  function pair({ n, k, h }, act, width, slim, y) {
    const big = act === 1;
    const tiny = width < 330;
    const stacked = slim && big;
    const pane = stacked ? width : (width - 20) / 2;
    const [high, gap, row] = big ? [slim ? 16 : 24, 25, slim ? 21 : 33] : [7, 4, 9];
    const tall = 22 + n * high + gap + n * row;
    let pill = tiny ? 40 : 46;
    if (!big) pill = 4;
    const narrow = slim && !big ? 10 : 20;
    const side = big && !tiny ? 42 : 0;
    const w = Math.min(38, (pane - k * narrow - pill - 16 - side) / (n + k));
    const heads = range(h).map((g) => {
      const x = stacked ? 0 : g * (pane + 20);
      const top = y + (stacked ? g * (tall + 10) : 0);
      const A = box(x + k * narrow + pill + 8, top + 22 + n * high + gap, w, row);
      const Y = box(A.x + n * w + 8, A.y, w, row);
      return {
        ...{ x, top, pill, A, Y },
        q: box(x, A.y, narrow, row),
        k: box(A.x, A.y - gap - k * high, w, high),
        v: box(Y.x, A.y - gap - n * high, w, high),
      };
    });
    return { heads, end: y + (stacked ? 2 * tall + 10 : tall) };
  }

  // The first band, while it is alone, stands in the middle of the room that the others need.
  function layout(sizes, act, width) {
    const alone = place(sizes, act, width, 24);
    if (act) return alone;
    const others = [1, 2].map((later) => place(sizes, later, width, 24).height);
    const free = Math.max(...others) - alone.height;
    return place(sizes, act, width, 24 + Math.max(0, free / 2));
  }

  function place(sizes, act, width, from) {
    const { n, d, k, h } = sizes;
    const slim = width < 560;
    const pill = slim ? 44 : 62;
    const x = pill + 4;
    const top = words(sizes, act, width, slim, x, from);
    const under = top.end + (act === 1 ? 36 : 28);
    const middle = pair(sizes, act, width, slim, under);
    const w = Math.min(68, (width - x - 34) / (d + h * k));
    const row = slim ? 22 : 24;
    const y = middle.end + 46;
    const right = x + h * k * w + 34;
    const bottom = y + d * row + 30;
    return {
      ...{ slim, pill, ...top },
      heads: middle.heads,
      shapes: act === 1 ? under - 20 : y - 36,
      WO: box(right, y, w, row),
      J: box(x, bottom, w, row + 4),
      O: box(right, bottom, w, row + 4),
      height: [top.end + 20, middle.end, bottom + n * (row + 4)][act] + 6,
    };
  }

  return { rect, layout };
});
