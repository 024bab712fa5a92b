// What a state says in words, and its table.
nlp104.share("cross_entropy", ({ write }) => {
  // Close to 1 the digits matter.
  const fine = (p) => write(p, p > 0.995 && p < 1 ? 4 : 2);

  // And so they do close to 0.
  const points = (loss) => write(loss, loss > 0 && loss < 0.01 ? 4 : 2);

  function caption(view) {
    const { state, words, right, said, q, loss, floor, way, calm, masked, epsilon } = view;
    const after = state.step ? `After **${state.step}** steps: ` : "";
    if (masked)
      return (
        `${after}${after ? "the" : "The"} right word is **padding**. Its loss is masked and ` +
        "pushes nothing: pull what you like."
      );
    const [given, asked] = [said[right], q[right]].map(fine);
    const gets = `${after}**${words[right]}** gets **${given}** and is asked for **${asked}**`;
    if (calm)
      return (
        `${gets}: said is what is asked for. **Nothing is pushed** any more; ` +
        `the loss is at its floor, **${write(floor)}**.`
      );
    if (given === asked)
      return `${gets}: as sure as it should be. The other words still find their places.`;
    if (way[right] > 0)
      return (
        `${gets}. A step pushes it **up**. ` +
        (epsilon
          ? `The loss, **${points(loss)}**, can fall to **${write(floor)}**.`
          : "However far it leads, **more is cheaper**.")
      );
    return (
      `${gets}: **too sure**. A step pushes it **down**. ` +
      `The loss is **${points(loss - floor)}** above its floor.`
    );
  }

  const table = ({ words, x, said, q, way, masked, state }) => ({
    caption: `Each word after ${state.step} steps`,
    rows: words,
    columns: ["score", "said", "asked for", "push"],
    values: words.map((_, k) => [x[k], said[k], masked ? null : q[k], way[k]]),
  });

  return { caption, table, points };
});
