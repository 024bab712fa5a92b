// The relatives of the Transformer by year: who keeps which part, and the machine of each.
nlp104.scene("family_tree", ({ models, parts, lanes }, { range, area, label, token, step, line, wire }) => {
  const START = models.findIndex(({ name }) => name === "Transformer"), years = [...new Set(models.map(({ year }) => year))];
  const ASKED = { s: "self-attention", m: "masked attention", c: "cross-attention" };
  const fold = (text, room) => text.split(" ").reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`.trim();
    return longer.length > room ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, [""]);

  function draw(state, W) {
    const slim = W < 680, part = parts[state.step - 1], chosen = models[state.model] ?? models[START], M = [];
    const put = (key, x, y, text, look) => M.push(label(key, x, y, text, { size: 13, ...look }));
    const keeps = (model) => !part || model.keeps.includes(part.key);

    // ---------- the tree ----------
    const T = slim ? W : Math.min(470, 0.6 * W), year = slim ? 0 : 44, side = 10, gutter = slim ? 14 : 20, high = slim ? 28 : 30, row = slim ? 34 : 40, gap = slim ? 20 : 12, top = 32;
    const pw = (T - year - 2 * side - 2 * gutter) / 3, x = (lane) => year + side + lane * (pw + gutter);
    const y = ({ row: r, year: when }) => top + r * row + (years.indexOf(when) + (slim ? 1 : 0)) * gap;
    lanes.forEach((name, lane) => put(`lane${lane}`, x(lane) + pw / 2, 10, name, { anchor: "middle", size: slim ? 12 : 13, muted: true }));
    years.forEach((when) => {
      const rows = models.filter((model) => model.year === when).map(y), first = Math.min(...rows);
      put(`year${when}`, slim ? 14 : 0, slim ? first - 11 : first + high / 2, `${when}`, { size: 12, muted: true });
      if (when > years[0]) M.push(line(`rule${when}`, slim ? `M46 ${first - 11}H${T}` : `M0 ${first - (row - high + gap) / 2}H${T}`, { layer: 0, width: 1 }));
    });
    const kin = [chosen]; // the chosen one, its parent, and so on
    while (kin.at(-1).parent !== null) kin.push(models[kin.at(-1).parent]);
    for (const model of models) {
      if (model.parent === null) continue;
      const from = models[model.parent], lit = kin.includes(model), a = y(from) + high / 2, b = y(model) + high / 2, right = model.lane === 2;
      const edge = (lane, way) => x(lane) + (way > 0 ? pw : 0), same = model.lane === from.lane;
      let path;
      if (same && model.row === from.row + 1) path = [[x(model.lane) + pw / 2, a + high / 2], [x(model.lane) + pw / 2, b - high / 2]];
      else if (same && model.lane !== 1) {
        const way = right ? 1 : -1, ends = edge(model.lane, way);
        path = [[ends, a], [ends + way * 7, a], [ends + way * 7, b], [ends, b]];
      } else {
        const way = right ? 1 : -1, bend = edge(1, way) + (way * gutter) / 2;
        path = [[edge(1, way), a], [bend, a], [bend, b], [edge(model.lane, same ? way : -way), b]];
      }
      M.push(line(`way${model.name}`, wire(path), { concept: lit ? "ink" : "edge", width: lit ? 2.5 : 1.25, layer: lit ? 1 : 0 }));
    }
    models.forEach((model, i) => {
      const place = { x: x(model.lane), y: y(model), w: pw, h: high }, now = model === chosen, kept = keeps(model);
      M.push(token(`m${i}`, place, {
        word: pw < 86 && model.name.length > 12 ? model.name.replace("former", "f.") : model.name, size: pw < 100 ? 12 : 13, chosen: now, muted: !kept, dashed: !model.machine[0][1][1] && !model.machine[1][0][1],
        act: `model:${i}`, at: `m:${model.row}:${model.lane}`, first: now, pressed: now, says: `${model.name}, ${model.year}${part ? `: ${kept ? "has" : "does not have"} ${part.tab}` : ""}`,
      }));
      if (part && kept) M.push(area(`kept${i}`, { x: place.x - 2, y: place.y - 2, w: pw + 4, h: high + 4 }, { concept: part.concept, outline: true, radius: 12, layer: 2 }));
    });
    const foot = Math.max(...models.map(y)) + high;

    // ---------- the machine of the chosen one ----------
    const P = slim ? 0 : T + 22, wide = Math.min(W - P, 460), Y = slim ? foot + 26 : 0, bw = Math.min(140, (wide - 12) / 2), bh = 26, middle = P + wide / 2;
    put("name", P, Y + 10, chosen.name, { size: 18, strong: true });
    put("born", P + wide, Y + 11, `${chosen.year}`, { anchor: "end", muted: true });
    put("task", P, Y + 34, `Task: ${chosen.task}`);
    put("places", P, Y + 54, `Places: ${chosen.places}`, { concept: chosen.keeps.includes("w") ? "p" : undefined });
    if (chosen.size) put("size", P, Y + 74, `Parameters: ${chosen.size}`);
    const base = Y + 106 + 3 * (bh + 12), at = chosen.machine.map((_, s) => middle + (s ? 1 : -1) * (bw / 2 + 6) - bw / 2);
    chosen.machine.forEach((stack, s) => {
      stack.forEach(([text, lit], i) => {
        const place = { x: at[s], y: base - (i + 1) * (bh + 12), w: bw, h: bh }, concept = text === "feed-forward" ? "r" : "a";
        if (i) M.push(line(`up${s},${i}`, `M${at[s] + bw / 2} ${place.y + bh}v12`, { concept: "edge", layer: 0 }));
        if (lit) M.push(area(`tint${s},${i}`, place, { concept, strength: 0.14, radius: 7, layer: 1 }));
        if (lit && text === ASKED[part?.key]) M.push(area(`asked${s}`, place, { concept, outline: true, radius: 7, layer: 2 }));
        M.push(step(`box${s},${i}`, place, { source: text, size: bw < 136 ? 12 : 13, radius: 7, lit, concept, layer: lit ? 0 : 2 }));
      });
      const known = stack.some(([, lit]) => lit);
      put(`stack${s}`, at[s] + bw / 2, base + 8, known ? (s ? "decoder" : "encoder") : s ? "no decoder" : "no encoder", { anchor: "middle", muted: true, size: 12 });
    });
    const [read, write] = chosen.machine, cross = write[1][1], height = (i) => base - (i + 1) * (bh + 12) + bh / 2;
    for (const [concept, shift] of [["k", -3], ["v", 3]])
      if (cross) M.push(line(`bridge ${concept}`, `M${at[0] + bw} ${height(1) + shift}H${at[1]}`, { concept, width: 2 }));
    if (!read[1][1] && read[0][1]) put("host", middle, base + 30, "The rest are convolutions.", { anchor: "middle", size: 12, muted: true });
    else if (!read[0][1] && !write[0][1]) put("host", middle, base + 30, "Attention of another kind.", { anchor: "middle", size: 12, muted: true });
    const lines = (note) => fold(note, wide / 6.9), most = Math.max(...models.map(({ note }) => lines(note).length));
    lines(chosen.note).forEach((text, i) => put(`note${i}`, P, base + 52 + 19 * i, text));
    const caption = part?.says ?? "In 2017 the Transformer translates. Three years on its parts write, fill in blanks, name images and find objects. Who keeps which part? (Dashed: attention in networks of another kind.)";
    return {
      marks: M, height: Math.max(foot, base + 52 + 19 * most) + 6, caption,
      table: { caption: "Who keeps which part", rows: models.map(({ name }) => name), columns: parts.map(({ tab }) => tab), values: models.map((model) => parts.map(({ key }) => Number(model.keeps.includes(key)))) },
    };
  }

  return {
    lead: "Step from part to part and see who keeps it. Tap a name to see its machine and its parents.",
    start: { model: START },
    keep: ["model"],
    chapters: ["all", ...parts.map(({ tab }) => tab)],
    draw,
    pause: () => 4200,
    press: (state, [, i]) => (state.model = Number(i)),
  };
});
