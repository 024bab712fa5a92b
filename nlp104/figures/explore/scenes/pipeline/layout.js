// Where things stand: the left factor on the left, the right factor above, their product between.
nlp104.share("pipeline", ({ limit }) => {
  // In pixels; `forQuery` and `forValue` are parts of a cell of the matrix.
  const slimSizes = (longest) => ({
    size: 12,
    gap: 8,
    pad: 4,
    pill: limit(longest, 48, 66),
    rowHeight: 32,
    valueHeight: 24,
    forQuery: 0.5,
    forValue: 0.75,
  });
  const wideSizes = (longest) => ({
    size: 13,
    gap: limit(longest + 8, 68, 90),
    pad: 8,
    pill: 74,
    rowHeight: 34,
    valueHeight: 26,
    forQuery: 0.74,
    forValue: 0.9,
  });
  const cells = (count) => (count > 12 ? 3 : count); // strokes are narrow

  function layout(view, width) {
    const slim = width < 560;
    const longest =
      7.4 * Math.max(...view.rows.concat(view.columns).map((word) => word.length)) + 8;
    const asks = !slim || !view.late || view.open === "score"; // a phone shows Q or V
    const answers = !slim || !asks || !view.at;
    const sizes = slim ? slimSizes(longest) : wideSizes(longest);
    const all = { ...sizes, width, slim, longest, asks, answers };
    return { ...all, ...across(view, all), ...down(view, all) };
  }

  function across({ columns, depth, valueSize, open }, sizes) {
    const { width, slim, longest, asks, answers, gap, pad, pill } = sizes;
    const count = columns.length;
    const queries = asks ? sizes.forQuery * cells(depth) : 0; // in cells of the matrix
    const values = answers ? sizes.forValue * cells(valueSize) : 0;
    const edge = answers ? 0 : 2; // for the frame of the row
    const room = width - edge - pill - pad - (asks ? pad : 0) - (answers ? gap : 0);
    const scoreWidth = Math.min(count < 3 ? 76 : 62, room / (count + queries + values));
    const x = { query: (room - (count + queries + values) * scoreWidth) / 2 };
    x.pill = x.query + queries * scoreWidth + (asks ? pad : 0);
    x.scores = x.pill + pill + pad;
    x.end = x.scores + count * scoreWidth;
    x.value = x.end + gap;
    x.right = x.value + values * scoreWidth;
    x.names = x.value - 8; // of the rows of V
    if (open === "output") x.names = slim ? Math.max(50, longest - 6) : x.scores + 56;
    return {
      x,
      scoreWidth,
      queryWidth: (queries * scoreWidth) / depth,
      valueWidth: (values * scoreWidth) / valueSize,
    };
  }

  function down({ rows, columns, depth, canMask, row }, { rowHeight, valueHeight }) {
    const keyHeight = depth > 12 ? Math.min(4, 160 / depth) : valueHeight;
    const values = columns.length * valueHeight;
    const keys = depth * keyHeight;
    const y = { base: 26 + Math.max(values, keys) }; // below the right factor
    y.key = y.base - keys;
    y.value = y.base - values;
    y.columns = y.base + 38;
    y.scores = y.columns + 18;
    y.trace = y.scores + rows.length * rowHeight + 16;
    y.row = y.scores + row * rowHeight; // of the row that is followed
    y.end = y.trace + (canMask ? 5 : 4) * 26 + 4;
    return { y, keyHeight };
  }

  return { layout };
});
