// Which text is said, and what stands in its braces.
nlp104.share("decoding", ({ write, exact, decoding: { pick, percent, spell } }) => {
  function keyOf({ data, state, phase, frames, frame, end, numBeams, open, last, dice, now }) {
    const { mode } = state;
    if (phase < 2) return ["vector", "logits"][phase];
    if (open && !dice) return "softmax";
    if (open) return data.temperatures[state.heat] === 1 ? "not heated" : "heated";
    if (last && !end.ended) return "cut off";
    if (mode === "beam" && !last && frame.best) return "ended";
    const other = mode === "greedy" && frames[0].kept[0] !== frames[0].all[0];
    const who = other ? "other" : mode;
    if (last) return `${who} end`;
    if (mode === "beam" && numBeams === 1) return now > 1 ? "one" : "one first";
    return now > 1 || dice ? who : `${who} first`;
  }

  function valuesOf(view, search) {
    const { data, state, sentence, numBeams, end, open, now, frame, last, node, name } = view;
    const [one] = frame.kept;
    const [top] = frame.all;
    const shown = open ? top : one;
    const ahead = frame.kept.find(({ ended }) => !ended) ?? one;
    const dropped = frame.read.filter((old) => frame.kept.every(({ from }) => from !== old));
    const most = Math.max(...node.look);
    const seen = sentence.source.filter((_, i) => node.look[i] === most).map(name);
    const { end: greedy } = search({ ...state, mode: "greedy", first: 0 });
    const better = Math.sign(Math.round(1000 * (end.total - greedy.total)));
    return {
      ...data,
      seen: `[a|**${seen.join(" and ")}, ${most}\u00a0%**]`,
      vocabulary: exact(data.vocabulary),
      k: numBeams,
      T: pick(data.temperatures, state.heat),
      u: write(pick(data.dice, state.draw)[now - 1], 3),
      top: `**${name(top.word)}**`,
      one: `**${name(one.word)}**`,
      logit: write(top.logit),
      log: write(top.log),
      p: percent(shown.p),
      plain: percent(Math.exp(shown.log)),
      cut: state.cut ? ", for the words that are cut leave it their share" : "",
      P: percent(Math.exp(end.total)),
      before: write(one.total - one.log),
      total: write(last ? end.total : one.total),
      said: spell(data.words, end),
      ahead: spell(data.words, ahead),
      dropped: dropped.length,
      best: spell(data.words, frame.best),
      score: write(frame.best?.score ?? 0),
      greedy: write(greedy.total),
      verdict: data.verdicts[1 + better],
    };
  }

  function caption(view, search) {
    const { captions } = view.data;
    const values = valuesOf(view, search);
    const text = captions[keyOf(view)] ?? captions.greedy;
    return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  return { caption };
});
