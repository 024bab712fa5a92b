// What a state says in words, and its table.
nlp104.share("softmax_lab", ({ write }) => {
  function pulled({ words, given, before, logits, weights, touched: i }) {
    const { some } = nlp104.softmax_lab;
    const weight = weights[i];
    const unfelt = Math.abs(logits[i] - given[i]) > 0.25 && Math.abs(weight - before[i]) < 0.005;
    return (
      `You pulled **${words[i]}** from **${some(given[i])}** to **${some(logits[i])}**: ` +
      `its weight went from [a|**${write(before[i])}**] to [a|**${write(weight)}**].` +
      (unfelt ? " A saturated softmax does not feel it." : "")
    );
  }

  function caption(view) {
    const { spread, small, some } = nlp104.softmax_lab;
    const { words, d, by, logits, best, measured } = view;
    if (view.held) return pulled(view);
    const [entropy, largest, slope] = measured;
    const apart = spread(logits);
    const before = spread(logits.map((x) => x * by)); // without the scale
    const winner = `**${words[best]}**`;
    const gets = `[a|**${write(largest)}**]`;
    if (view.state.scale)
      return (
        `**d = ${d}.** Divided by **${some(by)}**, the scores lie **${some(apart)}** apart, ` +
        `${by > 1 ? `not ${some(before)}` : "as before"}. ${winner} gets ${gets}; ` +
        `the steepest slope stays at **${small(slope)}**.`
      );
    const start = `**d = ${d}.** Highest and lowest score lie **${some(apart)}** apart. `;
    const among = `**${write(2 ** entropy, 1)}**`;
    if (largest < 0.6)
      return `${start}Every word keeps a share: it is like choosing among ${among}.`;
    if (largest < 0.95)
      return (
        `${start}${winner} pulls ahead with ${gets}; ` +
        `the other four share **${write(1 - largest)}**.`
      );
    const moves =
      slope < 0.02 ? "It is saturated: a nudge moves next to nothing." : "A nudge moves little.";
    return `${start}${winner} takes ${gets}. Steepest slope: **${small(slope)}**. ${moves}`;
  }

  const table = ({ words, d, logits, weights }) => ({
    caption: `Scores and weights at width ${d}`,
    rows: words,
    columns: ["score", "weight"],
    values: logits.map((x, i) => [x, weights[i]]),
  });

  return { caption, table };
});
