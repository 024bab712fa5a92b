// What is said, what is asked for, what that costs, and where training pushes the scores.
nlp104.share("cross_entropy", ({ limit, range, softmax, sum }) => {
  const [LOW, HIGH] = [-4, 8]; // as far as a hand pulls
  const STILL = 2e-4; // a smaller push is none

  const target = ({ words, right }, epsilon) =>
    words.map((_, k) => (k === right ? 1 - epsilon : 0) + epsilon / words.length);

  const logSum = (x) => {
    const top = Math.max(...x);
    return top + Math.log(sum(x.map((each) => Math.exp(each - top))));
  };
  // −Σ q log p, in two parts: for the right word, and for all others.
  function costs(x, q, right) {
    const log = logSum(x);
    const each = x.map((score, k) => (q[k] ? q[k] * (log - score) : 0));
    return [each[right], sum(each) - each[right]];
  }
  const entropy = (q) => -sum(q.map((each) => (each ? each * Math.log(each) : 0)));
  const push = (x, q) => softmax(x).map((p, k) => q[k] - p);

  // The scores before the first step of descent and after each.
  function run(x, q, { rate }, steps) {
    const path = [x];
    for (const t of range(steps)) {
      const way = push(path[t], q);
      path.push(path[t].map((score, k) => score + rate * way[k]));
    }
    return path;
  }

  const lead = (x, right) => x[right] - Math.max(...x.filter((_, k) => k !== right));

  // The scores that a hand has set, if it has.
  function pulled({ words, logits }, hand) {
    const held = String(hand).split(",").map(Number);
    const good = held.length === words.length && held.every(Number.isFinite);
    return good ? held.map((x) => limit(x, 2 * LOW, 2 * HIGH)) : logits;
  }

  function look(figure, state) {
    const { words, right } = figure;
    const epsilon = state.smoothing / 100;
    const masked = state.place === "padding";
    const q = target(figure, epsilon);
    const first = pulled(figure, state.hand);
    const still = () => range(state.step + 1).map(() => first);
    const path = masked ? still() : run(first, q, figure, state.step);
    const x = path.at(-1);
    const way = masked ? words.map(() => 0) : push(x, q);
    const parts = masked ? [0, 0] : costs(x, q, right);
    return {
      ...figure,
      state,
      epsilon,
      masked,
      q,
      x,
      way,
      parts,
      said: softmax(x),
      loss: sum(parts),
      floor: masked ? 0 : entropy(q),
      calm: way.every((each) => Math.abs(each) < STILL),
      held: words[state.word] ? state.word : right,
      leads: path.map((scores) => lead(scores, right)),
      plain: run(first, target(figure, 0), figure, state.step).map((s) => lead(s, right)),
    };
  }

  // What the place would cost, were the score of the held word another one.
  const costAt = ({ x, q, right, held }, score) =>
    sum(
      costs(
        x.map((old, k) => (k === held ? score : old)),
        q,
        right,
      ),
    );

  return { LOW, HIGH, STILL, look, costAt };
});
