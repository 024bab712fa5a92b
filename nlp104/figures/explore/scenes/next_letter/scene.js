// Shannon's guessing game: the reader against a language model and a table.
nlp104.scene("next_letter", (data, { range, write, next_letter: game }) => {
  const { passages } = data;
  const longest = Math.max(...passages.map(({ hidden }) => hidden.length));
  const highest = Math.max(...passages.flatMap(({ guessers }) => guessers[0].places));
  const tall = (guesses) => Math.min(1, (0.5 + guesses) / (0.5 + highest));
  // The name of a step: of which ten letters it is.
  function tens(k) {
    const first = 10 * Math.floor((k - 1) / 10) + 1;
    return k ? `${first}–${first + 9}` : "0";
  }

  const of = ({ text }) => passages.find(({ name }) => name === text) ?? passages[0];
  const lettersOf = (passage) => [...passage.hidden].map(game.keyOf);

  function viewOf(state, width) {
    const passage = of(state);
    const { hidden, guessers } = passage;
    const last = hidden.length;
    const step = Math.min(state.step, last);
    const mine = game.guessesOf(state.mine, last);
    const tried = game.triedOf(state, lettersOf(passage)[step]);
    const view = { passage, guessers, last, step, mine, tried, tall };
    return { ...view, averages: game.meansOf(view), ...game.layout(passages, width) };
  }

  const times = (guesses) => `**${guesses}** ${guesses === 1 ? "guess" : "guesses"}`;
  function caption({ passage, guessers, last, step, mine, tried }) {
    if (tried.length) {
      const names = tried.map((key) => `**${game.nameOf(key)}**`).join(", ");
      return `Letter ${step + 1} is not ${names}. Guess on.`;
    }
    if (!step) return "The text goes on under the grey. Which letter comes next?";
    const i = step - 1;
    const [{ places, own }] = guessers;
    if (step === last) {
      const at = (first) =>
        game.mean(places.filter((_, k) => game.begins(passage.hidden, k) === first));
      return (
        `All open. Where a word begins the model needed **${write(at(true), 1)}** guesses, ` +
        `elsewhere **${write(at(false), 1)}**.`
      );
    }
    const name = game.nameOf(game.keyOf(passage.hidden[i]));
    const who = mine[i]
      ? `you ${times(mine[i])}, the model **${places[i]}**`
      : `the model needed ${times(places[i])}`;
    const nats = write(-Math.log(own[i]), 1);
    return `Letter ${step}, **${name}**: ${who}. It gave it ${game.percent(own[i])}, ${nats} nats.`;
  }

  function table({ averages: { rows, count } }) {
    const known = rows.filter(({ guesses }) => guesses);
    return {
      caption: `Means over ${count} letters`,
      rows: known.map(({ name }) => name),
      columns: ["guesses a letter", "nats a letter"],
      values: known.map(({ guesses, nats }) => [guesses, nats ?? null]),
    };
  }

  return {
    lead:
      "What comes next? Press its key, here or on your keyboard. Bars count guesses, " +
      "yours above, the model's below: where are they long?",
    start: { step: data.step, text: passages[0].name, mine: "", tried: "" },
    keep: ["text"],
    chapters: range(longest + 1).map(tens),
    options: [
      { name: "text", label: "Text", values: passages.map(({ name }) => [name, name]) },
      { name: "tried", field: game.typing, when: () => false },
    ],
    last: (state) => of(state).hidden.length,
    draw(state, width) {
      const view = viewOf(state, width);
      const { height } = view;
      return { marks: game.draw(view), height, caption: caption(view), table: table(view) };
    },
    press(state, [kind, key]) {
      const { step, last, passage, tried } = viewOf(state, 700);
      if (step >= last) return;
      const right = lettersOf(passage)[step];
      if (kind === "guess" && key !== right) {
        if (!tried.includes(key)) state.tried = [...tried, key].join("");
        return;
      }
      if (kind === "guess") state.mine = game.guessed(state.mine, step, tried.length + 1);
      state.step = step + 1;
      state.tried = "";
    },
    move(state) {
      state.tried = "";
    },
    option(state, name) {
      if (name === "text") Object.assign(state, { step: 0, mine: "", tried: "" });
    },
    pause: () => 700,
  };
});
