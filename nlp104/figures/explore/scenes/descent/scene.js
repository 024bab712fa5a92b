// Plain gradient descent and Adam, step by step, down the same valley at the same rate.
nlp104.scene("descent", (data, { limit, range, write, descent }) => {
  const { loss, plain, adam, layout, valley, inside } = descent;

  function walks(state) {
    const steep = data.steep[state.steep] ?? data.steep.at(-1);
    const rate = data.rates[state.rate] ?? data.rates[0];
    const step = limit(state.step | 0, 0, data.steps);
    const both = [plain, adam].map((walk) => {
      const path = walk(data, rate, steep).slice(0, step + 1);
      const shown = path.slice(0, inside(path));
      return { path, shown, gone: shown.length < path.length, points: loss(path.at(-1), steep) };
    });
    return { steep, rate, step, both };
  }

  const short = (points) => write(points, points < 0.1 ? 3 : 2);

  // How a walk fares: out of the picture, jumping across, creeping, or there.
  function fares({ path, gone, points }) {
    if (gone) return "it has jumped out of the picture";
    const jumps = path.slice(1).filter(([, y], t) => y * path[t][1] < 0).length;
    const across = jumps > 3 ? `it jumped across **${jumps}** times, ` : "";
    return `${across}loss **${short(points)}**`;
  }

  function caption({ steep, rate, step, both }) {
    const [first, second] = both.map(fares);
    if (!step) {
      const valleys = steep > 1 ? `${steep} times as steep across as along` : "as steep all around";
      return (
        `The same start, the same rate of **${rate}**. The valley is **${valleys}**. ` +
        "Which of the two will be lower after thirty steps?"
      );
    }
    const others = data.steep.filter((other) => other !== steep).map((other) => `×\u00a0${other}`);
    const same = step === data.steps ? ` Its way at ${others.join(" and ")} is the same.` : "";
    return `Step **${step}**. Plain descent: ${first}. Adam: ${second}.${same}`;
  }

  function draw(state, width) {
    const view = walks(state);
    const { places, bottom } = layout(width);
    const names = ["plain descent", "Adam"];
    const marks = view.both.map(({ shown, gone, points }, i) => {
      const remark = gone ? "out of the picture" : `loss ${short(points)}`;
      return valley(`v${i}`, { name: names[i], remark, shown, steep: view.steep }, places[i]);
    });
    return {
      marks,
      height: bottom + 8,
      caption: caption(view),
      table: {
        caption: `After step ${view.step}, rate ${view.rate}`,
        rows: names,
        columns: ["along", "across", "loss"],
        values: view.both.map(({ path, points }) => [...path.at(-1), points]),
      },
    };
  }

  return {
    lead: "Choose a rate and a valley, then watch both ways down.",
    start: data.chosen,
    keep: ["rate", "steep"],
    chapters: range(data.steps + 1).map((step) =>
      step ? `to ${10 * Math.ceil(step / 10)}` : "start",
    ),
    options: [
      { name: "rate", label: "Rate", values: data.rates.map((rate, i) => [i, `${rate}`]) },
      {
        name: "steep",
        label: "Steeper across",
        values: data.steep.map((times, i) => [i, `× ${times}`]),
      },
    ],
    draw,
    pause: () => 320,
  };
});
