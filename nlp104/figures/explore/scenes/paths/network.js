// The words, and below them a row for every step: who sees whom, and how far the news has come.
nlp104.share("paths", ({ range, area, label, token, line }) => {
  const put = (view, key, x, y, source, look) =>
    label(key, x, y, source, { size: view.size, ...look });

  // In narrow columns the words take two lines by turns.
  function placeNetwork({ width, slim, side, n, last }) {
    const left = slim ? 52 : 54;
    const pitch = (width - left - (slim ? 0 : side + 20)) / n;
    const two = pitch < 50;
    const top = two ? 70 : 46;
    const high = (slim ? 284 : 346) - top;
    return {
      left,
      pitch,
      two,
      top,
      bottom: top + high,
      x: (word) => left + (word + 0.5) * pitch,
      y: (step) => top + (step * high) / last,
      w: Math.min(30, pitch - 8),
      h: Math.min(14, high / last - 7),
    };
  }

  function word({ width, words, n, to }, j, { pitch, two, x }) {
    const w = two ? 2 * pitch - 4 : pitch - 4;
    const place = {
      x: Math.max(0, Math.min(width - w, x(j) - w / 2)),
      y: two && j % 2 ? 28 : 2,
      w,
      h: 26,
    };
    const target = j === to;
    const press = {
      act: `to:${j}`,
      at: `w:0:${j}`,
      first: target,
      pressed: target,
      says: `From ${words[0]} to ${words[j]}`,
    };
    return token(`w${n},${j}`, place, {
      word: words[j],
      size: 12,
      chosen: !j || target,
      bare: two && j && !target,
      ...(j ? press : {}),
    });
  }

  // Wires of one row are one line.
  function wires({ n, far }, step, { x, y }, goes) {
    const [from, to] = [y(step - 1).toFixed(1), y(step).toFixed(1)];
    const wire = (i, j) => `M${x(i).toFixed(1)} ${from}L${x(j).toFixed(1)} ${to}`;
    return range(n)
      .flatMap((j) =>
        range(n)
          .filter((i) => Math.abs(i - j) <= far && goes(i, j))
          .map((i) => wire(i, j)),
      )
      .join("");
  }

  // In recurrence a step sees one word and the state before it, else every word its neighbours.
  function seen(view, step, at) {
    const { kind, recurrent, attends, heard } = view;
    const { x, y, top } = at;
    const look = { concept: attends ? "a" : "edge", layer: 0, width: recurrent ? 2 : 1.25 };
    if (recurrent) {
      const path = `M${x(step - 1)} ${y(step - 1)}L${x(step)} ${y(step)}`;
      return [
        line(`in${step}`, `M${x(step)} ${top}V${y(step)}`, { layer: 0 }),
        line(`lit${kind},${step}`, path, look),
      ];
    }
    const all = wires(view, step, at, () => true);
    const brings = (i, j) => i <= heard(kind, step - 1) && j <= heard(kind, step) && j >= i;
    return [
      line(`all${kind},${step}`, all, { layer: 0, width: 0.75 }),
      line(`lit${kind},${step}`, wires(view, step, at, brings), look),
    ];
  }

  function row(view, step, at) {
    const { slim, n, kind, last, now, unit } = view;
    const text = n < 16 || last < 9 ? `${unit(kind)} ${step}` : `${step}`;
    const look = { size: 12, anchor: "end", muted: true };
    return [
      put(view, `l${kind},${step}`, at.left - (slim ? 7 : 10), at.y(step), text, look),
      step <= now ? seen(view, step, at) : [],
    ];
  }

  // The steps that are taken, and the next one: how many it takes is asked. Recurrence has a step
  // for each word, so all that wait are seen.
  const shown = ({ last, now, recurrent }) => (recurrent ? last : Math.min(last, now + 1));

  // A state: dark once the news is there, pale where it is computed without, else an outline.
  function state(view, step, j, { x, y, w, h }) {
    const { kind, now, heard, colour } = view;
    const done = step <= now;
    const informed = done && j <= heard(kind, step);
    const look = { edge: !done, radius: h / 2, layer: 1 };
    if (informed) Object.assign(look, { concept: step ? colour : "ink", strength: 1 });
    else if (done) Object.assign(look, { concept: "r", strength: 0.22 });
    else Object.assign(look, { concept: "edge", strength: 0 });
    return area(`n${kind},${step},${j}`, { x: x(j) - w / 2, y: y(step) - h / 2, w, h }, look);
  }
  function states(view, at) {
    const { n, recurrent } = view;
    const exists = (step, j) => !recurrent || !step || j === step;
    return range(shown(view) + 1).map((step) =>
      range(n)
        .filter((j) => exists(step, j))
        .map((j) => state(view, step, j, at)),
    );
  }

  // The way of the news to the word that is asked for.
  function news({ kind, to, far, now, need, there, colour }, { x, y, w, h }) {
    const way = range(Math.min(now, need) + 1).map((step) => [
      x(Math.min(to, step * far)),
      y(step),
    ]);
    const [endX, endY] = way.at(-1);
    const ring = area(
      "news",
      { x: endX - w / 2 - 4, y: endY - h / 2 - 4, w: w + 8, h: h + 8 },
      { outline: true, concept: colour, radius: h / 2 + 4, layer: 2 },
    );
    if (!there) return [ring];
    const look = { concept: colour, width: 4, layer: 1 };
    return [line(`way${kind}`, `M${way.join("L")}`, look), ring];
  }

  function network(view, at) {
    const { x, pitch, top, bottom, h } = at;
    const y = top - h / 2 - 6; // below the words
    const column = { x: x(view.to) - pitch / 2 + 1, y, w: pitch - 2, h: bottom + 14 - y };
    return [
      area("column", column, { strength: 0.09 }),
      view.words.map((_, j) => word(view, j, at)),
      range(shown(view), 1).map((step) => row(view, step, at)),
      states(view, at),
      news(view, at),
    ];
  }
  return { put, placeNetwork, network };
});
