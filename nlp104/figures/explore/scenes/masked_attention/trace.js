// The row that is followed, line by line: the same three things in the order that was chosen.
nlp104.share("masked_attention", ({ sum, write, area, label, line, step }) => {
  const linesOf = ({ before, row }) =>
    before
      ? [
          ["score", row.scores, 1],
          ["+ mask", row.masked, 1],
          ["softmax", row.weights, 2],
        ]
      : [
          ["score", row.scores, 1],
          ["softmax", row.all, 2],
          ["× mask", row.weights, 2],
        ];

  function name({ slim, pill }, source, n, y) {
    const concept = source === "softmax" ? "a" : "r";
    if (slim)
      return label(`l${source}`, 0, y, source, {
        size: 12,
        ...(n ? { concept } : { muted: true }),
      });
    const place = { x: 0, y: y - 10.5, w: pill, h: 21 };
    return step(`l${source}`, place, { source, size: 13, lit: n > 0, concept });
  }

  function numbers(view, source, values, digits, y) {
    const { places, row, size, columnX, w } = view;
    const { numberIn } = nlp104.masked_attention;
    return values.map((value, place) => {
      const text = value === 0 && row.hidden[place] ? "0" : numberIn(view, value, digits);
      return label(`l${source}${places[place]}`, columnX(places[place]) + w / 2, y, text, {
        size,
        anchor: "middle",
        concept: digits === 2 && value ? "a" : undefined,
        muted: !value || value === -Infinity,
      });
    });
  }

  function total({ size, x }, source, values, y) {
    const off = nlp104.masked_attention.isOff(sum(values));
    const text = write(sum(values));
    return label(`l${source}sum`, x.bar, y, `sum ${off ? `**${text}**` : text}`, {
      size,
      muted: !off,
    });
  }

  function trace(view) {
    const { places, row, x, rowY, w, h } = view;
    const width = places.length * w;
    const lines = linesOf(view).map(([source, values, digits], n) => {
      const y = view.trace + view.traceHeight * n + 13;
      return [
        name(view, source, n, y),
        n > 0 && line(`rule${n}`, `M${x.cells} ${y - 13}H${x.cells + width}`),
        numbers(view, source, values, digits, y),
        digits === 2 && total(view, source, values, y), // of weights
      ];
    });
    const frame = { x: x.cells - 2, y: rowY(row.i) - 1, w: width + 4, h: h + 2 };
    return [area("traced", frame, { outline: true, concept: "ink", radius: 7, layer: 2 }), lines];
  }

  return { trace };
});
