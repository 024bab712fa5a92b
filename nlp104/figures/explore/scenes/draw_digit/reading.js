// The forward pass of a small Vision Transformer (Dosovitskiy et al., 2021), of one image.
nlp104.share("draw_digit", ({ range, softmax, sum }) => {
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const numbers = (text) =>
    new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

  // A letter for each weight, from −31 to 31, times a scale for each row; a row makes an output.
  const matrixOf = ({ shape: [, columns], scales, weights }) =>
    [...numbers(scales)].map((scale, row) =>
      range(columns, row * columns).map((i) => scale * (DIGITS.indexOf(weights[i]) - 32)),
    );

  const add = (x, y) => x.map((value, i) => value + y[i]);
  const product = (x, y, from = 0, to = x.length) => {
    let total = 0;
    for (let i = from; i < to; i++) total += x[i] * y[i];
    return total;
  };

  // The error function, to within 1.5e-7 (Abramowitz and Stegun, 7.1.26).
  const ERF = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    return Math.sign(x) * (1 - ERF.reduce((all, a) => (all + a) * t, 0) * Math.exp(-x * x));
  }
  const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;

  // From what Python has packed to a function that reads an image; in `order`: its patches.
  function reader({ matrices, vectors, heads, layers, epsilon, mean, spread }) {
    const tensors = {};
    for (const name in matrices) tensors[name] = matrixOf(matrices[name]);
    for (const name in vectors) tensors[name] = [...numbers(vectors[name])];

    const dense = (name, x) =>
      tensors[`${name}/kernel`].map((row, i) => product(row, x) + tensors[`${name}/bias`][i]);
    const normalize = (name, x) => {
      const middle = sum(x) / x.length;
      const variance = sum(x.map((value) => (value - middle) ** 2)) / x.length;
      const factor = 1 / Math.sqrt(variance + epsilon);
      const [gamma, beta] = [tensors[`${name}/gamma`], tensors[`${name}/beta`]];
      return x.map((value, i) => (value - middle) * factor * gamma[i] + beta[i]);
    };

    // What one query finds, all heads side by side, and the weights of each head.
    const attend = (query, keys, values) => {
      const width = query.length / heads;
      const found = query.map(() => 0);
      const weights = range(heads).map((head) => {
        const [from, to] = [head * width, (head + 1) * width];
        const own = softmax(keys.map((key) => product(query, key, from, to) / Math.sqrt(width)));
        own.forEach((weight, at) => {
          for (let i = from; i < to; i++) found[i] += weight * values[at][i];
        });
        return own;
      });
      return { found, weights };
    };

    // What becomes of the first tokens, so many as are needed later; all are looked at.
    const layer = (name, xs, needed) => {
      const inputs = xs.map((x) => normalize(`${name}/attention_residual/normalization`, x));
      const [keys, values] = ["key", "value"].map((part) =>
        inputs.map((x) => dense(`${name}/attention/${part}`, x)),
      );
      const looks = inputs
        .slice(0, needed)
        .map((x) => attend(dense(`${name}/attention/query`, x), keys, values));
      const outputs = looks.map(({ found }, i) => {
        const y = add(xs[i], dense(`${name}/attention/output`, found));
        const inner = normalize(`${name}/feed_forward_residual/normalization`, y);
        const wide = dense(`${name}/feed_forward/expand`, inner).map(gelu);
        return add(y, dense(`${name}/feed_forward/contract`, wide));
      });
      return [outputs, looks[0].weights];
    };

    // The logits of the ten digits, and where the class token looks in the last layer:
    // [head][token], itself first.
    return (image, order) => {
      const patches = cut(image).map((patch) => patch.map((ink) => (ink - mean) / spread));
      const words = order.map((at) => dense("embedding", patches[at]));
      const [first, ...places] = tensors.places; // that of the class token holds the token itself
      let xs = [first, ...words.map((word, i) => add(word, places[i]))];
      let looks;
      for (const i of range(layers)) [xs, looks] = layer(`layer_${i}`, xs, i < layers - 1 ? 9 : 1);
      return { logits: dense("to_classes", normalize("normalization", xs[0])), looks };
    };
  }

  // An image of 8 × 8 in patches, 2 high and 4 wide, row by row.
  const cut = (image) =>
    range(8).map((patch) => {
      const corner = 16 * Math.floor(patch / 2) + 4 * (patch % 2);
      return [0, 1, 2, 3, 8, 9, 10, 11].map((at) => image[corner + at]);
    });

  // The mean of the heads, the look at itself left out.
  function lookOf(looks) {
    const others = looks.map(([, ...weights]) => weights.map((w) => w / sum(weights)));
    return others[0].map((_, patch) => sum(others.map((head) => head[patch])) / others.length);
  }

  return { reader, cut, lookOf };
});
