// What a state says in words, and its table.
nlp104.share("pipeline", ({ softmax, write, range, sum }) => {
  // What is put in is strong.
  const say = (words, ...values) => String.raw(words, ...values.map((x) => `**${x}**`));
  const whose = ({ cross }) => (cross ? " of the other sentence" : "");

  function dot({ dots, row, score }) {
    return write(dots[row][score], nlp104.pipeline.places(dots));
  }
  function divided({ root, state, scaled, row, score }) {
    if (!state.scale) return "";
    const result = write(scaled[row][score], nlp104.pipeline.places(scaled));
    return say` ÷ ${+root.toFixed(2)} = ${result}`;
  }
  function mixed(view) {
    const { word, columns, weights, row, best } = view;
    return (
      say`${word} mixes the [v|values]` +
      `${whose(view)}, each as much as its ` +
      say`[a|weight]: [a|${write(weights[row][best])}] of ${columns[best]}.`
    );
  }
  // Without the scale: how much sharper the softmax has become.
  function sharper({ root, state, masked, weights, row, best }) {
    if (state.scale) return "";
    const tamed = softmax(masked[row].map((x) => x / root));
    return (
      say` Largest weight: [a|${write(weights[row][best])}]; ` +
      say`with the scale: ${write(Math.max(...tamed))}.`
    );
  }

  const OPEN = {
    score(view) {
      const { word, columns, depth, score, at } = view;
      return (
        say`${word} holds its [q|query] against the [k|key] of ` +
        say`${columns[score]}: ${depth} products add up to ${dot(view)}` +
        `${at > nlp104.pipeline.STAGES.DOT ? divided(view) : ""}.`
      );
    },
    output(view) {
      const { output, row, column } = view;
      return mixed(view) + say` Column ${column + 1} adds up to [v|${write(output[row][column])}].`;
    },
  };

  // While none is open, by the title of the stage.
  const CLOSED = {
    QKV: (view) =>
      say`${view.rows.length} words ask with their [q|queries]. ` +
      say`${view.columns.length} words` +
      `${whose(view)} answer with [k|keys], the columns of [k|$K^T$], and [v|values].`,
    "÷√d": (view) =>
      view.state.scale
        ? say`Every score is divided by $√d_k$, like ${dot(view)}` +
          `${divided(view)}. The order stays, the gaps shrink.`
        : "The scale is off: the scores stay large. Watch the [a|weights].",
    "+M": (view) =>
      "$M$ adds **0** where a word may look and **−∞** where not. " +
      say`${view.word} may look at ${sum(view.seen[view.row])} of ` +
      say`${view.columns.length} words` +
      `${whose(view)}.`,
    eˣ: ({ canMask, word, row, sums }) =>
      "[a|Softmax], first half: $e^x$ makes every score positive" +
      (canMask ? ", and $e^{−∞}$ is exactly 0" : "") +
      say`. The row of ${word} adds up to ${nlp104.pipeline.power(sums[row])}.`,
    "÷ sum"(view) {
      const { rows, turn, row, sums } = view;
      const now = turn < rows.length ? turn : row;
      const total = nlp104.pipeline.power(sums[now]);
      return (
        say`[a|Softmax], second half: the row of ${rows[now]} is ` +
        say`divided by its sum ${total}` +
        (sums[now] ? ", its bar fills exactly **1**." : ": it sees nothing and stays **0**.") +
        (sums[now] && now === row ? sharper(view) : "")
      );
    },
    all: (view) => `All rows at once. ${mixed(view)}${sharper(view)}`,
  };

  const caption = (view) => (OPEN[view.open] ?? CLOSED[nlp104.pipeline.TITLES[view.at]])(view);

  function table(view) {
    const { rows, columns, at, mixing, stages, stageOf, query, output } = view;
    let values = rows.map((_, i) => stages[stageOf(i)][i]);
    if (mixing) values = output;
    else if (!at) values = query;
    return {
      caption: nlp104.pipeline.TITLES[at],
      rows,
      columns: at && !mixing ? columns : range(values[0].length, 1),
      values,
    };
  }

  return { caption, table };
});
