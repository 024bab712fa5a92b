// Beam search as nlp104.decoding.beam_search does it; with one beam it is greedy. A generator: it
// hands over what it has after every step, and whoever drives it may stop.
globalThis.nlp104web ??= {};

nlp104web.search = (() => {
  "use strict";
  const [PAD, START, END] = [0, 2, 3];
  const EXTRA_LENGTH = 50; // so much longer than its source may it be (Vaswani et al., 6.1)
  const SHOWN = 6; // candidates of each step that are handed over

  /** The ids of the largest numbers, best first; among equals the first. */
  function largest(x, count) {
    const best = [];
    for (let id = 0; id < x.length; id++) {
      if (best.length === count && x[id] <= x[best[count - 1]]) continue;
      let at = best.length;
      while (at && x[best[at - 1]] < x[id]) at--;
      best.splice(at, 0, id);
      best.length = Math.min(best.length, count);
    }
    return best;
  }

  const byScore = (a, b) => b.score - a.score; // sorting keeps the order of equals

  /**
   * Searches the translation of a source that `model.encode` has read.
   *
   * Of all that one more token can make of the beam, the `beams` most probable are kept. Those that
   * end leave it with their final score, log P / ((5 + |Y|) / 6) ** alpha (Wu et al., 2016,
   * equation 14, without coverage). It stops when the beam is empty, or when nothing in it could
   * still come among the best.
   *
   * Yields after each step the most probable hypothesis; returns the `beams` best, best first. A
   * hypothesis knows its tokens, its logProbability, and of each of its steps the candidates and
   * the weights.
   */
  function* search(model, encoded, length, { beams = 1, alpha = 0.6 } = {}) {
    const limit = Math.min(length + EXTRA_LENGTH, model.config.max_sequence_length);
    const scored = (hypothesis, length) => ({
      ...hypothesis,
      score: hypothesis.logProbability / ((5 + length) / 6) ** alpha,
    });
    let beam = [{ tokens: [], logProbability: 0, past: model.begin(), steps: [] }];
    let finished = [];
    for (let count = 1; count <= limit && beam.length; count++) {
      const longer = beam.flatMap(({ tokens, logProbability, past, steps }) => {
        const found = model.step(encoded, past, tokens.at(-1) ?? START);
        const top = found.logits.reduce((most, x) => Math.max(most, x), -Infinity);
        const total = top + Math.log(found.logits.reduce((sum, x) => sum + Math.exp(x - top), 0));
        // One more than is kept: one of them might be padding.
        const best = largest(found.logits, Math.max(beams + 1, SHOWN));
        const candidates = best
          .slice(0, SHOWN)
          .map((id) => [id, Math.exp(found.logits[id] - total)]);
        const step = { candidates, own: found.own, cross: found.cross };
        return best
          .filter((id) => id !== PAD)
          .map((id) => ({
            tokens: [...tokens, id],
            logProbability: logProbability + found.logits[id] - total,
            past: found.past,
            steps: [...steps, step],
          }));
      });
      const kept = longer.sort((a, b) => b.logProbability - a.logProbability).slice(0, beams);
      const ended = (hypothesis) => hypothesis.tokens.at(-1) === END;
      const ends = kept.filter(ended).map((hypothesis) => scored(hypothesis, count));
      finished = [...finished, ...ends].sort(byScore).slice(0, beams);
      beam = kept.filter((hypothesis) => !ended(hypothesis));
      yield kept[0];
      // Log-probabilities only fall, so none of the beam can reach more than this.
      const worst = finished.length === beams ? finished.at(-1).score : -Infinity;
      if (beam.length && scored(beam[0], limit).score <= worst) break;
    }
    // Those that were cut off come after all that ended.
    const cutOff = beam.map((hypothesis) => scored(hypothesis, limit)).sort(byScore);
    return [...finished, ...cutOff].slice(0, beams);
  }

  return search;
})();
