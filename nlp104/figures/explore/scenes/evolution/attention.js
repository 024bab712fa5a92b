// Everything that a version computes: the questions, its heads, and the votes for the nouns.
nlp104.share("evolution", ({ sum, range, transpose, multiply, softmax }) => {
  // Version 0: a small network, tanh(q W_q + x W_x) w, scores every pair.
  function additive(Q, X, [Wq, Wx, w]) {
    const inputs = multiply(X, Wx);
    return multiply(Q, Wq).map((q) =>
      inputs.map((x) => sum(w.map(([share], u) => Math.tanh(q[u] + x[u]) * share))),
    );
  }

  // Version 1 multiplies, all later ones also scale.
  function scored(step, Q, K) {
    const scores = multiply(Q, transpose(K));
    if (step === 1) return scores;
    return scores.map((row) => row.map((x) => x / Math.sqrt(Q[0].length)));
  }

  // One head. Up to version 4 queries come from outside, up to version 3 keys and values are X.
  function attend(step, X, asked, weights) {
    const [WK, WV] = asked ? weights : weights.slice(1);
    const WQ = asked ? null : weights[0];
    const projects = step > 3;
    const Q = asked ?? multiply(X, WQ);
    const K = projects ? multiply(X, WK) : X;
    const V = projects ? multiply(X, WV) : X;
    const scores = step ? scored(step, Q, K) : additive(Q, X, weights);
    const A = scores.map(softmax);
    const kernels = { WQ, WK: projects ? WK : null, WV: projects ? WV : null };
    return { Q, K, V, ...kernels, scores, A, Y: multiply(A, V) };
  }

  // What is asked, and the names of its rows: in version 5 every word asks.
  function questioned({ versions }, { step, ending }, words) {
    const { questions } = versions[step];
    if (!questions) return { rows: words };
    if (step === 3 || step === 4) return { asked: questions, rows: ["tired?", "wide?"] };
    return { asked: [questions[ending === "wide" ? 1 : 0]], rows: [`${ending}?`] };
  }

  function compute(data, state) {
    const { step, ending } = state;
    const X = data.endings[ending];
    const words = [...data.words, ending];
    const { weights } = data.versions[step];
    const { asked, rows } = questioned(data, state, words);
    if (step < 6) {
      const head = attend(step, X, asked, weights);
      return { X, words, rows, heads: [head], output: [head.Y] };
    }
    const heads = range(2).map((h) => {
      const own = weights.slice(0, 3).map((kernels) => kernels[h]);
      return attend(step, X, asked, own);
    });
    const output = heads.map(({ Y }, h) => multiply(Y, weights[3][h])); // parts of the sum
    return { X, words, rows, heads, output };
  }

  // The row of the weights that is followed.
  function followed({ words }, { row, ending }, rows) {
    if (rows.length === 1) return 0;
    if (rows.length === 2) return ending === "wide" ? 1 : 0;
    return row < 0 ? words.indexOf("it") : row;
  }

  // What a row takes over, as votes for nouns: each head's part, their sums, the largest of them.
  function poll({ nouns }, output, row) {
    const parts = nouns.map((_, n) => output.map((Y) => Y[row][n]));
    const sums = parts.map(sum);
    const most = Math.max(...sums);
    const near = sums.filter((votes) => votes > most - 0.05);
    return { parts, sums, most, clear: near.length === 1 && most > 0.2 };
  }

  return { compute, followed, poll };
});
