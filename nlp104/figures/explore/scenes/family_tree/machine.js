// The machine of the chosen model: two stacks, whose parts it has or lacks, and what is said of it.
nlp104.share("family_tree", ({ area, label, step, line }) => {
  const ASKED = { s: "self-attention", m: "masked attention", c: "cross-attention" };
  const HIGH = 26; // a box; its neighbours are 12 away
  const PITCH = HIGH + 12;

  function fold(text, room) {
    return text.split(" ").reduce(
      (lines, word) => {
        const longer = `${lines.at(-1)} ${word}`.trim();
        return longer.length > room ? [...lines, word] : [...lines.slice(0, -1), longer];
      },
      [""],
    );
  }

  // Beside the tree, above it where there is little room: so the tree is next to the buttons.
  function placeMachine({ width, slim, models }, tree) {
    const x = slim ? 0 : tree.wide + 22;
    const y = 0;
    const wide = Math.min(width - x, 460);
    const w = Math.min(140, (wide - 12) / 2);
    const middle = x + wide / 2;
    const base = y + 106 + 3 * PITCH;
    const lines = (note) => fold(note, wide / 6.9);
    const most = Math.max(...models.map(({ note }) => lines(note).length));
    return {
      x,
      y,
      wide,
      w,
      middle,
      base,
      stacks: [-1, 1].map((side) => middle + side * (w / 2 + 6) - w / 2),
      boxY: (i) => base - (i + 1) * PITCH,
      lines,
      bottom: base + 52 + 19 * most,
    };
  }

  function titles({ chosen }, { x, y, wide }) {
    const concept = chosen.keeps.includes("w") ? "p" : undefined;
    return [
      label("name", x, y + 10, chosen.name, { size: 18, strong: true }),
      label("born", x + wide, y + 11, `${chosen.year}`, { anchor: "end", muted: true }),
      label("task", x, y + 34, `Task: ${chosen.task}`),
      label("places", x, y + 54, `Places: ${chosen.places}`, { concept }),
      chosen.size ? [label("size", x, y + 74, `Parameters: ${chosen.size}`)] : [],
    ];
  }

  function box({ part }, s, i, [text, lit], { w, stacks, boxY }) {
    const x = stacks[s];
    const place = { x, y: boxY(i), w, h: HIGH };
    const concept = text === "feed-forward" ? "r" : "a";
    const marks = [];
    if (i) {
      const path = `M${x + w / 2} ${place.y + HIGH}v12`;
      marks.push(line(`up${s},${i}`, path, { concept: "edge", layer: 0 }));
    }
    if (lit)
      marks.push(area(`tint${s},${i}`, place, { concept, strength: 0.14, radius: 7, layer: 1 }));
    if (lit && text === ASKED[part?.key])
      marks.push(area(`asked${s}`, place, { concept, outline: true, radius: 7, layer: 2 }));
    const look = { source: text, size: w < 136 ? 12 : 13, radius: 7, lit, concept };
    return [...marks, step(`box${s},${i}`, place, { ...look, layer: lit ? 0 : 2 })];
  }

  function stack(view, s, at) {
    const parts = view.chosen.machine[s];
    const name = s ? "decoder" : "encoder";
    const known = parts.some(([, lit]) => lit);
    const look = { anchor: "middle", muted: true, size: 12 };
    const x = at.stacks[s] + at.w / 2;
    return [
      parts.map((part, i) => box(view, s, i, part, at)),
      label(`stack${s}`, x, at.base + 8, known ? name : `no ${name}`, look),
    ];
  }

  // Keys and values, from the encoder to the cross-attention.
  function bridge({ chosen }, { stacks, w, boxY }) {
    const cross = chosen.machine[1][1][1];
    if (!cross) return [];
    const y = boxY(1) + HIGH / 2;
    const one = (concept, shift) =>
      line(`bridge ${concept}`, `M${stacks[0] + w} ${y + shift}H${stacks[1]}`, {
        concept,
        width: 2,
      });
    return [one("k", -3), one("v", 3)];
  }

  // A network of another kind, of which the stacks show the attention only.
  function host({ chosen }, { middle, base }) {
    const [encoder, decoder] = chosen.machine;
    const [reads, thinks, writes] = [encoder[0][1], encoder[1][1], decoder[0][1]];
    let text = "";
    if (reads && !thinks) text = "The rest are convolutions.";
    if (!reads && !writes) text = "Attention of another kind.";
    if (!text) return [];
    const look = { anchor: "middle", size: 12, muted: true };
    return [label("host", middle, base + 30, text, look)];
  }

  function machine(view, at) {
    const note = at.lines(view.chosen.note);
    return [
      titles(view, at),
      [0, 1].map((s) => stack(view, s, at)),
      bridge(view, at),
      host(view, at),
      note.map((text, i) => label(`note${i}`, at.x, at.base + 52 + 19 * i, text)),
    ];
  }
  return { placeMachine, machine };
});
