// Where things stand: X on the left, the matrices above, their results below them.
nlp104.share("projection", ({ sum }) => {
  const THIN = 15; // a column that waits
  const APART = 20; // between two matrices

  function layout(view, width) {
    const { names, letter, end, count, depth } = view;
    const slim = width < 560;
    const pill = slim ? 52 : 74;
    const weightHeight = slim ? 28 : 30;
    const rowHeight = slim ? 34 : 36;
    const top = 30;
    const named = view.features.length > 0; // above the columns of X
    const rows = top + depth * weightHeight + (named ? 66 : 54);
    const sizes = {
      slim,
      size: slim ? 12 : 13,
      large: slim ? 12 : 14,
      pill,
      weightHeight,
      rowHeight,
      left: pill + (slim ? 4 : 8), // where X begins
      top,
      base: top + depth * weightHeight, // below the matrices
      rows,
      titles: rows - (named ? 30 : 14), // of X and of the results
      height: rows + count * rowHeight + 6,
      shown: slim && !end ? [letter] : names, // a phone shows one matrix
      factors: !slim || !end, // and in the end no factors
    };
    return { ...sizes, ...across(view, width, sizes) };
  }

  // Rows never leave their word; the matrix in question is wide, the others wait narrow.
  function across({ names, letter, end, depth, weights }, width, { slim, left, shown }) {
    const columns = Object.fromEntries(names.map((name) => [name, weights[name][0].length]));
    const all = (list) => sum(list.map((name) => columns[name]));
    const between = slim ? 8 : 28;
    const x = {};
    const w = {};
    let inputWidth = THIN;
    if (end) {
      const room = width - left - (slim ? 0 : depth * THIN + between) - APART * (names.length - 1);
      for (const name of names) w[name] = room / all(names);
    } else {
      const rest = shown.filter((name) => name !== letter);
      const room = width - left - between - APART * rest.length - THIN * all(rest);
      const unit = room / (depth + 1.12 * columns[letter]);
      inputWidth = Math.min(46, unit);
      for (const name of shown) w[name] = name === letter ? Math.min(54, 1.12 * unit) : THIN;
    }
    let next = left + (end && slim ? 0 : depth * inputWidth + between);
    for (const name of shown) {
      x[name] = next;
      next += columns[name] * w[name] + APART;
    }
    return { columns, x, w, inputWidth };
  }

  return { layout };
});
