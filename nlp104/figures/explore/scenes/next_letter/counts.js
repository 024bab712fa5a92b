// The game: what is open, what was guessed, and what that comes to.
nlp104.share("next_letter", ({ range, sum, limit, write }) => {
  const KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm_"]; // _ is the space
  const COUNTS = "abcdefghijklmnopqrstuvwxyzA"; // of 1 to 27 guesses; an address keeps letters
  const NONE = "_"; // of a letter that was shown

  const keyOf = (letter) => (letter === " " ? "_" : letter.toLowerCase());
  const nameOf = (key) => (key === "_" ? "space" : key);

  // How many guesses the reader needed for each letter; undefined where none were made.
  const guessesOf = (mine, letters) =>
    range(letters).map((i) => COUNTS.indexOf(String(mine)[i] ?? NONE) + 1 || undefined);

  const guessed = (mine, place, count) =>
    String(mine).slice(0, place).padEnd(place, NONE) +
    COUNTS[limit(count, 1, COUNTS.length) - 1] +
    String(mine).slice(place + 1);

  // What was tried for the hidden letter, in the order of trying.
  const triedOf = ({ tried }, right) =>
    [...new Set(String(tried))].filter((key) => KEYS.join("").includes(key) && key !== right);

  const mean = (numbers) => (numbers.length ? sum(numbers) / numbers.length : undefined);

  // Means of all who guess, over the letters that the reader has guessed, or over all open ones.
  function meansOf({ guessers, mine, step }) {
    const open = range(step);
    const own = open.filter((i) => mine[i]);
    const places = own.length ? own : open;
    const others = guessers.map(({ name, places: guesses, own: shares }) => ({
      name,
      guesses: mean(places.map((i) => guesses[i])),
      nats: mean(places.map((i) => -Math.log(shares[i]))),
    }));
    return {
      count: places.length,
      yours: own.length > 0,
      rows: [{ name: "you", guesses: mean(own.map((i) => mine[i])) }, ...others],
    };
  }

  const percent = (share) => (share >= 0.00995 ? `${write(100 * share, 0)} %` : "< 1 %");

  // Where a word begins.
  const begins = (letters, i) => letters[i] !== " " && (i === 0 || letters[i - 1] === " ");

  return { KEYS, keyOf, nameOf, guessesOf, guessed, triedOf, meansOf, mean, percent, begins };
});
