// One sub-layer large: what comes in, what it makes of it, what the wire and the norm do.
nlp104.share("residual", ({ step }) => {
  // On a wide page. The wire at `x`, the box beside it; `y` takes the part of the way up.
  const FOOT = 498;
  const PLACE = { x: 84, box: 158, foot: FOOT, y: (part) => FOOT - part * (FOOT - 62) };

  function titles(view) {
    const { put } = nlp104.residual;
    const { box, kind, skip, pre, post } = view;
    const sum = `${skip ? "x + " : ""}f(${pre ? "{LN}(x)" : "x"})`;
    const formula = `$${post ? `{LN}(${sum})` : sum}$`;
    return [
      put(view, "lt", 0, 8, `layer ${Math.floor(box / 2) + 1}, ${kind}`, { strong: true }),
      put(view, "lf", 0, 32, formula, { size: 16 }),
    ];
  }

  // Without the wire all goes straight through the box.
  const mainOf = ({ skip }, { x, box }) => (skip ? x : box);

  function wires(view, place) {
    const { mine, down, skip } = view;
    const { x, box, foot, y } = place;
    const main = mainOf(view, place);
    const { draft } = nlp104.residual;
    const look = { ...mine, width: 3 };
    const arrow = (x, part) => {
      const tip = y(part) + (down ? -3 : 3);
      return `M${x - 5} ${tip}l5 ${down ? "6l5 -6" : "-6l5 6"}`;
    };
    const stem = `M${main} ${foot}V${y(0.12)}M${main} ${y(0.7)}V${y(1)}`;
    const past = `M${x} ${y(0.12)}V${y(0.7)}${arrow(x, 0.4)}`;
    const through = `M${main} ${y(0.12)}H${box}V${y(0.7)}H${main}`;
    return [
      draft("ls", stem + arrow(box, 0.64) + arrow(main, 0.04), look),
      draft("lk", past, { ...look, opacity: skip }),
      draft("lw", through, skip ? {} : look),
    ];
  }

  function nodes(view, place) {
    const { kind, skip, norm, post } = view;
    const { x, box, y } = place;
    const middle = y(0.46);
    const normed = { x: post ? mainOf(view, place) : box, y: y(post ? 0.86 : 0.24) };
    const look = { lit: true, concept: "ink", radius: 4, opacity: norm ? 1 : 0 };
    return [
      step(
        "lb",
        { x: box - 54, y: middle - 15, w: 108, h: 30 },
        { source: kind, lit: true, radius: 6 },
      ),
      step("ln", { x: normed.x - 26, y: normed.y - 10, w: 52, h: 20 }, { source: "norm", ...look }),
      step(
        "l+",
        { x: x - 9, y: y(0.7) - 9, w: 18, h: 18 },
        { source: "+", lit: true, opacity: skip },
      ),
    ];
  }

  // Sizes: below, on the wire, of the sum, above, and of what the box makes.
  function sizes(view, place) {
    const { y } = place;
    const x = mainOf(view, place);
    const { put, size } = nlp104.residual;
    const { run, down, way, came, made, skip, post, begins } = view;
    const sum = (down ? run.past : run.sum)[view.box];
    const wire = [
      [0.02, way[view.box], true],
      [0.4, came, skip],
      [0.7, sum, post],
      [1, way[view.box + 1], true],
    ];
    const texts = wire.map(([part, log, shown], i) => {
      const text = shown && !begins ? size(log) : "";
      return put(view, `l${i}`, x - 12, y(part), text, { strong: true, anchor: "end" });
    });
    const text = begins ? "" : size(made);
    const look = { strong: true, anchor: "start" };
    return [texts, put(view, "l4", x + 14, y(down ? 0.09 : 0.73), text, look)];
  }

  function large(view) {
    return [titles(view), wires(view, PLACE), nodes(view, PLACE), sizes(view, PLACE)];
  }
  return { large };
});
