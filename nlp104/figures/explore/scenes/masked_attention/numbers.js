// What each row of the matrix is made of, and which row is followed.
nlp104.share("masked_attention", ({ sum, range, softmax }) => {
  // The first word is padding on the left. The others are written one by one, then trained on at
  // once.
  function describe(data) {
    const words = data.tokens;
    const newest = range(words.length - 1, 1);
    const steps = [...newest.map((i) => ({ newest: i })), { newest: words.length - 1, all: true }];
    const opening = Math.min(3, steps.length - 1);
    return { ...data, words, count: words.length, steps, opening };
  }

  // Row i may look at `places`, but for the hidden ones; those `ahead` are not written yet.
  function rowOf(scoresOf, i, places, { future, when }) {
    const hidden = places.map((j) => j === 0 || (future === "hidden" && j > i));
    const scores = places.map((j) => scoresOf[i][j]);
    const masked = scores.map((score, place) => (hidden[place] ? -Infinity : score));
    const all = softmax(scores);
    const late = all.map((weight, place) => (hidden[place] ? 0 : weight));
    const weights = when === "before" ? softmax(masked) : late;
    const ahead = places.map((j, place) => j > i && !hidden[place]);
    return {
      i,
      places,
      hidden,
      scores,
      masked,
      all,
      weights,
      ahead,
      total: sum(weights),
      leak: sum(weights.filter((_, place) => ahead[place])),
      empty: hidden.every(Boolean),
    };
  }

  // How much of a row's weight lies on the very word that it has to write.
  const copied = ({ words, next }, { i, places, ahead, weights }) =>
    sum(weights.filter((_, place) => ahead[place] && words[places[place]] === next[i]));

  // The reader's row, or the one that shows most of what is wrong, or the newest.
  function followed(figure, state, rows) {
    const most = (value) => rows.reduce((best, row) => (value(row) > value(best) ? row : best));
    const given = rows.find(({ i }) => i === state.row) ?? rows.find(({ empty }) => empty);
    if (given) return given;
    if (state.when === "after") return most(({ total }) => -total);
    if (state.future === "visible") return most((row) => copied(figure, row));
    if (figure.steps[state.step].all) return rows.at(-3) ?? rows.at(-1);
    return rows.at(state.step === figure.opening ? -2 : -1); // from it, one word is hidden
  }

  // All that a state comes to, but for the places on the stage.
  function look(figure, state) {
    const { newest, all } = figure.steps[state.step];
    const first = state.padding === "on" ? 0 : 1;
    const places = range(newest - first + 1, first);
    const rows = places.map((i) => rowOf(figure.scores[state.head], i, places, state));
    return {
      ...figure,
      state,
      newest,
      all,
      first,
      most: figure.count - first, // rows, in the end
      before: state.when === "before",
      places,
      rows,
      row: followed(figure, state, rows),
    };
  }

  const isOff = (total) => Math.abs(total - 1) > 0.005;

  return { describe, copied, look, isOff };
});
