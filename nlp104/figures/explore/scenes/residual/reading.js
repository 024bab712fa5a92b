// What a step shows of which tower, and that in words.
nlp104.share("residual", ({ write }) => {
  const NORMS = ["none", "post", "pre"];
  const KINDS = ["attention", "feed-forward"];

  // A number that has this logarithm, with the two digits that count.
  function size(log) {
    const x = 10 ** log;
    if (x >= 0.01 && x < 9950) return `${Number(x.toPrecision(2))}`;
    const [digits, power] = x.toExponential(1).split("e");
    return `${digits}·10$^{${write(Number(power), 0)}}$`;
  }

  // How far up the signal or the gradient is: two sub-layers a step.
  function levelAt(step, { depth, down, done }) {
    if (done) return 0;
    return down ? 2 * (depth + 1 - step) : 2 * step;
  }

  // First the signal goes up (`turn` steps), then the gradient goes down, then all six towers end.
  function reading({ layers, runs }, { step, gain, skip, norm }) {
    const depth = 2 * layers;
    const turn = layers + 1;
    const six = runs.slice(6 * gain, 6 * gain + 6);
    const run = six[3 * skip + norm];
    const down = step >= turn;
    const done = step === 2 * turn;
    const level = levelAt(step, { depth, down, done });
    const box = down ? Math.min(level, depth - 1) : Math.max(0, level - 1);
    return {
      step,
      skip,
      norm,
      post: norm === 1,
      pre: norm === 2,
      depth,
      six,
      run,
      down,
      done,
      turns: step === turn,
      begins: step % turn === 0,
      level,
      up: done ? depth : level, // as far as the signal has come
      box, // the sub-layer that is shown large
      kind: KINDS[box % 2],
      way: down ? run.gradient : run.signal, // sizes, as logarithms; at the levels,
      came: down ? run.past[box] : run.signal[box], // around the box,
      made: down ? run.through[box] : run.change[box], // and through it
      rose: (at) => down || at <= level,
      fell: (at) => down && at >= level,
    };
  }

  const bold = (log) => `**${size(log)}**`;
  const tens = (log) => `**${write(Math.abs(log), 1)}**`;
  const own = ({ run, up }) => `**${write(run.own[up])}**`;

  function endCaption(view) {
    const { run, depth } = view;
    const ends = [run.signal[depth], run.gradient[0]];
    const said = `The signal ends at ${bold(ends[0])}, the gradient at ${bold(ends[1])}. Both `;
    if (Math.max(...ends.map(Math.abs)) > 1.5) {
      const verb = run.gradient[0] < 0 ? "vanish" : "explode";
      return `${said}${verb}, by ${ends.map(tens).join(" and ")} powers of ten.`;
    }
    const like = run.own[depth] > 0.1 ? "still somewhat" : "no longer";
    const alike = `${like} like their own word (cosine ${own(view)})`;
    return `${said}arrive, and the vectors are ${alike}.`;
  }

  function whereCaption({ down, level, depth, way }) {
    const log = way[level];
    const what = down
      ? `Below layer **${level / 2 + 1}** the gradient has length`
      : `**${level}** of ${depth} sub-layers passed: the signal has size`;
    const order = log < 0 ? "smaller" : "larger";
    const far = Math.abs(log) < 0.5 ? "" : `, ${tens(log)} powers of ten ${order}`;
    return `${what} ${bold(log)}${far}. `;
  }

  function whyCaption(view) {
    const { skip, norm, post, down, came, made, level, depth } = view;
    const set = post ? ", and the norm set the sum to 1" : "";
    if (skip && down)
      return `The last wire brought ${bold(came)} past its box; ${bold(made)} came through.`;
    if (skip) return `The last wire brought ${bold(came)}, its box added ${bold(made)}${set}.`;
    if (norm && !down) return `The norms keep the size, not the direction: own word ${own(view)}.`;
    if (!down && level < depth) return "How much will be left on top?";
    return "All of it came through the boxes.";
  }

  function caption(view) {
    const { done, turns, step, pre, depth, way, level } = view;
    if (done) return endCaption(view);
    if (turns) {
      const left = pre ? `; the last norm leaves ${bold(way[level])} of it` : "";
      const sent = `A gradient of length **1** is set off on top${left}.`;
      return `${sent} How much arrives at the bottom?`;
    }
    if (step) return whereCaption(view) + whyCaption(view);
    return (
      `A signal of size **1** goes in below. What comes out above ${depth} sub-layers? ` +
      "(Own word: cosine with what went in.)"
    );
  }
  return { NORMS, size, reading, caption };
});
