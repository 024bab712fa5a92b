// In words: how far the news has come, and what it had to wait for.
nlp104.share("paths", () => {
  const some = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  function waiting({ n, time }) {
    const count = n - 1 - Math.min(time, n - 1);
    if (!count) return "no word waits any more";
    return `**${some(count, "word")}** still wait${count === 1 ? "s" : ""}`;
  }

  function question({ n, to }, source, target) {
    const relation = to === n - 1 ? "belongs to" : "comes after";
    return (
      `${target} ${relation} ${source}, **${some(to, "word")}** before it. ` +
      `How many steps are there until ${target} has heard of ${source}?`
    );
  }

  function comparison({ to, steps }, source, target) {
    return (
      `From ${source} to ${target}: **${some(steps(0, to), "step")}** one after the other, ` +
      `**${steps(1, to)}** or **${steps(2, to)}** layers of convolution, **1** of attention. ` +
      "Twice as far takes about twice as many, but attention still **1**."
    );
  }

  function reached(view, front, target) {
    const { words, time, need, kind, recurrent, unit } = view;
    const was = `${target} was reached in ${unit(kind)} **${need}**.`;
    if (recurrent) return `${was} Now the state of ${front} is computed, and ${waiting(view)}.`;
    const come = `Meanwhile the recurrent network has come to **${words[time]}**`;
    return `${was} ${come}, and ${waiting(view)}.`;
  }

  function step(view, front, target) {
    const { time, there } = view;
    if (there)
      return (
        `Step **${time}** reaches ${target}. ` +
        `No step could begin before the one before it was done; ${waiting(view)}.`
      );
    return (
      `Step **${time}**: the state of ${front} is made of the one before. ` +
      `That is all that can be computed: ${waiting(view)}.`
    );
  }

  function layer({ n, time, far, there }, front, source, target) {
    if (there)
      return (
        `Layer **${time}** reaches ${target}. ` +
        "The words of a layer need not wait for each other, but the layers do."
      );
    return (
      `Layer **${time}**: every word sees ${far} to each side, all ${n} at once. ` +
      `News of ${source} has come to ${front}.`
    );
  }

  function caption(view) {
    const { words, to, time, need, kind, heard, all, recurrent, attends } = view;
    const strong = (word) => `**${words[word]}**`;
    const [source, target, front] = [0, to, heard(kind, time)].map(strong);
    if (all) return comparison(view, source, target);
    if (time > need) return reached(view, front, target);
    if (!time) return question(view, source, target);
    if (recurrent) return step(view, front, target);
    if (attends)
      return (
        "One layer: every word looks at every word, all at once. " +
        `${target} hears of ${source} directly, whatever lies between.`
      );
    return layer(view, front, source, target);
  }
  return { some, caption };
});
