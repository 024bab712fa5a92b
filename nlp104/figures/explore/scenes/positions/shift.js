// Two positions k apart, and their dot product: one number for each distance.
nlp104.share("positions", ({ range, dot, write, area, token, line }) => {
  const HIGH = 130; // of the curve

  // Where a distance and a dot product lie in the plot.
  function placePlot({ data, width, left, top, pitch, d }) {
    const y = top + 2 * pitch + 62;
    const gap = (width - left - 8) / data.reach;
    return {
      y,
      gap,
      atDistance: (k) => left + k * gap,
      atProduct: (value) => y + HIGH * (0.5 - value / d),
    };
  }
  const product = ({ position, speeds }, other) => {
    const { code } = nlp104.positions;
    return dot(code(position, speeds), code(other, speeds));
  };

  function buttons({ width, k }, { y }) {
    return [-1, 1].map((by, i) =>
      token(
        `by${i}`,
        { x: width - 96 + 52 * i, y: y - 46, w: 44, h: 36 },
        {
          word: "−+"[i],
          act: `k:${k + by}`,
          at: `by:0:${i}`,
          first: !i,
          says: `k = ${k + by}`,
        },
      ),
    );
  }

  function grid({ width, left, d }, { atProduct }) {
    const { put } = nlp104.positions;
    return [-d / 2, 0, d / 2].map((level) => {
      const y = atProduct(level);
      const look = { anchor: "end", muted: true };
      return [
        line(`g${level}`, `M${left} ${y}H${width}`),
        put(`y${level}`, left - 6, y, write(level, 0), look),
      ];
    });
  }

  function curve(view, { atDistance, atProduct }) {
    const { data, position, end, k } = view;
    const points = range(4 * data.reach + 1).map((quarter) => {
      const value = product(view, position + quarter / 4);
      return `${atDistance(quarter / 4)} ${atProduct(value)}`;
    });
    const dotted = {
      x: atDistance(k) - 6,
      y: atProduct(product(view, end)) - 6,
      w: 12,
      h: 12,
    };
    return [
      line("curve", `M${points.join("L")}`, { concept: "p", width: 2 }),
      area("dotted", dotted, { concept: "ink", layer: 2 }),
    ];
  }

  // Every distance can be pressed; each eighth has its number below.
  function distances({ data, k }, { y, gap, atDistance }) {
    const { put } = nlp104.positions;
    const presses = range(data.reach + 1).map((far) => {
      const x = atDistance(far);
      const press = area(
        `k${far}`,
        { x: x - gap / 2, y, w: gap, h: HIGH },
        {
          strength: 0,
          layer: 2,
          act: `k:${far}`,
          at: `k:0:${far}`,
          first: far === k,
          pressed: far === k,
          says: `k = ${far}`,
        },
      );
      if (far % 8) return [press];
      return [press, put(`at${far}`, x, y + HIGH + 14, `${far}`, { muted: true })];
    });
    const axis = put("axis", atDistance(data.reach - 4), y + HIGH + 14, "$k$ →", { muted: true });
    return [presses, axis];
  }

  function shift(view) {
    const { put, clocks, codeRow, columnNames, code, strong, turns } = nlp104.positions;
    const { position, end, top, pitch, speeds, k } = view;
    const plot = placePlot(view);
    const value = strong(product(view, end));
    const title = `$k$ = **${k}**, dot product ${value}`;
    const marks = [
      clocks(view),
      codeRow(view, "from", position, top),
      codeRow(view, "to", end, top + pitch),
      put("dot", 0, plot.y - 28, title, { size: 13, anchor: "start" }),
      buttons(view, plot),
      grid(view, plot),
      curve(view, plot),
      distances(view, plot),
    ];
    return {
      marks: marks,
      height: plot.y + HIGH + 24,
      caption:
        `From **${position}** to **${end}**, turn ${turns(view)}, wherever they start. ` +
        `So the dot product is ${value} at every position: play, and watch the dot.`,
      table: {
        caption: "Two codes, and their dot products with the first",
        rows: [`${position}`, `${end}`],
        columns: [...columnNames(view), "dot product"],
        values: [position, end].map((other) => [...code(other, speeds), product(view, other)]),
      },
    };
  }
  return { shift };
});
