// The machine: two stacks with all wires, the bridge between them, and what lights up.
nlp104.share("wires", ({ range, box, area, label, wire, line, step }) => {
  // `view` says whether a kind of wire is chosen or lit, and whether a single one is gone.
  function title(view, { key, kind, x, y, lines, concept }) {
    const first = y - 7 * (lines.length - 1);
    return lines.map((text, i) =>
      label(`${key},${i}`, x, first + 14 * i, text, {
        size: 12,
        anchor: "middle",
        muted: !view.lit(kind),
        strong: view.chosen(kind),
        concept: view.lit(kind) ? concept : undefined,
      }),
    );
  }

  function node(view, key, kind, place, concept) {
    const lit = view.lit(kind);
    const frame = step(key, place, { source: "", radius: 7, layer: 0, lit, concept });
    if (!lit) return [frame];
    const strength = view.chosen(kind) ? 0.2 : 0.09;
    return [frame, area(`tint ${key}`, place, { concept, strength, radius: 7 })];
  }

  function thread(view, { kind, id, concept, path, ...look }) {
    if (view.gone(kind, id)) return [];
    const lit = view.lit(kind);
    const thin = lit ? 1.75 : 1.25;
    return [
      line(`${kind}:${id}`, path, {
        concept: lit ? concept : "line",
        width: view.chosen(kind) ? 3 : thin,
        lit,
        ...look,
      }),
    ];
  }

  // A box with a name. What is no wire, as the embedding, has no kind.
  function block(view, tower, { text, place, kind = "", id = "", concept = "r" }) {
    if (view.gone(kind, id)) return [];
    const y = place.y + place.h / 2;
    const key = `${tower.name}${text}${id}`;
    const marks = [
      node(view, `${kind || text}:${id || tower.name}`, kind, place, concept),
      title(view, { key, kind, x: tower.x, y, lines: [text], concept }),
    ];
    if (kind === "pos") {
      const wave = `M${tower.x - place.w / 2 + 7} ${y}q3 -8 6 0t6 0`;
      const look = { concept: view.lit(kind) ? "p" : "edge" };
      marks.push(line(`wave ${tower.name}`, wave, look));
    }
    return marks;
  }

  // Around a sub-layer, and into the sum behind it.
  function skip(view, { x, side, away }, { id, branch, sum }) {
    const { radius } = view;
    const around = wire([
      [x, branch],
      [side, branch],
      [side, sum],
      [x + away * radius, sum],
    ]);
    const half = `a${radius} ${radius} 0 1 0`;
    const circle = `M${x - radius} ${sum}${half} ${2 * radius} 0${half} ${-2 * radius} 0`;
    const plus = `m${radius - 3} 0h6m-3 -3v6`;
    return thread(view, { kind: "skip", id, concept: "r", path: around + circle + plus });
  }

  // Which words see which: a triangle is hidden by the causal mask, a column by the padding mask.
  function sight(view, { id, mask, place }) {
    const side = place.h - 10;
    const cell = side / 4;
    const [x, y] = [place.x + 5, place.y + 5];
    const faint = view.lit("heads") ? 0.5 : 0.2;
    const rows = range(4).map((row) => {
      const masked = mask === "causal" ? row + 1 : 3;
      const free = view.gone(mask, id) ? 4 : masked;
      const seen = area(`see:${id}${row}`, box(x, y + row * cell, free * cell, cell), {
        concept: view.lit("heads") || view.lit(mask) ? "a" : "r",
        strength: view.chosen(mask) ? 0.8 : faint,
        radius: 0,
        layer: 1,
      });
      if (free === 4) return [seen];
      const rest = box(x + free * cell, y + row * cell, side - free * cell, cell);
      const look = { hatch: true, radius: 0, layer: 1, lit: view.lit(mask) };
      return [seen, area(`${mask}:${id}:${row}`, rest, look)];
    });
    const frame = line(`grid:${id}`, `M${x} ${y}h${side}v${side}h${-side}z`, {
      concept: view.chosen(mask) ? "a" : "edge",
      width: view.chosen(mask) ? 3 : 1,
    });
    return [rows, frame];
  }

  // The box of an attention; behind it its other heads, as sheets of a stack.
  function attention(view, tower, layer) {
    const { kind, id, lines, place } = layer;
    const shown = view.chosen("bridge") ? kind : "heads";
    const corner = `h${place.w - 8}q4 0 4 4v${place.h - 8}`;
    const sheets = [1, 2, 3].map((i) => `M${place.x + 3 * i + 4} ${place.y - 2.5 * i}${corner}`);
    const width = view.chosen("heads") ? 2 : 1.25;
    const path = sheets.join("");
    const x = tower.x + (place.h - 10) / 2 + 2; // beside the picture of its mask
    const y = place.y + place.h / 2;
    return [
      thread(view, { kind: "heads", id, concept: "a", path, layer: 0, width }),
      node(view, `box:${id}`, shown, place, "a"),
      title(view, { key: id, kind: shown, x, y, lines, concept: "a" }),
      sight(view, layer),
    ];
  }

  // A sub-layer that adds nothing any more is left out; only its skip connection stays.
  const cut = (view, { kind, id }) => kind !== "heads" && view.gone(kind, id);
  function sublayer(view, tower, layer) {
    const { kind, id, mask, says, place, norm } = layer;
    let inside = [];
    if (!mask) inside = block(view, tower, { text: says, place, kind, id });
    else if (!cut(view, layer)) inside = attention(view, tower, layer);
    const normalise = { text: "normalise", place: norm, kind: "norm", id };
    return [skip(view, tower, layer), inside, block(view, tower, normalise)];
  }

  // Behind the boxes: the wire through all of them, and a frame around the layer that is open.
  function behind(view, { name, away, x, side, start, foot, top, layers, last }) {
    const gaps = layers.filter((layer) => cut(view, layer));
    const pieces = gaps.map(({ branch, sum }) => `V${branch}M${x} ${sum}`).join("");
    const end = name === "d" ? last.y - 6 : last.y;
    const trunk = `M${x} ${start}${pieces}V${end}`;
    const near = x - away * (view.boxWidth / 2 + 12);
    const far = side + away * 6;
    const corners = [
      [x, foot],
      [near, foot],
      [near, top],
      [far, top],
      [far, foot],
      [x, foot],
    ];
    return [
      line(`${name}trunk`, trunk, { layer: 0, concept: "edge" }),
      line(`${name}frame`, wire(corners, 9), { layer: 0, concept: "line" }),
    ];
  }

  function stack(view, tower) {
    const { name, x, embedding, position, below, layers, last } = tower;
    const decoder = name === "d";
    const look = { size: 12, anchor: "middle", muted: true };
    const source = decoder ? "French so far" : "English";
    const positions = { text: "+ position", place: position, kind: "pos", id: name, concept: "p" };
    const top = decoder ? "linear, softmax" : "**memory**";
    return [
      label(`${name}in`, x, view.height - 8, source, look),
      embedding ? block(view, tower, { text: "embedding", place: embedding }) : [],
      block(view, tower, positions),
      below ? block(view, tower, { text: view.data.below, place: below }) : [],
      layers.map((layer) => sublayer(view, tower, layer)),
      block(view, tower, { text: top, place: last }),
      decoder ? [label("next", x, last.y - 14, "next word", look)] : [],
    ];
  }

  // Keys and values, from the memory to the cross-attention.
  function bridges(view, { x, y, bend, toX, toY }) {
    const one = (id, shift) => {
      const path = wire([
        [x, y + shift],
        [bend - shift, y + shift],
        [bend - shift, toY + shift],
        [toX, toY + shift],
      ]);
      const way = thread(view, { kind: "bridge", id, concept: id, path, layer: 0 });
      if (view.gone("bridge", id)) return way;
      const letter = label(`letter ${id}`, toX - 8, toY + 4.5 * shift, id.toUpperCase(), {
        size: 12,
        anchor: "middle",
        concept: view.lit("bridge") ? id : undefined,
        muted: true,
      });
      return [way, letter];
    };
    return [one("k", -3), one("v", 3)];
  }

  // On top of it all: what can be pressed.
  function presses(view, { name, targets }) {
    const first = Math.max(
      0,
      targets.findIndex(({ kind }) => view.chosen(kind)),
    );
    return targets.map(({ kind, place, says, hit }, row) => {
      const number = view.data.kinds.findIndex(({ key }) => key === kind) + 1;
      const pulled = view.chosen(kind) && view.pulled;
      return area(`press ${name}${row}`, place, {
        strength: 0,
        layer: 1,
        hit,
        ...view.button(number, `${name}:${20 - row}:0`, row === first),
        says: `${says}${pulled ? ": pulled out" : ""}`,
      });
    });
  }

  function machine(view, { encoder, decoder, bridge }) {
    return [
      behind(view, decoder),
      behind(view, encoder),
      stack(view, encoder),
      stack(view, decoder),
      bridges(view, bridge),
      presses(view, encoder),
      presses(view, decoder),
    ];
  }
  return { machine };
});
