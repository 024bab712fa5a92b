// Codes of neighbouring positions roll by, beside a binary odometer.
nlp104.share("positions", ({ range, dot, area, matrix }) => {
  const neighbours = ({ data, position }) =>
    range(5, position - 2).filter((other) => other >= 0 && other < data.count);

  function placeOdometer({ width, slim, left, top, pitch }) {
    return {
      x: slim ? left : width - 146,
      y: slim ? top + 5 * pitch + 54 : top,
      w: slim ? 40 : 24,
    };
  }

  function rows(view, odometer) {
    const { put, codeRow, binary } = nlp104.positions;
    return neighbours(view).map((other) => {
      const y = (other - view.position + 2) * view.pitch;
      const look = other === view.position ? {} : { faint: true, muted: true, strong: false };
      const digits = { ...odometer, y: odometer.y + y, h: 24, digits: 0, size: 12, ...look };
      return [
        codeRow(view, `m${other}:`, other, view.top + y, look),
        matrix(`b${other}:`, [binary(other)], digits),
        put(`p${other}`, odometer.x - 8, digits.y + 12, `${other}`, {
          anchor: "end",
          strong: true,
          ...look,
        }),
      ];
    });
  }

  // Around the row of the position, in both tables.
  const frame = (i, x, y, w, pitch) =>
    area(
      `row${i}`,
      { x: x - 2, y: y + 2 * pitch - 1, w: w + 4, h: pitch },
      { outline: true, concept: "ink", layer: 2 },
    );

  function caption(view) {
    const { code, flips, strong, turns } = nlp104.positions;
    const { position, speeds, d } = view;
    const product = dot(code(position, speeds), code(position + 1, speeds));
    return (
      `Position **${position}** has turned ${turns(view)}. ` +
      `The next step flips **${flips(position)}** of the odometer's 6 digits; ` +
      `it moves the code by ${strong(Math.sqrt(d - 2 * product))}, as every step does.`
    );
  }

  function odometer(view) {
    const { BITS, put, clocks, columnNames, code, binary } = nlp104.positions;
    const { left, top, wide, pitch, speeds } = view;
    const place = placeOdometer(view);
    const { x, y, w } = place;
    const values = BITS.map((bit) => `${2 ** bit}`);
    const marks = [
      clocks(view),
      rows(view, place),
      frame(0, left, top, wide, pitch),
      frame(1, x, y, BITS.length * w, pitch),
      BITS.map((bit) => put(`v${bit}`, x + (bit + 0.5) * w, y - 12, values[bit], { muted: true })),
      put("odometer", x, y - 34, "binary odometer", { anchor: "start" }),
    ];
    const shown = neighbours(view);
    return {
      marks: marks,
      height: y + 5 * pitch,
      caption: caption(view),
      table: {
        caption: "Sinusoidal and binary codes",
        rows: shown.map(String),
        columns: [...columnNames(view), ...values],
        values: shown.map((other) => [...code(other, speeds), ...binary(other)]),
      },
    };
  }
  return { odometer };
});
