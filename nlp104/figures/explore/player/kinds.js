// Explorables: how each kind of mark is made of SVG, and how it is brought up to date.
{
  const { runs, write } = nlp104;

  const svg = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const set = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === null) element.removeAttribute(name);
      else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
    }
  };
  const classes = (...names) => names.filter(Boolean).join(" ");
  const coloured = (concept) => concept && `f-t-${concept}`;

  // A rectangle as large as its mark, but for a margin.
  const box = (element, mark, inset, radius) =>
    set(element, {
      x: inset,
      y: inset,
      width: Math.max(0, mark.w - 2 * inset),
      height: Math.max(0, mark.h - 2 * inset),
      rx: radius,
    });

  // Text in runs, see text.js, each a piece of its own; an index is smaller and lower.
  const LOWER = { _: 0.26, "^": -0.38 };
  const letters = (element, source, size) => {
    if (element.dataset.source === source) return;
    element.dataset.source = source;
    let before = 0;
    const pieces = runs(source).map((run) => {
      const piece = svg("tspan");
      const shift = (LOWER[run.shift] ?? 0) * size;
      if (shift !== before) piece.setAttribute("dy", shift - before); // 0 would undo the whole's
      before = shift;
      piece.textContent = run.text;
      const maths = run.maths && classes("maths", !run.italic && "up");
      piece.setAttribute("class", classes(maths, coloured(run.concept)));
      if (run.strong) piece.setAttribute("font-weight", 650);
      // As an attribute the size would yield to that of .maths.
      if (run.shift) piece.style.fontSize = `${Math.max(12, 0.72 * size)}px`;
      return piece;
    });
    element.replaceChildren(...pieces);
  };
  const text = () => svg("text", { dy: "0.35em", "text-anchor": "middle" });

  // A number: a full tint is positive, an outline negative, its strength |value| / max; hatched is
  // hidden. What is faint stands back: its colour does, its number can still be read.
  const strengthOf = ({ known, value, max }) =>
    known && Number.isFinite(value) ? Math.min(1, Math.abs(value) / max) ** 0.85 : 0;
  // On a dark ground the middle of the scale is lifted, as --lift says; both ends stay.
  const tinted = (share) =>
    `calc(var(--cap)*(${share.toFixed(3)} + var(--lift)*${(share * (1 - share)).toFixed(3)}))`;
  const cell = {
    make: () => [
      svg("rect", { class: "base" }),
      svg("rect", { class: "tint" }),
      svg("rect", { class: "hatch" }),
      text(),
    ],
    update([base, tint, hatch, number], mark) {
      const strength = strengthOf(mark);
      const positive = mark.value > 0 && strength > 0;
      const faint = mark.faint ? 0.3 : 1;
      const radius = Math.min(5, mark.w / 5);
      for (const rect of [base, tint, hatch])
        box(rect, mark, rect === tint && !positive ? 1.75 : 1, radius);
      set(base, { class: classes("base", mark.hidden ? "hide" : strength && "clear") });
      const full = positive && !mark.hidden ? faint * (0.07 + 0.93 * strength) : 0;
      const outlined = strength && !positive && !mark.hidden;
      const edge = outlined ? (faint * (0.22 + 0.78 * strength)).toFixed(3) : 0;
      set(tint, {
        class: `tint f-${mark.concept} s-${mark.concept}`,
        style: `fill-opacity:${tinted(full)};stroke-opacity:${edge}`,
      });
      const leak = mark.leak ? 0.45 : 0;
      set(hatch, { opacity: mark.hidden ? 1 : leak, class: classes("hatch", mark.leak && "leak") });
      set(number, {
        x: mark.w / 2,
        y: mark.h / 2,
        "font-size": mark.size,
        class: mark.hidden || mark.faint ? "muted" : "",
        opacity: mark.numbers && (mark.known || mark.hidden) ? 1 : 0,
      });
      number.textContent = mark.text ?? write(mark.value, mark.digits);
    },
  };

  const words = {
    make: () => [text()],
    update([element], mark) {
      set(element, {
        "text-anchor": mark.anchor,
        "font-size": mark.size,
        "font-weight": mark.strong ? 650 : 400,
        class: coloured(mark.concept) || (mark.muted ? "muted" : ""),
        transform: mark.slant && `rotate(${mark.slant})`,
      });
      letters(element, mark.source, mark.size);
    },
  };

  // A word: a pill; dashed where it is a sign and no word, or of another kind; full where chosen.
  const token = {
    make: () => [svg("rect"), text()],
    update([pill, word], mark) {
      const middle = { x: mark.w / 2, y: mark.h / 2 };
      const sign = /^\[(.+)\]$/.exec(mark.word); // no word: [PAD], [START], [END]
      const dashed = (sign || mark.dashed) && "sign";
      box(pill, mark, 0.5, Math.min(10, mark.h / 2));
      set(pill, { class: classes("pill", mark.chosen && "chosen", dashed, mark.bare && "bare") });
      set(word, {
        ...middle,
        "font-size": mark.size,
        class: mark.chosen ? "on" : classes(mark.muted && "muted"),
        "font-weight": 500,
        transform: mark.turn ? `rotate(-90 ${middle.x} ${middle.y})` : null,
        "font-style": sign ? "italic" : "normal",
      });
      word.textContent = sign ? sign[1].toLowerCase() : mark.word;
    },
  };

  // A rounded rectangle: a bar, a band behind a row, an outline around a cell.
  const look = ({ outline, hatch, leak, concept }) => {
    if (outline) return `outline s-${concept}`;
    return hatch ? classes("hatch", leak && "leak") : `f-${concept}`;
  };
  const area = {
    make: () => [svg("rect")],
    update([rect], mark) {
      const edge = mark.edge ? 1.75 : 0;
      box(rect, mark, 0, mark.radius);
      set(rect, {
        class: classes(look(mark), mark.edge && `s-${mark.concept}`),
        "fill-opacity": mark.outline ? 0 : mark.strength,
        "stroke-width": mark.outline ? 2.25 : edge,
      });
    },
  };

  const line = {
    make: () => [svg("path", { fill: "none" })],
    update([path], mark) {
      const concept = mark.concept ?? "line";
      set(path, { d: mark.path, class: `s-${concept}`, "stroke-width": mark.width });
    },
  };

  // What is done: a small labelled node.
  const step = {
    make: () => [svg("rect"), text()],
    update([rect, label], mark) {
      box(rect, mark, 0.5, mark.radius ?? mark.h / 2);
      set(rect, { class: classes("node", mark.lit && `lit s-${mark.concept}`) });
      set(label, {
        x: mark.w / 2,
        y: mark.h / 2,
        "font-size": mark.size,
        class: mark.lit ? coloured(mark.concept) : "muted",
        "font-weight": mark.lit ? 600 : 400,
      });
      letters(label, mark.source, mark.size);
    },
  };

  const KINDS = { cell, text: words, token, area, line, step };
  Object.assign(nlp104, { svg, set, KINDS });
}
