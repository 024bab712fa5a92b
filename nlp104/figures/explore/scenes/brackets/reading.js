// A sequence of brackets, read as far as it can be.
nlp104.share("brackets", ({ range }) => {
  const opens = (token) => token.startsWith("(");
  const closes = (token) => token.startsWith(")");
  const label = (token) => token.slice(1);

  // What stands after some tokens: the pile, what is done, the words that are read; and `fault`,
  // the token that could not be read.
  function read({ tokens, words }, step) {
    const pile = [];
    const done = [];
    let place = 0;
    for (const at of range(step)) {
      const token = tokens[at];
      if (opens(token)) pile.push({ at, name: label(token), from: place, depth: pile.length });
      else if (!closes(token)) {
        if (place === words.length) return { pile, done, place, fault: at };
        place += 1;
      } else if (pile.at(-1)?.name === label(token) && place > pile.at(-1).from)
        done.push({ ...pile.pop(), to: place });
      else return { pile, done, place, fault: at };
    }
    return { pile, done, place, fault: -1 };
  }

  // The last step that can be taken: the end, or the token that cannot be read.
  function last(sentence) {
    const { length } = sentence.tokens;
    const { fault } = read(sentence, length);
    return fault < 0 ? length : fault + 1;
  }

  // How many phrases lie one on the other, at most.
  function deepest(sentence) {
    const { pile, done } = read(sentence, sentence.tokens.length);
    return Math.max(0, ...[...pile, ...done].map(({ depth }) => depth + 1));
  }

  return { opens, closes, label, read, last, deepest };
});
