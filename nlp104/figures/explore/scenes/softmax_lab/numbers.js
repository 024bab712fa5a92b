// Scores, the weights that the softmax makes of them, and what says how sure it is.
nlp104.share("softmax_lab", ({ sum, softmax, write, tidy, largest }) => {
  const farthest = (row) => Math.max(...row.map(Math.abs));
  const places = (x) => (Math.abs(x) < 100 ? 1 : 0);
  // Between the highest and the lowest, as both are written: a reader may subtract.
  const spread = (row) => {
    const told = row.map((x) => Number(x.toFixed(places(x))));
    return tidy(Math.max(...told) - Math.min(...told));
  };
  const log = (p) => (p ? Math.log2(p) : 0);
  // Entropy in bits; the largest weight; the largest entry of diag(p) − p pᵀ.
  const measure = (p) => [
    -sum(p.map((x) => x * log(x))),
    Math.max(...p),
    Math.max(...p.map((x) => x * (1 - x))),
  ];

  // What no state changes.
  function describe(data) {
    const { words, scores } = data;
    return { ...data, count: words.length, samples: scores[0].length };
  }

  // The scores are dot products, the logits what the softmax gets: of a sample, or the reader's.
  function look(figure, state) {
    const { step, scale, sample, hand, word } = state;
    const { words, widths, scores, count } = figure;
    const d = widths[step];
    const by = scale ? Math.sqrt(d) : 1;
    const given = (scores[step][sample] ?? scores[step][0]).map((x) => x / by);
    const pulled = String(hand)
      .split(",")
      .map((x) => Number(x) / by);
    const held = pulled.length === count && farthest(pulled) < 999;
    const logits = held ? pulled : given;
    const weights = softmax(logits);
    return {
      ...figure,
      state,
      step,
      d,
      by,
      given,
      held,
      high: Math.ceil(Math.max(4, 1.45 * farthest(given), farthest(logits))),
      logits,
      weights,
      before: softmax(given),
      measured: measure(weights),
      best: largest(weights),
      touched: words[word] ? word : 0,
    };
  }

  // The scores after a pull, without the scale.
  function pull(figure, state, i, value) {
    const { logits, by } = look(figure, state);
    return logits.map((x, k) => tidy(Number(((k === i ? value : x) * by).toFixed(2))));
  }

  // ---------- as text ----------
  const small = (x) =>
    x >= 0.0005 || !x ? write(x, 3) : x.toExponential(0).replace(/e-(.+)/, "·10$^{−$1}$");
  const some = (x) => write(x, places(x));

  return { describe, look, pull, spread, small, some };
});
