// What a state says in words, and its table.
nlp104.share("speculative_sampling", ({ largest, write }) => {
  const percent = (share) => `**${write(100 * share, 0)} %**`;
  const and = (words) =>
    words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0];

  // The tokens that have more than nothing, with their shares.
  function those({ tokens }, shares) {
    const { FEW } = nlp104.speculative_sampling;
    const named = tokens.map((name, i) => [name, shares[i]]).filter(([, x]) => x >= FEW);
    return and(named.map(([name, x]) => `${name} **${write(x)}**`));
  }

  function ends(view) {
    const { FEW } = nlp104.speculative_sampling;
    const { p, out, tokens, state, share } = view;
    const off = out.map((x, i) => x - p[i]);
    const most = largest(off);
    if (off[most] < FEW)
      return share > 1 - FEW
        ? "Nothing has to be drawn again."
        : `Drawn instead: ${those(view, view.drawn)}. ` +
            `Out comes what the model says${state.again ? ", this time" : ", exactly"}.`;
    return (
      `Drawn from $p$ again, ${tokens[most]} gets a second chance: ` +
      `it comes out **${write(out[most])}** of the time, not **${write(p[most])}**.`
    );
  }

  function caption(view) {
    const { FEW } = nlp104.speculative_sampling;
    const { p, q, tokens, over, lack, share, step } = view;
    const most = largest(over);
    const name = tokens[most];
    if (over[most] < FEW && step < 3)
      return step
        ? "Every guess is kept: the draft says no token more often than the model."
        : "This draft guesses as the model would. Pull one of its handles.";
    if (step === 0)
      return (
        `Of 100 guesses of the draft **${write(100 * q[most], 0)}** are ${name}. ` +
        `The model itself would say ${name} **${write(100 * p[most], 0)}** times.`
      );
    if (step === 1)
      return (
        `A guess is kept with probability min(1, $p/q$): ${name} with ` +
        `${percent(p[most] / q[most])}. Of all guesses ${percent(share)} are kept.`
      );
    if (step === 2)
      return `Refused: ${those(view, over)}. As much is lacking elsewhere: ${those(view, lack)}.`;
    return ends(view);
  }

  const table = ({ tokens, p, q, kept, drawn, out }) => ({
    caption: "Probabilities of each token",
    rows: tokens,
    columns: ["model p", "draft q", "kept", "drawn instead", "comes out"],
    values: tokens.map((_, i) => [p[i], q[i], kept[i], drawn[i], out[i]]),
  });

  return { caption, table };
});
