// A column for each word: its score, which a hand pulls, and where a step pushes it; below it what
// is said of the word and what is asked for.
nlp104.share("cross_entropy", ({ area, label, limit, line, tidy, token, write }) => {
  // The sentence that is read, and what is written of its translation.
  function context({ slim, source, written, target, masked }) {
    const so = `→ ${masked ? `${target} [END]` : written} **?**`;
    return label("context", 0, 10, slim && masked ? so : `${source} ${so}`, { size: 15 });
  }

  const axis = ({ left, edge, y, top, slim }) => [
    label("scores", 0, top - 18, "**scores**", { size: 14 }),
    label("arrows are", 60, top - 18, `arrows: a step${slim ? "" : " of training"}`, {
      size: 12,
      muted: true,
    }),
    [8, 4, 0, -4].map((x) => [
      label(`tick ${x}`, left - 6, y(x), write(x, 0), { anchor: "end", size: 12, muted: true }),
      line(`grid ${x}`, `M${left} ${y(x)}H${edge}`, { concept: x ? "line" : "edge", layer: 0 }),
    ]),
  ];

  // From a place on, so many pixels up or down; a short one has a small head.
  function arrow(key, x, from, long) {
    const up = Math.sign(long);
    const head = Math.min(6, 3.5 + Math.abs(long) / 3);
    const tip = Math.max(Math.abs(long), head + 3) * up;
    const point = `m${-head} ${head * up}l${head} ${-head * up}l${head} ${head * up}`;
    return line(key, `M${x} ${from}v${-tip}${point}`, {
      concept: "asked",
      width: head < 6 ? 1.75 : 2.25,
      layer: 2,
    });
  }

  const pushed = ({ way }, i) => Math.abs(way[i]) > nlp104.cross_entropy.STILL;

  function knob({ middle }, i, end) {
    const x = middle(i) - 4;
    const grooves = `M${x} ${end - 2}l4 -4l4 4M${x} ${end + 2}l4 4l4 -4`;
    return [
      area(
        `knob ${i}`,
        { x: middle(i) - 14, y: end - 9, w: 28, h: 18 },
        { concept: "ink", radius: 9, layer: 1 },
      ),
      line(`grooves ${i}`, grooves, { concept: "ground", width: 1.5 }),
    ];
  }

  function score(view, i) {
    const { words, x, y, middle, column, bar, held, way, rate, unit } = view;
    const { LOW, HIGH } = nlp104.cross_entropy;
    const [end, zero] = [y(x[i]), y(0)];
    const stem = { y: Math.min(end, zero), h: Math.max(1, Math.abs(end - zero)) };
    const value = tidy(Number(limit(x[i], LOW, HIGH).toFixed(2)));
    return [
      area(
        `score ${i}`,
        { x: middle(i) - bar / 2, w: bar, ...stem },
        { strength: 0.16, radius: 3 },
      ),
      knob(view, i, end),
      pushed(view, i) &&
        arrow(`push ${i}`, middle(i), end - 11 * Math.sign(way[i]), rate * unit * way[i]),
      area(
        `grip ${i}`,
        { x: middle(i) - column / 2 + 2, y: end - 22, w: column - 4, h: 44 },
        {
          strength: 0,
          layer: 2,
          act: `score:${i}`,
          at: `s:0:${i}`,
          first: i === held,
          says: `Score of ${words[i]}`,
          slide: { value, low: LOW, high: HIGH, by: 0.1, length: (HIGH - LOW) * unit },
        },
      ),
    ];
  }

  function word({ words, foot, left, column, slim, masked, right, padding }, i) {
    const place = { x: left + i * column + 1, y: foot + 6, w: column - 2, h: 24 };
    const chosen = i === (masked ? padding : right);
    const look = { word: words[i], size: slim ? 12 : 14, chosen, bare: !chosen };
    return token(`word ${i}`, place, look);
  }

  // A bar of what is said, a line at what is asked for, and the way from one to the other.
  function answer(view, i) {
    const { said, q, way, ground, high, middle, bar, column, masked } = view;
    const wide = Math.min(column - 2, bar + 12);
    const tall = Math.max(1, said[i] * high);
    const asked = { x: middle(i) - wide / 2, y: ground - q[i] * high - 1.5, w: wide, h: 3 };
    const long = way[i] * high;
    return [
      area(
        `said ${i}`,
        { x: middle(i) - bar / 2, y: ground - tall, w: bar, h: tall },
        { concept: "said", radius: 2, layer: 1 },
      ),
      label(`says ${i}`, middle(i), ground + 14, write(said[i]), { anchor: "middle", size: 12 }),
      !masked && area(`asked ${i}`, asked, { concept: "asked", radius: 1.5, layer: 2 }),
      long > 9 && arrow(`gap ${i}`, middle(i), ground - tall - 1, long - 3),
    ];
  }

  // With the two levels of what is asked for: of the right word, of each other one.
  function legend({ foot, q, masked, right, slim }) {
    const y = foot + 50;
    const [most, least] = [q[right], Math.min(...q)].map((each) => write(each));
    return [
      area("said", { x: 0, y: y - 6, w: 12, h: 12 }, { concept: "said", radius: 2 }),
      label("said is", 18, y, "said", { concept: "said" }),
      !masked && [
        area("asked", { x: 60, y: y - 1.5, w: 16, h: 3 }, { concept: "asked", radius: 1.5 }),
        label("asked is", 82, y, `asked for ${most}${slim ? "" : ` and ${least}`}`, {
          concept: "asked",
        }),
      ],
    ];
  }

  const columns = (view) => [
    context(view),
    axis(view),
    legend(view),
    view.words.map((_, i) => [score(view, i), word(view, i), answer(view, i)]),
  ];

  return { columns };
});
