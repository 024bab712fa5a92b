// A position as clocks, one for each pair of columns, and as a row of numbers.
nlp104.share("positions", ({ range, limit, area, line, matrix }) => {
  // What is shown, and where. The hands turn from `start` to `end`: from 0 to the position, or from
  // the position to the one k steps on.
  function clocksView(data, { step: position, d, base, view, k }, width) {
    const shift = view === "shift";
    const slim = width < 560;
    const far = limit(k | 0, 0, data.reach);
    const left = 30;
    const wide = width - left - (slim || shift ? 0 : 190);
    const w = wide / d;
    const radius = Math.min(w - 3, 46);
    const center = 24 + radius;
    return {
      data,
      width,
      slim,
      position,
      d,
      shift,
      k: far,
      start: shift ? position : 0,
      end: shift ? position + far : position,
      speeds: range(d / 2).map((i) => base ** (-i / (d / 2))),
      left,
      wide,
      w,
      radius,
      center,
      top: center + radius + 46,
      pitch: 26,
    };
  }

  // The sine is how far right a hand points, the cosine how far up.
  function clock(view, speed, i) {
    const { put, turned, TURN } = nlp104.positions;
    const { start, end, left, w, radius, center } = view;
    const x = left + (2 * i + 1) * w;
    const tip = (position, far) => {
      const angle = position * speed;
      return `${x + far * Math.sin(angle)} ${center - far * Math.cos(angle)}`;
    };
    const hand = (position) => `M${x} ${center}L${tip(position, 0.84 * radius)}`;
    const far = radius / 2;
    const angle = (end - start) * speed;
    const large = angle % TURN > TURN / 2 ? 1 : 0;
    const arc = `M${tip(start, far)}A${far} ${far} 0 ${large} 1 ${tip(end, far)}`;
    const face = { x: x - radius, y: center - radius, w: 2 * radius, h: 2 * radius };
    const marks = [
      put(`n${i}`, x, 8, `${w > 21 ? "hand " : ""}${i + 1}`, { muted: true }),
      area(`c${i}`, face, { concept: "p", strength: 0.08, edge: true, radius }),
      line(`arc${i}`, arc, { concept: "p", width: 5, opacity: 0.4 }),
      line(`from${i}`, hand(start), { concept: "ink" }),
      line(`to${i}`, hand(end), { concept: "p", width: 3.5 }),
    ];
    if (w > 28) marks.push(put(`t${i}`, x, center + radius + 12, turned(angle), { concept: "p" }));
    return marks;
  }

  const columnNames = ({ d }) =>
    range(d).map((j) => `${j % 2 ? "cosine" : "sine"} ${Math.floor(j / 2) + 1}`);
  function clocks(view) {
    const { put } = nlp104.positions;
    const { speeds, left, w, top } = view;
    const names = w > 30 ? columnNames(view) : [];
    return [
      speeds.map((speed, i) => clock(view, speed, i)),
      names.map((name, j) =>
        put(name, left + (j + 0.5) * w, top - 12, name.slice(0, 3), { muted: true }),
      ),
    ];
  }

  // The code of a position, in cells.
  function codeRow({ speeds, left, w, d }, key, position, y, look) {
    const { put, code } = nlp104.positions;
    const cells = matrix(d + key, [code(position, speeds)], {
      x: left,
      y,
      w,
      h: 24,
      concept: "p",
      digits: w < 44 ? 1 : 2,
      size: 12,
      numbers: w > 30,
      ...look,
    });
    const number = { anchor: "end", strong: true, ...look };
    return [cells, put(key, left - 8, y + 12, `${position}`, number)];
  }

  // How far the fastest and the slowest hand have turned.
  function turns({ speeds, start, end }) {
    const { turned } = nlp104.positions;
    return [0, speeds.length - 1]
      .map((i) => `hand ${i + 1} by [p|**${turned((end - start) * speeds[i])}**]`)
      .join(", ");
  }
  return { clocksView, clocks, columnNames, codeRow, turns };
});
