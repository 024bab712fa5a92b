// The Transformer's forward pass (Vaswani et al., 2017), one sentence and one vector at a time. A
// vector is a Float32Array, a sequence an array of vectors. No row is padded, so there is nothing
// to mask: the encoder sees the whole source, and of its own words the decoder is only ever handed
// those before.
globalThis.nlp104web ??= {};

nlp104web.Model = (() => {
  "use strict";
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  const add = (x, y) => x.map((value, i) => value + y[i]);

  // ---------- weights out of text ----------
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const SIX_BITS = new Int8Array(128); // of a letter, from −32 to 31
  for (let i = 0; i < 64; i++) SIX_BITS[DIGITS.charCodeAt(i)] = i - 32;

  const bytes = (text) => Uint8Array.from(atob(text), (x) => x.charCodeAt(0));
  const vector = (text) => new Float32Array(bytes(text).buffer);

  /** A matrix of whole numbers of six or eight bits, each row times a scale of its own. */
  function matrix({ shape: [rows, columns], scales, weights }, bits) {
    const values = new Float32Array(rows * columns);
    const scale = vector(scales);
    const read = bits === 6 ? null : new Int8Array(bytes(weights).buffer);
    for (let row = 0, at = 0; row < rows; row++)
      for (let i = 0; i < columns; i++, at++)
        values[at] = (read ? read[at] : SIX_BITS[weights.charCodeAt(at)]) * scale[row];
    return { rows, columns, values, row: (i) => values.subarray(i * columns, (i + 1) * columns) };
  }

  // ---------- the pieces ----------
  /** W x + b. Most of the time is spent here: four sums side by side keep a processor busy. */
  function linear({ kernel: { rows, columns, values }, bias }, x) {
    const y = new Float32Array(rows);
    for (let row = 0, at = 0; row < rows; row++) {
      let a = bias ? bias[row] : 0;
      let b = 0;
      let c = 0;
      let d = 0;
      let i = 0;
      for (; i + 3 < columns; i += 4, at += 4) {
        a += values[at] * x[i];
        b += values[at + 1] * x[i + 1];
        c += values[at + 2] * x[i + 2];
        d += values[at + 3] * x[i + 3];
      }
      for (; i < columns; i++, at++) a += values[at] * x[i];
      y[row] = a + b + c + d;
    }
    return y;
  }

  function softmax(x) {
    const top = x.reduce((most, value) => Math.max(most, value), -Infinity);
    const powers = x.map((value) => Math.exp(value - top));
    const total = powers.reduce((sum, value) => sum + value, 0);
    return powers.map((value) => value / total);
  }

  function normalize({ gamma, beta }, x, epsilon) {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    const factor = 1 / Math.sqrt(variance + epsilon);
    return x.map((value, i) => (value - mean) * factor * gamma[i] + beta[i]);
  }

  // The error function, to within 1.5e-7 (Abramowitz and Stegun, 7.1.26).
  const ERF = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x));
    return Math.sign(x) * (1 - ERF.reduce((sum, a) => (sum + a) * t, 0) * Math.exp(-x * x));
  }

  const ACTIVATIONS = {
    relu: (x) => Math.max(0, x),
    gelu: (x) => (x * (1 + erf(x / Math.SQRT2))) / 2,
    silu: (x) => x / (1 + Math.exp(-x)),
    tanh: Math.tanh,
  };

  /** Turns each pair of dimensions of each head by an angle that grows with the position
      (Su et al., 2021). */
  function rotate(x, position, width) {
    const turned = new Float32Array(x.length);
    for (let i = 0; i < x.length; i += 2) {
      const angle = position * 10000 ** (-(i % width) / width);
      const sine = Math.sin(angle);
      const cosine = Math.cos(angle);
      turned[i] = x[i] * cosine - x[i + 1] * sine;
      turned[i + 1] = x[i] * sine + x[i + 1] * cosine;
    }
    return turned;
  }

  /** softmax(q kᵀ / √d) v for each head of one query: their outputs side by side, and their
      weights. */
  function attend(query, keys, values, heads) {
    const width = query.length / heads;
    const output = new Float32Array(query.length);
    const weights = range(heads).map((head) => {
      const first = head * width;
      const last = first + width;
      const shares = softmax(
        keys.map((key) => {
          let product = 0;
          for (let i = first; i < last; i++) product += query[i] * key[i];
          return product / Math.sqrt(width);
        }),
      );
      shares.forEach((share, at) => {
        for (let i = first; i < last; i++) output[i] += share * values[at][i];
      });
      return shares;
    });
    return { output, weights };
  }

  // ---------- the model ----------
  class Model {
    /** Of what nlp104.translation.web.pack has written. */
    constructor({ config, bits, matrices, vectors }) {
      this.config = config;
      const tensors = {};
      for (const name in matrices) tensors[name] = matrix(matrices[name], bits);
      for (const name in vectors) tensors[name] = vector(vectors[name]);
      const under = (name) => (part) => tensors[`${name}/${part}`];
      const dense = (name) => ({ kernel: under(name)("kernel"), bias: under(name)("bias") });
      const norm = (name) => ({ gamma: under(name)("gamma"), beta: under(name)("beta") });
      const attention = (name) => ({
        query: dense(`${name}/query`),
        key: dense(`${name}/key`),
        value: dense(`${name}/value`),
        output: dense(`${name}/output`),
        norm: norm(`${name}_residual/normalization`),
      });
      const layer = (name, ...attentions) => ({
        ...Object.fromEntries(attentions.map((kind) => [kind, attention(`${name}/${kind}`)])),
        expand: dense(`${name}/feed_forward/expand`),
        contract: dense(`${name}/feed_forward/contract`),
        norm: norm(`${name}/feed_forward_residual/normalization`),
      });
      const layers = range(config.num_layers);
      this.encoder = layers.map((i) => layer(`encoder/layer_${i}`, "attention"));
      this.decoder = layers.map((i) =>
        layer(`decoder/layer_${i}`, "self_attention", "cross_attention"),
      );
      this.last = {
        encoder: norm("encoder/normalization"),
        decoder: norm("decoder/normalization"),
      };
      const embedding = (side) => ({
        tokens: tensors[`${side}_embedding/embeddings`],
        positions: tensors[`${side}_embedding/positions`],
      });
      this.source = embedding("encoder");
      this.target = config.tie_embeddings ? this.source : embedding("decoder");
      this.head = dense("output_head/output");
      if (config.tie_embeddings) this.head.kernel = this.source.tokens;
    }

    /** The vector of a token, times √d, plus its position. */
    embed({ tokens, positions }, id, position) {
      const d = this.config.hidden_dim;
      const x = tokens.row(id).map((value) => value * Math.sqrt(d));
      if (this.config.positions === "learned") return add(x, positions.row(position));
      if (this.config.positions !== "sinusoidal") return x;
      return x.map((value, i) => {
        const angle = position * 10000 ** (-(i - (i % 2)) / d);
        return value + (i % 2 ? Math.cos(angle) : Math.sin(angle));
      });
    }

    /** The wire around a sub-layer: LayerNorm(x + f(x)), or with pre-norm x + f(LayerNorm(x)). */
    residual(norm, x, change) {
      const { normalize_first: first, epsilon } = this.config;
      const sum = add(x, change(first ? normalize(norm, x, epsilon) : x));
      return first ? sum : normalize(norm, sum, epsilon);
    }

    feedForward({ expand, contract, norm }, x) {
      const activation = ACTIVATIONS[this.config.activation];
      return this.residual(norm, x, (x) => linear(contract, linear(expand, x).map(activation)));
    }

    /** Keys and values of a vector; `position` where they are turned by it. */
    remember({ key, value }, x, position) {
      return { key: this.turn(linear(key, x), position), value: linear(value, x) };
    }

    turn(x, position) {
      const { positions, hidden_dim: d, num_heads: heads } = this.config;
      return positions === "rotary" && position !== undefined ? rotate(x, position, d / heads) : x;
    }

    /** One look of a vector at what is remembered. Heads in `off` add nothing: their rows of W_O
        are 0. */
    look({ query, output }, x, memory, off, position) {
      const { num_heads: heads } = this.config;
      const seen = memory.map((one) => one.key);
      const values = memory.map((one) => one.value);
      const found = attend(this.turn(linear(query, x), position), seen, values, heads);
      for (const head of off ?? [])
        found.output.fill(0, (head * x.length) / heads, ((head + 1) * x.length) / heads);
      return { change: linear(output, found.output), weights: found.weights };
    }

    finish(stack, x) {
      return this.config.normalize_first ? normalize(this.last[stack], x, this.config.epsilon) : x;
    }

    /** Token ids of a source, [END] last, to what the decoder may look at, and the weights
        [layer][head][row][column]. `off` holds the heads that are switched off,
        {encoder: [layer][…heads], decoder: …, cross: …}. */
    encode(ids, off = {}) {
      const weights = [];
      const pre = this.config.normalize_first;
      const { epsilon } = this.config;
      let xs = ids.map((id, position) => this.embed(this.source, id, position));
      this.encoder.forEach((layer, i) => {
        const { norm } = layer.attention;
        const inputs = pre ? xs.map((x) => normalize(norm, x, epsilon)) : xs;
        const memory = inputs.map((x, position) => this.remember(layer.attention, x, position));
        const rows = [];
        xs = xs
          .map((x, position) =>
            this.residual(norm, x, (x) => {
              const found = this.look(layer.attention, x, memory, off.encoder?.[i], position);
              rows.push(found.weights);
              return found.change;
            }),
          )
          .map((x) => this.feedForward(layer, x));
        weights.push(range(this.config.num_heads).map((head) => rows.map((row) => row[head])));
      });
      const outputs = xs.map((x) => this.finish("encoder", x));
      const memories = this.decoder.map((layer) =>
        outputs.map((x) => this.remember(layer.cross_attention, x)),
      );
      return { memories, weights, off };
    }

    /** What the decoder remembers of its own words before the first: nothing, in each layer. */
    begin() {
      return this.decoder.map(() => []);
    }

    /** One token more: logits of the next, the longer past, and the weights [layer][head][column]
        of this step. The past that is handed in stays as it is, so hypotheses that begin alike can
        share it. */
    step({ memories, off }, past, id) {
      const position = past[0].length;
      const longer = [];
      const own = [];
      const cross = [];
      let x = this.embed(this.target, id, position);
      this.decoder.forEach((layer, i) => {
        x = this.residual(layer.self_attention.norm, x, (x) => {
          longer.push([...past[i], this.remember(layer.self_attention, x, position)]);
          const found = this.look(layer.self_attention, x, longer[i], off.decoder?.[i], position);
          own.push(found.weights);
          return found.change;
        });
        x = this.residual(layer.cross_attention.norm, x, (x) => {
          const found = this.look(layer.cross_attention, x, memories[i], off.cross?.[i]);
          cross.push(found.weights);
          return found.change;
        });
        x = this.feedForward(layer, x);
      });
      return { logits: linear(this.head, this.finish("decoder", x)), past: longer, own, cross };
    }
  }

  return Model;
})();
