// The text as it is cut after each merge.
nlp104.share("merges", () => {
  const START = "▁"; // before each word
  const PARTS = /▁?[^\p{L}\p{N}_▁'-]|▁?[\p{L}\p{N}_'-]+/gu; // a token is inside a word, or a sign

  // What the tokenizer makes of a text before it cuts: one form of accents, apostrophes, spaces.
  const tidyText = (text) =>
    String(text)
      .normalize("NFC")
      .replace(/[’ʼ]/g, "'")
      .replace(/[\s▁]+/g, " ")
      .trim();

  // The parts of the words; no merge joins one with another.
  const partsOf = (text) =>
    tidyText(text)
      .split(" ")
      .filter(Boolean)
      .flatMap((word) => `${START}${word}`.match(PARTS) ?? []);

  // Before the first merge, and after each that changes something:
  // { from: the merge, count: of tokens, parts: [[{ token, at, fresh }, …], …] }.
  let last = {};
  function statesOf(text, merges) {
    if (last.text === text) return last.states;
    let at = 0;
    let parts = partsOf(text).map((part) => [...part].map((token) => ({ token, at: at++ })));
    const states = [{ from: 0, parts, count: at }];
    merges.forEach(([one, other], k) => {
      let changed = 0;
      const after = parts.map((tokens) => {
        const joined = [];
        for (const { token, at: start } of tokens) {
          const before = joined.at(-1);
          if (before?.token === one && token === other) {
            joined[joined.length - 1] = { token: one + other, at: before.at, fresh: true };
            changed += 1;
          } else joined.push({ token, at: start });
        }
        return joined;
      });
      if (!changed) return;
      parts = after;
      states.push({ from: k + 1, parts, count: states.at(-1).count - changed });
    });
    last = { text, states };
    return states;
  }

  const stateAt = (states, step) => states.findLast(({ from }) => from <= step);

  return { statesOf, stateAt };
});
