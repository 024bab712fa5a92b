// Greedy decoding, beam search and dice.
nlp104.share("decoding", ({ range, sum, decoding: { pick } }) => {
  // A node is a beginning that was recorded; logarithms are in thousandths.
  function readSentence(sentence, columns) {
    const nodes = sentence.nodes.map((row) =>
      Object.fromEntries(columns.map((name, i) => [name, row[i]])),
    );
    const after = new Map(nodes.map(({ from, word }, i) => [`${from} ${word}`, i]));
    return { ...sentence, nodes, after };
  }

  const weigh = (word, log, norm) => ({
    word,
    log: log / 1000,
    logit: log / 1000 + norm / 1000,
    p: Math.exp(log / 1000),
  });
  const likeliest = ({ top, norm }) =>
    range(top.length / 2).map((i) => weigh(top[2 * i], top[2 * i + 1], norm));

  // Where dice are thrown, `p` is what temperature and cut make of the probability.
  function heated({ nodes, after }, number, drawn, temperature, { heat, cut }) {
    const node = nodes[number];
    const [total, count, mass] = node.heat[heat];
    const share = ({ log }) => Math.exp(log / temperature - total / 1000);
    const rows = likeliest(node);
    if (!rows.some(({ word }) => word === drawn)) {
      const child = nodes[after.get(`${number} ${drawn}`)];
      rows[5] = weigh(drawn, child ? child.log : node.top.at(-1), node.norm);
    }
    const kept = [Infinity, 5, count][cut];
    const whole = [1, sum(rows.slice(0, 5).map(share)), mass / 1000][cut];
    return rows.map((row, i) => ({ ...row, p: i < kept ? share(row) / whole : 0 }));
  }

  // From a state to its search: for each word what is read, what may follow, what is kept, and the
  // best that has ended.
  function searcher(data) {
    const endToken = data.words.indexOf("[END]");
    const sentences = data.sentences.map((sentence) => readSentence(sentence, data.columns));

    function run(state) {
      const { mode, first } = state;
      const sentence = pick(sentences, state.sentence);
      const numBeams = mode === "beam" ? pick(data.beams, state.k) : 1;
      const alpha = mode === "beam" ? pick(data.alphas, state.alpha) : 0;
      const penalty = (length) => ((5 + length) / 6) ** alpha;
      const dice = mode === "sampling" && sentence.draws[state.heat][state.cut][state.draw];
      const temperature = data.temperatures[state.heat];

      const follow = (from, length) => {
        const { node, total } = from;
        const rows = dice
          ? heated(sentence, node, dice[length - 1], temperature, state)
          : likeliest(sentence.nodes[node]);
        return rows.map((row) => {
          const ended = row.word === endToken;
          return { ...row, from, length, total: total + row.log, ended };
        });
      };
      const choose = (all, length) => {
        if (dice) return all.filter(({ word }) => word === dice[length - 1]);
        if (numBeams > 1) return all.slice(0, numBeams);
        return [all[length === 1 && mode === "greedy" && first in all ? first : 0]];
      };

      const frames = [];
      let read = [{ node: 0, word: sentence.nodes[0].word, total: 0, length: 0, row: 0 }];
      let best;
      for (let length = 1; length <= data.limit && read.length; length++) {
        const all = read.flatMap((from) => follow(from, length));
        if (numBeams > 1) all.sort((a, b) => b.total - a.total);
        const kept = choose(all, length);
        kept.forEach((one, row) => {
          const node = sentence.after.get(`${one.from.node} ${one.word}`);
          Object.assign(one, { row, kept: true, node });
          if (one.ended) one.score = one.total / penalty(length);
          if (one.ended && !(best?.score >= one.score)) best = one;
        });
        frames.push({ read, all: all.slice(0, 6), kept, best });
        read = kept.filter(({ ended }) => !ended);
        // Nothing that goes on can still come out ahead.
        if (best && read.length && read[0].total / penalty(data.limit) <= best.score) break;
      }
      return { sentence, frames, numBeams, end: best ?? frames.at(-1).kept[0] };
    }

    const found = new Map();
    return (state) => {
      const key = JSON.stringify({ ...state, step: 0 });
      if (!found.has(key)) found.set(key, run(state));
      return found.get(key);
    };
  }

  return { searcher };
});
