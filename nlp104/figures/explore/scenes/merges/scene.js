// A text, cut into tokens after each of the merges that a byte-pair encoding has learned.
nlp104.scene("merges", (data, { range, exact, merges }) => {
  const pairs = data.merges;
  const known = new Set(data.letters);
  const HUNDRED = 100; // merges of one chapter

  // The name of a step: of which hundred merges it is.
  function hundred(k) {
    const last = Math.ceil(k / HUNDRED) * HUNDRED;
    return k ? `${last - HUNDRED + 1}–${Math.min(pairs.length, last)}` : "0";
  }

  function viewOf(state, width) {
    const states = merges.statesOf(state.text, pairs);
    const now = merges.stateAt(states, state.step);
    const fresh = now.from === state.step && state.step > 0;
    const view = { merges: pairs, known, states, now, fresh, step: state.step };
    return { ...view, ...merges.layout(states, now, width) };
  }

  function caption({ step, states, now, fresh }) {
    const [{ count: most }] = states;
    if (!most) return "There is no text. Type some.";
    if (!step) return `No merge yet: **${most}** letters and word beginnings, a token each.`;
    const [one, other, times] = pairs[step - 1];
    const here = fresh ? "In this text they are now **one**" : "In this text nothing changes";
    return (
      `**${one}** and **${other}** stood side by side **${exact(times)}** times. ` +
      `${here}: **${now.count}** ${now.count === 1 ? "token" : "tokens"} in place of ${most}.`
    );
  }

  return {
    lead:
      "Pull the slider from letters to words, and type a text of your own. " +
      "▁ marks where a word begins; a dashed letter is unknown.",
    start: { step: data.step, text: data.text },
    keep: ["text"],
    chapters: range(pairs.length + 1).map(hundred),
    options: [{ name: "text", field: merges.field }],
    draw(state, width) {
      const view = viewOf(state, width);
      return {
        marks: merges.draw(view),
        height: view.height,
        caption: caption(view),
        table: {
          caption: `The text after ${state.step} merges`,
          rows: ["tokens"],
          columns: ["how many"],
          values: [[view.now.count]],
        },
      };
    },
    // It runs to the next merge that changes the text.
    pause({ step, text: words }) {
      const states = merges.statesOf(words, pairs);
      return states.some(({ from }) => from === step) ? 900 : 40;
    },
  };
});
