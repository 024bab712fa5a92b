// What becomes of the guesses of a draft q, where the model says p.
nlp104.share("speculative_sampling", ({ sum, range, tidy }) => {
  const FEW = 0.005; // less is not shown

  // What is kept of each token, what is refused, what it lacks; how often which is drawn
  // [refused][drawn]; what comes out.
  function outcome(p, q, again) {
    const kept = p.map((x, i) => Math.min(x, q[i]));
    const [over, lack] = [q, p].map((row) => row.map((x, i) => x - kept[i]));
    const source = again ? p : lack;
    const all = sum(source);
    const flow = over.map((refused) => source.map((x) => (all ? (refused * x) / all : 0)));
    const drawn = range(p.length).map((i) => sum(flow.map((row) => row[i])));
    const out = kept.map((x, i) => x + drawn[i]);
    return { kept, over, lack, flow, drawn, out, share: sum(kept) };
  }

  // The draft that was chosen, or pulled by hand.
  function draftOf({ drafts, tokens }, { draft, hand }) {
    const pulled = String(hand).split(",").map(Number);
    const held = pulled.length === tokens.length && Math.abs(sum(pulled) - 1) < 0.01;
    return held ? pulled : (drafts[draft] ?? drafts[0])[1];
  }

  // One probability is pulled, the others share the rest as they did.
  function pull(q, i, value) {
    const rest = 1 - q[i];
    const others = q.length - 1;
    return q.map((x, k) => {
      if (k === i) return value;
      return tidy(
        Number((rest > 0.001 ? (x * (1 - value)) / rest : (1 - value) / others).toFixed(4)),
      );
    });
  }

  function look(data, state) {
    const q = draftOf(data, state);
    const { model: p } = data;
    return { ...data, state, step: state.step, p, q, ...outcome(p, q, state.again) };
  }

  return { FEW, look, pull };
});
