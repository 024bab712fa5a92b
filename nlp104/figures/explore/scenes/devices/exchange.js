// Who tells whom: a line along all who add up.
nlp104.share("devices", ({ range, label, line, devices: { bytes, GRADIENTS } }) => {
  const LOOK = { concept: "ink", width: 3, layer: 2 };
  const ROWS = range(2);

  const arrow = (key, x, y, way) => {
    const back = y + way * 6;
    return line(key, `M${x - 5} ${back}L${x} ${y}L${x + 5} ${back}`, LOOK);
  };
  const middle = (id, { column, across }) => column(id % 4) + across / 2;

  // A line below each row, or one below both if all eight add up.
  function alongRows(all, view) {
    const { bus, right } = view;
    const [first, last] = [0, 3].map((id) => middle(id, view));
    const round = `M${first} ${bus(0)}H${right - 2}V${bus(1)}H${first}`;
    const lines = all
      ? line("bus", round, LOOK)
      : ROWS.map((row) => line(`bus${row}`, `M${first} ${bus(row)}H${last}`, LOOK));
    const ticks = range(8).map((id) => {
      const x = middle(id, view);
      const y = bus(id >> 2);
      return [line(`tick${id}`, `M${x} ${y}v-10`, LOOK), arrow(`end${id}`, x, y - 11, 1)];
    });
    return [lines, ticks];
  }

  function alongColumns(view) {
    const { bus, top } = view;
    return range(4).map((id) => {
      const x = middle(id, view);
      return [
        line(`bus${id}`, `M${x} ${bus(0) - 10}V${top(1) - 3}`, LOOK),
        arrow(`up${id}`, x, bus(0) - 11, 1),
        arrow(`down${id}`, x, top(1) - 2, -1),
      ];
    });
  }

  function exchange(view) {
    const { exchange: number, rows, slices, sent, left, bus } = view;
    if (!(sent?.[number] > 0)) return [];
    const gradients = number === GRADIENTS;
    const all = gradients ? slices === 1 : rows === 1;
    const look = { strong: true, size: 12 };
    const text = `+ ${bytes(sent[number])}`;
    if (gradients && !all) return [alongColumns(view), label("sum0", 0, bus(0) + 4, text, look)];
    const x = middle(0, view);
    return [
      alongRows(all, view),
      ROWS.map((row) => label(`sum${row}`, x, bus(row) + 13, text, look)),
    ];
  }

  return { exchange };
});
