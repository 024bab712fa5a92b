// The tree: a row for each model, by year, in three lanes; lines lead to its parents.
nlp104.share("family_tree", ({ area, label, token, line, wire }) => {
  // Years stand beside their rows, above them where there is little room.
  function placeTree({ width, slim, models, years }, start) {
    const wide = slim ? width : Math.min(470, 0.6 * width);
    const margin = (slim ? 0 : 44) + 10;
    const gutter = slim ? 14 : 20;
    const h = slim ? 28 : 30;
    const pitch = slim ? 34 : 40;
    const gap = slim ? 20 : 12; // between years
    const w = (wide - margin - 10 - 2 * gutter) / 3;
    const before = ({ year }) => years.indexOf(year) + (slim ? 1 : 0);
    const y = (model) => start + 40 + model.row * pitch + before(model) * gap;
    return {
      start,
      wide,
      gutter,
      w,
      h,
      pitch,
      gap,
      x: (lane) => margin + lane * (w + gutter),
      y,
      foot: Math.max(...models.map(y)) + h,
    };
  }

  function year({ models, years, slim }, when, { y, h, pitch, gap, wide }) {
    const rows = models.filter((model) => model.year === when).map(y);
    const first = Math.min(...rows);
    const look = { size: 12, muted: true };
    const name = slim
      ? label(`year${when}`, 14, first - 11, `${when}`, look)
      : label(`year${when}`, 0, first + h / 2, `${when}`, look);
    if (when === years[0]) return [name];
    const path = slim ? `M46 ${first - 11}H${wide}` : `M0 ${first - (pitch - h + gap) / 2}H${wide}`;
    return [name, line(`rule${when}`, path, { layer: 0, width: 1 })];
  }

  // From parent to child: straight down, or around others, beside the lane or between two.
  function descent(model, parent, { x, y, w, h, gutter }) {
    const from = y(parent) + h / 2;
    const to = y(model) + h / 2;
    const way = model.lane === 2 ? 1 : -1;
    const edge = (lane, side) => x(lane) + (side > 0 ? w : 0);
    const same = model.lane === parent.lane;
    if (same && model.row === parent.row + 1) {
      const middle = x(model.lane) + w / 2;
      return [
        [middle, from + h / 2],
        [middle, to - h / 2],
      ];
    }
    if (same && model.lane !== 1) {
      const side = edge(model.lane, way);
      return [
        [side, from],
        [side + way * 7, from],
        [side + way * 7, to],
        [side, to],
      ];
    }
    const bend = edge(1, way) + (way * gutter) / 2;
    return [
      [edge(1, way), from],
      [bend, from],
      [bend, to],
      [edge(model.lane, same ? way : -way), to],
    ];
  }

  // The chosen one, its parent, and so on.
  function kinOf(model, models) {
    if (model.parent === null) return [model];
    return [model, ...kinOf(models[model.parent], models)];
  }

  function ways({ models, chosen }, at) {
    const kin = kinOf(chosen, models);
    const children = models.filter(({ parent }) => parent !== null);
    return children.map((model) => {
      const lit = kin.includes(model);
      return line(`way${model.name}`, wire(descent(model, models[model.parent], at)), {
        concept: lit ? "ink" : "edge",
        width: lit ? 2.5 : 1.25,
        layer: lit ? 1 : 0,
      });
    });
  }

  function pill({ part, chosen }, model, i, { x, y, w, h }) {
    const { name, lane, row } = model;
    const place = { x: x(lane), y: y(model), w, h };
    const now = model === chosen;
    const kept = !part || model.keeps.includes(part.key);
    const [encoder, decoder] = model.machine;
    const has = part ? `: ${kept ? "has" : "does not have"} ${part.tab}` : "";
    const marks = [
      token(`m${i}`, place, {
        word: w < 86 && name.length > 12 ? name.replace("former", "f.") : name,
        size: w < 100 || name.length > 12 ? 12 : 13,
        chosen: now,
        muted: !kept,
        dashed: !encoder[1][1] && !decoder[0][1], // attention in a network of another kind
        act: `model:${i}`,
        at: `m:${row}:${lane}`,
        first: now,
        pressed: now,
        says: `${name}, ${model.year}${has}`,
      }),
    ];
    if (!part || !kept) return marks;
    const frame = { x: place.x - 2, y: place.y - 2, w: w + 4, h: h + 4 };
    const look = { concept: part.concept, outline: true, radius: 12, layer: 2 };
    return [...marks, area(`kept${i}`, frame, look)];
  }

  function tree(view, at) {
    const { lanes, years, models, slim } = view;
    const look = { anchor: "middle", size: slim ? 12 : 13, muted: true };
    const small = { ...look, size: 12 };
    const middle = (lane) => at.x(lane) + at.w / 2;
    return [
      lanes.map((name, lane) => label(`lane${lane}`, middle(lane), at.start + 10, name, look)),
      label("another", middle(1), at.start + 26, "dashed: another kind", small),
      years.map((when) => year(view, when, at)),
      ways(view, at),
      models.map((model, i) => pill(view, model, i, at)),
    ];
  }
  return { placeTree, tree };
});
