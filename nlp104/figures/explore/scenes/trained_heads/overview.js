// Above: the attentions of the model, and the heads of the chosen one, each with a switch.
nlp104.share("trained_heads", ({ range, area, label, token, line }) => {
  // What can be pressed lies on top: a mark of its own.
  const press = (act, place, [row, column], look) =>
    area(`press ${act}`, place, {
      concept: "ink",
      strength: 0,
      layer: 2,
      act,
      at: `${act.split(":")[0]}:${row}:${column}`,
      first: look.pressed,
      ...look,
    });

  // Of each layer the decoder's own attention lies below, the one to the encoder above it.
  function placeOf(view, at, { y, boxWidth, boxHeight, gap, between }) {
    const left = view.kindOf(at) === "encoder";
    const layer = view.layerOf(at);
    const upper = view.kindOf(at) === "cross" ? 1 : 0;
    const level = left ? layer : 2 * layer + upper;
    return {
      level,
      column: left ? 0 : 1,
      x: left ? 0 : boxWidth + between,
      y: y + (2 * view.layers - 1 - level) * (boxHeight + gap),
    };
  }

  function attention(view, at, model) {
    const { boxWidth, boxHeight, gap, between } = model;
    const { x, y, level, column } = placeOf(view, at, model);
    const kind = view.kindOf(at);
    const layer = view.layerOf(at) + 1;
    const short = kind.slice(0, kind === "cross" ? 5 : 3);
    const word = `${view.slim ? short : kind} ${layer}`;
    const chosen = at === view.at;
    const box = token(
      `at${at}`,
      { x, y, w: boxWidth, h: boxHeight },
      {
        word,
        size: 12,
        chosen,
        act: `at:${at}`,
        at: `at:${-level}:${column}`,
        pressed: chosen,
        first: chosen,
        says: `${word}: ${kind}, layer ${layer}`,
      },
    );
    const marks = [box];
    const look = { concept: "edge", layer: 0 };
    if (level) marks.push(line(`up${at}`, `M${x + boxWidth / 2} ${y + boxHeight}v${gap}`, look));
    if (kind === "cross") {
      const encoder = placeOf(view, view.layers - 1, model).y + boxHeight / 2;
      const path = `M${boxWidth} ${encoder}h${between / 2}V${y + boxHeight / 2}H${x}`;
      marks.push(line(`in${at}`, path, look));
    }
    return marks;
  }

  // The weights of a head, as strong as the cells of the large map; what is below 4 % cannot be
  // seen.
  function weights(view, head, { x, y, w, h }) {
    const [width, height] = [w / view.columns.length, h / view.rows.length];
    const faint = view.isOff(head) ? 0.4 : 1;
    return view.maps[head].flatMap((row, i) =>
      row.flatMap((weight, k) => {
        if (weight <= 3 || view.future(i, k)) return [];
        const place = {
          x: x + k * width,
          y: y + i * height,
          w: Math.max(1, width - 0.5),
          h: Math.max(1, height - 0.5),
        };
        const strength = faint * (0.07 + 0.93 * Math.min(1, weight / 90) ** 0.85);
        return [area(`s${head},${i},${k}`, place, { concept: "look", strength, radius: 0.5 })];
      }),
    );
  }

  function lever(head, off, x, y) {
    const track = { x, y: y + 3, w: 34, h: 18 };
    const knob = { x: x + (off ? 4 : 18), y: y + 6, w: 12, h: 12 };
    const concept = off ? "edge" : "ink";
    return [
      area(`track${head}`, track, { outline: true, concept, radius: 9 }),
      area(`knob${head}`, knob, { concept, layer: 1 }),
    ];
  }

  function small(view, head, { x: left, y, w, h, gap, switches }) {
    const x = left + head * (w + gap);
    const off = view.isOff(head);
    const chosen = head === view.head;
    const title = view.slim ? `${head + 1}` : `head ${head + 1}`;
    const name = { size: view.size, anchor: "middle", strong: chosen, muted: !chosen };
    const frame = { x: x - 2, y: y - 2, w: w + 4, h: h + 4 };
    const reach = { x: x - 2, y: y - 20, w: w + 4, h: h + 22 };
    const foot = { x: x - gap / 2, y: switches - 2, w: w + gap, h: 29 };
    return [
      label(`h${head}`, x + w / 2, 8, title, name),
      weights(view, head, { x, y, w, h }),
      off ? area(`dark${head}`, { x, y, w, h }, { hatch: true, layer: 1 }) : [],
      area(`frame${head}`, frame, { outline: true, concept: chosen ? "ink" : "line", layer: 1 }),
      lever(head, off, x + w / 2 - 17, switches),
      press(`head:${head}`, reach, [0, head], { pressed: chosen, says: `head ${head + 1}` }),
      press(`off:${head}`, foot, [0, head], {
        pressed: !off,
        first: !head,
        says: `head ${head + 1} is ${off ? "off" : "on"}`,
      }),
    ];
  }

  function overview(view, { model, heads }) {
    return [
      range(3 * view.layers).map((at) => attention(view, at, model)),
      range(view.heads).map((head) => small(view, head, heads)),
    ];
  }
  return { press, overview };
});
