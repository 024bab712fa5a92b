// The engine behind the page: takes messages, hands messages back. In a worker, or without one:
// `inline`.
//
//   {kind: "load", model}
//     → {kind: "loaded", config}
//   {kind: "translate", id, text, beams, alpha, off}
//     → {kind: "source", id, tokens}
//       {kind: "step", id, step, text, token, words, attention}, …
//       {kind: "done", id, translation, target, weights, …}
//     or, at once, {kind: "refused", id, message}
//
// A new request stops the one before it, which then says no more.
globalThis.nlp104web ??= {};

nlp104web.engine = (() => {
  "use strict";
  const END = 3;
  const LONGEST = 100; // tokens of a source: more of them no page can show
  const LARGEST = 5000; // characters of a text: a hundred tokens have fewer
  const KINDS = ["encoder", "decoder", "cross"];
  const BEAMS = [1, 4];

  class Refusal extends Error {}
  function expect(condition, expected, received) {
    if (!condition) throw new Refusal(`Expected ${expected}. Received: ${received}.`);
  }

  const pause = () => new Promise((done) => setTimeout(done));
  const numbers = (weights) => weights.map((heads) => heads.map((row) => Array.from(row)));

  /** Weights of every step [step][layer][head][column] as [layer][head][step][column], rows made
      equally long. */
  function maps(steps) {
    const columns = steps.at(-1)[0][0].length;
    return steps[0].map((heads, layer) =>
      heads.map((_, head) =>
        steps.map((step) => {
          const row = Array.from(step[layer][head]);
          return [...row, ...Array(columns - row.length).fill(0)];
        }),
      ),
    );
  }

  class Engine {
    /** `send` takes the messages to the page. */
    constructor(send) {
      Object.assign(this, { send, current: 0 });
    }

    receive(message) {
      if (message.kind === "load") this.load(message.model);
      else if (message.kind === "translate") this.translate(message);
    }

    load(packed) {
      // A script, whose value is the object.
      if (typeof packed === "string") packed = (0, eval)(packed);
      this.model = new nlp104web.Model(packed);
      const [source, target = source] = packed.tokenizers.map(
        (one) => new nlp104web.Tokenizer(one),
      );
      Object.assign(this, { source, target });
      const { num_layers: layers, num_heads: heads, max_sequence_length: most } = packed.config;
      this.longest = Math.min(LONGEST, most - 1); // without [END]
      const { name, languages, parameters } = packed;
      this.send({
        kind: "loaded",
        config: { layers, heads, longest: this.longest, languages, name, parameters },
      });
    }

    async translate({ id, ...request }) {
      const turn = ++this.current;
      const stopped = async () => (await pause(), turn !== this.current);
      try {
        const { ids, off, options } = this.check(request);
        this.send({
          kind: "source",
          id,
          tokens: ids.map((token) => this.source.vocabulary[token]),
        });
        if (await stopped()) return;
        const begun = performance.now();
        const encoded = this.model.encode(ids, off);
        const read = performance.now();
        let working = 0;
        let count = 0; // without the pauses
        for (const search = nlp104web.search(this.model, encoded, ids.length, options); ; count++) {
          const before = performance.now();
          const { value, done } = search.next();
          working += performance.now() - before;
          if (done) {
            const milliseconds = { encoder: read - begun, step: working / count };
            this.send({ kind: "done", id, ...this.result(encoded, value), milliseconds });
            return;
          }
          this.send({ kind: "step", id, step: count, ...this.progress(value) });
          if (await stopped()) return;
        }
      } catch (error) {
        this.send({ kind: "refused", id, message: error.message });
        if (!(error instanceof Refusal)) throw error;
      }
    }

    /** What is asked, in the engine's own terms; or a refusal. */
    check({ text, beams = 1, alpha = 0.6, off = [] }) {
      expect(this.model, "a model, loaded first", "none");
      expect(
        typeof text === "string",
        "a sentence as a string",
        text === null ? "null" : typeof text,
      );
      expect(!/\p{Surrogate}/u.test(text), "Unicode", "half a character");
      expect(BEAMS.includes(beams), "1 beam (greedy) or 4", String(beams));
      expect(
        Number.isFinite(alpha) && alpha >= 0 && alpha <= 10,
        "a length penalty alpha from 0 to 10",
        String(alpha),
      );
      expect(text.length <= LARGEST, `at most ${LARGEST} characters`, text.length);
      const ids = this.source.encode(text);
      expect(ids.length, "a sentence to translate", "an empty one");
      expect(ids.length <= this.longest, `at most ${this.longest} tokens`, ids.length);
      const { num_layers: layers, num_heads: heads } = this.model.config;
      const struck = Object.fromEntries(
        KINDS.map((kind) => [kind, Array.from({ length: layers }, () => [])]),
      );
      expect(Array.isArray(off), "a list of heads to switch off", typeof off);
      for (const one of off) {
        const [kind, layer, head] = Array.isArray(one) ? one : [];
        expect(
          struck[kind]?.[layer] && Number.isInteger(head) && head >= 0 && head < heads,
          `heads as [${KINDS.join(" or ")}, layer below ${layers}, head below ${heads}]`,
          JSON.stringify(one),
        );
        struck[kind][layer].push(head);
      }
      return { ids: [...ids, END], off: struck, options: { beams, alpha } };
    }

    words(candidates) {
      return candidates.map(([token, share]) => [this.target.vocabulary[token], share]);
    }

    /** The most probable beginning, after a step. */
    progress({ tokens, steps }) {
      const { candidates, cross } = steps.at(-1);
      return {
        text: this.target.decode(tokens),
        token: this.target.vocabulary[tokens.at(-1)],
        words: this.words(candidates),
        attention: { cross: numbers(cross) },
      };
    }

    /** The best translation, and the others that were found. */
    result(encoded, found) {
      const [{ tokens, steps, logProbability }] = found;
      return {
        translation: this.target.decode(tokens),
        target: tokens.map((token) => this.target.vocabulary[token]),
        words: steps.map(({ candidates }) => this.words(candidates)),
        weights: {
          encoder: encoded.weights.map(numbers),
          decoder: maps(steps.map(({ own }) => own)),
          cross: maps(steps.map(({ cross }) => cross)),
        },
        log_probability: logProbability,
        candidates: found.map(({ tokens, score }) => [this.target.decode(tokens), score]),
      };
    }
  }

  return (send) => new Engine(send);
})();

/** What a Worker is to a page, without one: for places where workers are refused. */
nlp104web.inline = (model) => {
  const port = {
    onmessage: null,
    postMessage: (message) => setTimeout(() => engine?.receive(message)),
  };
  let engine = nlp104web.engine((data) => port.onmessage?.({ data }));
  port.terminate = () => {
    if (engine) engine.current = NaN; // which is no request's turn
    engine = null;
  };
  if (model) port.postMessage({ kind: "load", model });
  return port;
};

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  const engine = nlp104web.engine((message) => self.postMessage(message));
  self.onmessage = ({ data }) => engine.receive(data);
}
