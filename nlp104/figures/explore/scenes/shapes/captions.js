// What is said: of a box, of what a moved fader has changed, or of sizes that do not fit.
nlp104.share("shapes", ({ range, exact, largest, shapes: { times } }) => {
  const became = (x, y) => (x === y ? "the **same**" : `**${times(x / y)}**`);

  // The boxes whose output has become so many times as large.
  function group(factor, { made, ratios }) {
    const list = range(made.length).filter((i) => ratios[i] === factor);
    const names = [...new Set(list.map((i) => made[i].name))].slice(0, 3).join("; ");
    const plural = list.length > 1 ? "es" : "";
    const more = list.length > 3 ? "; …" : "";
    return `**${times(factor)}** in ${list.length} box${plural} (${names}${more})`;
  }

  function change(view) {
    const { data, size, moved, earlier, old, ratios, parameters, work } = view;
    const factors = [...new Set(ratios)].filter((x) => x !== 1).sort((a, b) => b - a);
    const groups = factors.map((factor) => group(factor, view)).join(", ");
    const own =
      parameters === old.parameters
        ? data.says.none
        : `parameters ${became(parameters, old.parameters)}`;
    const arithmetic = `arithmetic ${became(work, old.work)}`;
    const outputs = groups ? `Outputs: ${groups}.` : `${data.says.same} `;
    const tied = moved.letter === "E";
    const [before, now] = [earlier, size[moved.letter]].map((x) => (tied ? ["no", "yes"][x] : x));
    const title = `${moved.label} **${before} → ${now}**`;
    return `${title}: ${own}, ${arithmetic}. ${outputs}`;
  }

  function textOf(view) {
    const { says } = view.data;
    const { changed, fits, chosen, box } = view;
    if (changed) return change(view);
    if (!fits) return says.misfit;
    if (chosen < 0) return says.start;
    if (!box) return says.end;
    return `**${box.title}.** ${box.says}${box.tied ? ` ${says.tied}` : ""}`;
  }

  function caption(view) {
    const { data, size, made, order, parameters, shares, percent } = view;
    const [first, second] = order.map((i) => made[i]);
    const most = largest(shares);
    const words = {
      ...size,
      K: +size.K.toFixed(1),
      count: made.length,
      parameters: exact(parameters),
      largest: first.title,
      next: times(first.numbers / second.numbers),
      kind: data.kinds[most][0],
      share: percent[most],
    };
    return textOf(view).replace(/\{(\w+)\}/g, (all, key) => words[key] ?? all);
  }

  return { caption };
});
