// Beside the towers: the box that is chosen in numbers, or, at the end, the largest outputs.
nlp104.share("shapes", ({ exact, note, shapes: { compact } }) => {
  // Lines of a name with what stands behind it.
  function linesOf(view) {
    const { data, size, made, chosen, box, order, fits, shown } = view;
    const { says } = data;
    if (!box) {
      const largest = order.slice(0, 5).map((i) => {
        const { name, stack, numbers } = made[i];
        return `${name}${says.stacks[stack]} ${compact(numbers)}`;
      });
      return [["largest", ...largest]];
    }
    const arrays = ["takes", "gives", "holds"].map((key) => [
      key,
      ...box[key].map(([words, word]) => `${words} ${shown(word)}`.trim()),
    ]);
    if (!fits) return arrays;
    const layers = box.each > 1 ? ` × ${size.N} layers` : "";
    const each = (x, write) => (x ? write(x / box.each) + layers : "none");
    const rank = order.indexOf(chosen) + 1;
    const bytes = `${compact(4 * box.numbers)}B, rank ${rank} of ${made.length}`;
    return [
      ...arrays,
      ["parameters", each(box.parameters, exact)],
      ["multiply-adds", each(box.work, compact)],
      ["output", `${exact(box.numbers)} numbers`, bytes],
    ];
  }

  function details(view) {
    const { data, slim, chosen, box, stage, roof, floor, lineHeight } = view;
    if (chosen < 0) return []; // the towers have the whole width
    const left = slim ? 0 : stage + 20;
    const top = slim ? floor + 18 : roof + 10;
    const title = box?.title ?? data.says.all;
    const rows = linesOf(view).flatMap(([key, value = "nothing", ...more]) => [
      [key, value],
      ...more.map((other) => ["", other]),
    ]);
    return [
      note("title", left, top, title, { size: 13, strong: true }),
      rows.map(([key, value], i) => {
        const y = top + lineHeight * (i + 1);
        return [
          note(`key${i}`, left, y, key, { muted: true }),
          note(`value${i}`, left + 90, y, value),
        ];
      }),
    ];
  }

  return { details };
});
