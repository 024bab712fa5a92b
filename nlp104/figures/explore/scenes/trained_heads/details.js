// Below: the chosen head large, the row that is followed in numbers, and the next word.
nlp104.share("trained_heads", ({ range, area, label, token, cell }) => {
  function mapNames(view, { names, x, y, w }) {
    const columns = view.columns.map((word, k) => {
      const best = view.best.includes(k);
      const look = { size: 12, slant: -60, strong: best, muted: !best };
      return label(`c${k}`, x + (k + 0.5) * w + 1, y - 6, word, look);
    });
    return [
      label("key", names, y - 26, "[k|key] →", { size: 12, anchor: "end" }),
      label("query", names, y - 9, "[q|query] ↓", { size: 12, anchor: "end" }),
      columns,
    ];
  }

  function mapRow(view, i, { names, x, y: top, w, h }) {
    const { press, percent } = nlp104.trained_heads;
    const word = view.rows[i];
    const followed = i === view.row;
    const y = top + i * h;
    const written = followed && w >= 24; // narrower, 100 would lie on its neighbours
    const name = { size: 12, anchor: "end", strong: followed };
    const cells = view.map[i].map((weight, k) => {
      const hidden = view.future(i, k);
      const place = { x: x + k * w, y, w, h, value: Math.max(weight, 0.01) };
      return cell(`w${i},${k}`, place, {
        concept: "a",
        max: 90,
        size: 12,
        opacity: view.silent && !followed ? 0.45 : 1,
        hidden,
        text: written && weight && !hidden ? `${weight}` : "",
        act: `row:${i}`,
        at: `row:${i}:${k}`,
        pressed: followed,
        says: `${word} looks at ${view.columns[k]}: ${hidden ? "hidden" : percent(weight)}`,
      });
    });
    return [
      label(`r${i}`, names - 2, y + h / 2, word, name),
      press(`row:${i}`, { x: 0, y, w: names, h }, [i, -1], {
        pressed: followed,
        says: `follow ${word}`,
      }),
      cells,
    ];
  }

  // A head that is off is hatched, but for the row that is followed.
  function hatches({ silent, rows, row }, { x, y, h, across }) {
    const others = silent ? range(rows.length).filter((i) => i !== row) : [];
    const look = { hatch: true, radius: 0, layer: 0 };
    return others.map((i) => area(`silent${i}`, { x, y: y + i * h, w: across, h }, look));
  }

  function map(view, at) {
    const row = { x: at.x - 2, y: at.y + view.row * at.h - 1, w: at.across + 4, h: at.h + 2 };
    return [
      mapNames(view, at),
      view.rows.map((_, i) => mapRow(view, i, at)),
      hatches(view, at),
      area("row", row, { outline: true, concept: "ink", layer: 2 }),
    ];
  }

  // A word, its share as a bar, and written; a tick where it was before.
  function bar(key, { x, y, w, pill, size }, word, share, look) {
    const from = x + pill + 6;
    const room = w - pill - 6 - look.room;
    const looked = look.concept === "a";
    const text = look.text ?? nlp104.trained_heads.percent(share);
    const marks = [
      token(`p${key}`, { x, y, w: pill, h: 22 }, { word, size: 12, bare: look.bare }),
      label(`t${key}`, x + w, y + 11, text, {
        size,
        anchor: "end",
        strong: look.strong,
        concept: looked ? "a" : undefined,
      }),
    ];
    if (room < 24) return marks;
    const track = { x: from, y: y + 5, w: room, h: 12 };
    const full = { ...track, w: Math.max(1, (room * share) / 100) };
    marks.push(
      area(`g${key}`, track, { strength: 0.12, radius: 2 }),
      area(`b${key}`, full, {
        concept: looked ? "look" : look.concept,
        strength: looked ? 1 : 0.9,
        radius: 2,
        layer: 1,
      }),
    );
    if (look.before !== undefined) {
      const tick = { x: from + (room * look.before) / 100 - 1, y: y + 1, w: 2.5, h: 20 };
      marks.push(area(`k${key}`, tick, { concept: "ink", radius: 1, layer: 2 }));
    }
    return marks;
  }

  function looks(view, { x, y, w }, { pill, most }) {
    const { size, rows, row, columns, best } = view;
    const weights = view.map[row];
    const title = view.writes ? `writing **${rows[row]}**,` : `**${rows[row]}**`;
    const strongest = range(weights.length)
      .sort((a, b) => weights[b] - weights[a])
      .slice(0, most);
    const bars = strongest.map((k, n) =>
      bar(`l${n}`, { x, y: y + 14 + 26 * n, w, pill, size }, columns[k], weights[k], {
        concept: "a",
        strong: best.includes(k),
        room: 52,
      }),
    );
    return [label("looks", x, y, `${title} looks at`, { size, muted: true }), bars];
  }

  function next(view, { x, y, w }, { pill }) {
    const { percent } = nlp104.trained_heads;
    const { size, slim, off, before, after } = view;
    const { step, written, words } = view.sentence;
    const title = step ? `next word after **${written[step - 1]}**` : "first word";
    const bars = [...words, "other"].map((word, n) => {
      const change = `${percent(before[n]).slice(0, -2)} → ${percent(after[n])}`;
      return bar(`n${n}`, { x, y: y + 14 + 26 * n, w, pill, size }, word, after[n], {
        concept: "r",
        strong: n < 2 && after[n] > after[1 - n],
        bare: n > 1,
        room: slim ? 74 : 88,
        before: off ? before[n] : undefined,
        text: off ? change : undefined,
      });
    });
    return [label("next", x, y, title, { size, muted: true }), bars];
  }

  function details(view, { map: place, lists }) {
    return [map(view, place), looks(view, lists.looks, lists), next(view, lists.next, lists)];
  }
  return { details };
});
