// All that is computed: the projections, their cut into heads, attention, and the way back.
nlp104.share("heads", ({ multiply, transpose, softmax, range }) => {
  const STEPS = { project: 1, split: 2, look: 3, mix: 4, join: 5, out: 6 };

  const sizesOf = ({ words, heads: h, inputs, kernels }) => ({
    n: words.length,
    d: inputs[0].length,
    k: kernels[0][0].length / h,
    h,
  });

  // Where number c of word w goes: head, row, column; and the way back.
  function cut({ n, k, h }, right) {
    const deal = (w, c) => {
      const flat = w * h * k + c;
      if (right) return [Math.floor(c / k), w, c % k];
      return [Math.floor(flat / (n * k)), Math.floor(flat / k) % n, flat % k];
    };
    const origin = (g, i, j) => {
      const flat = (g * n + i) * k + j;
      return right ? [i, g * k + j] : [Math.floor(flat / (h * k)), flat % (h * k)];
    };
    return { deal, origin };
  }

  function compute(X, kernels, { n, k, h }, { deal, origin }) {
    const build = (rows, columns, of) =>
      range(rows).map((i) => range(columns).map((j) => of(i, j)));
    const wide = range(3).map((m) => multiply(X, kernels[m]));
    const split = wide.map((A) =>
      range(h).map((g) =>
        build(n, k, (i, j) => {
          const [w, c] = origin(g, i, j);
          return A[w][c];
        }),
      ),
    );
    const [Q, K, V] = split;
    const scores = range(h).map((g) =>
      multiply(Q[g], transpose(K[g])).map((row) => row.map((x) => x / Math.sqrt(k))),
    );
    const A = scores.map((head) => head.map(softmax));
    const Y = range(h).map((g) => multiply(A[g], V[g]));
    const J = build(n, h * k, (w, c) => {
      const [g, i, j] = deal(w, c);
      return Y[g][i][j];
    });
    return { X, wide, split, scores, A, Y, J, O: multiply(J, kernels[3]) };
  }

  return { STEPS, sizesOf, cut, compute };
});
