// Explorables, first half: the numbers, and the parts that every scene is drawn with.
// A scene hands over marks, each with a key. A known key glides to its new place, a new one appears, a
// missing one goes. So a scene is a pure function of its state, and going back costs nothing.
globalThis.nlp104 ??= (() => {
  "use strict";

  // ---------- numbers ----------
  const tidy = (x) => Math.round(x * 1e9) / 1e9 + 0; // no 0.30000000000000004, no −0
  const sum = (row) => row.reduce((total, x) => total + x, 0);
  const range = (count, start = 0) => Array.from({ length: count }, (_, i) => start + i);
  const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));
  const dot = (a, b) => tidy(sum(a.map((x, i) => x * b[i])));
  const multiply = (A, B) => {
    const columns = transpose(B);
    return A.map((row) => columns.map((column) => dot(row, column)));
  };
  const most = (A) => Math.max(1e-9, ...A.flat().filter(Number.isFinite).map(Math.abs));
  // A row in which nothing may be seen gives zeros, as nlp104.attention.masked_softmax does.
  const softmax = (row) => {
    const top = Math.max(...row);
    const powers = row.map((x) => (top === -Infinity ? 0 : Math.exp(x - top)));
    const total = sum(powers);
    return powers.map((x) => (total ? x / total : 0));
  };
  const write = (x, digits = 2) => {
    if (x === -Infinity) return "−∞";
    const text = Math.abs(x).toFixed(digits);
    return x < 0 && Number(text) !== 0 ? `−${text}` : text;
  };
  // Names in a row, each { left, long, want }: do two overlap, and where does one go, not further than `far`
  // from where it wants to be? Their margins may meet.
  const overlap = (a, b) => a.left + a.long > b.left + 4.01 && b.left + b.long > a.left + 4.01;
  const fit = ({ long, want }, taken, room, far) => [want, ...taken.flatMap((other) => [other.left + other.long - 4, other.left + 4 - long])]
    .filter((left) => left >= 0 && left + long <= room && Math.abs(left - want) <= far && !taken.some((other) => overlap({ left, long }, other)))
    .sort((a, b) => Math.abs(a - want) - Math.abs(b - want))[0];
  const whole = (A) => A.flat().every((x) => !Number.isFinite(x) || Number.isInteger(tidy(x)));

  // ---------- text: **strong**, [q|in the query's colour], $W_Q$, $K^T$ ----------
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  function runs(source, look = {}) {
    const found = [];
    let place = 0;
    for (const m of source.matchAll(/\*\*(.+?)\*\*|\[([qkvapr])\|([^\]]*)\]|\$([^$]+)\$/g)) {
      if (m.index > place) found.push({ ...look, text: source.slice(place, m.index) });
      if (m[1]) found.push(...runs(m[1], { ...look, strong: true }));
      else if (m[2]) found.push(...runs(m[3], { ...look, concept: m[2] }));
      else for (const [, shift, body] of m[4].matchAll(/([_^])?(\{[^}]*\}|[A-Za-z]|[^_^A-Za-z{]+)/g))
        found.push({ ...look, text: body.replace(/[{}]/g, ""), shift, maths: true, italic: /^[A-Za-z]$/.test(body) });
      place = m.index + m[0].length;
    }
    if (place < source.length) found.push({ ...look, text: source.slice(place) });
    return found;
  }
  const rich = (source) => runs(source).map((run) => {
    let html = escape(run.text);
    if (run.maths) html = `<i class="maths${run.italic ? "" : " up"}">${html}</i>`;
    if (run.shift) html = run.shift === "_" ? `<sub>${html}</sub>` : `<sup>${html}</sup>`;
    if (run.strong) html = `<b>${html}</b>`;
    return run.concept ? `<span class="t-${run.concept}">${html}</span>` : html;
  }).join("");
  const plain = (source) => runs(source).map((run) => run.text).join("");

  // ---------- parts ----------
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
  const box = (element, mark, inset, radius) => set(element, {
    x: inset, y: inset, width: Math.max(0, mark.w - 2 * inset), height: Math.max(0, mark.h - 2 * inset), rx: radius,
  });
  function letters(element, source, size) {
    if (element.dataset.source === source) return;
    element.dataset.source = source;
    let before = 0;
    element.replaceChildren(...runs(source).map((run) => {
      const shift = run.shift === "_" ? 0.26 * size : run.shift === "^" ? -0.38 * size : 0;
      const piece = svg("tspan");
      if (shift !== before) piece.setAttribute("dy", shift - before); // 0 would undo that of the whole
      before = shift;
      piece.textContent = run.text;
      piece.setAttribute("class", `${run.maths ? `maths${run.italic ? "" : " up"}` : ""} ${run.concept ? `f-t-${run.concept}` : ""}`);
      if (run.strong) piece.setAttribute("font-weight", 650);
      if (run.shift) piece.style.fontSize = `${Math.max(12, 0.72 * size)}px`; // as an attribute it would yield to .maths
      return piece;
    }));
  }
  const text = () => svg("text", { dy: "0.35em", "text-anchor": "middle" });

  // How a kind of mark is made, and how it is brought up to date.
  const PARTS = {
    // A number: a full tint is positive, an outline negative, its strength |value| / max; hatched is hidden.
    // What is faint stands back: its colour does, its number can still be read.
    cell: {
      make: () => [svg("rect", { class: "base" }), svg("rect", { class: "tint" }), svg("rect", { class: "hatch" }), text()],
      update([base, tint, hatch, number], mark) {
        const strength = mark.known && Number.isFinite(mark.value) ? Math.min(1, Math.abs(mark.value) / mark.max) ** 0.85 : 0;
        const positive = mark.value > 0 && strength > 0, faint = mark.faint ? 0.3 : 1;
        const radius = Math.min(5, mark.w / 5);
        for (const rect of [base, tint, hatch]) box(rect, mark, rect === tint && !positive ? 1.75 : 1, radius);
        set(base, { class: `base${mark.hidden ? " hide" : strength ? " clear" : ""}` });
        set(tint, {
          class: `tint f-${mark.concept} s-${mark.concept}`,
          style: `fill-opacity:calc(var(--cap)*${positive && !mark.hidden ? (faint * (0.07 + 0.93 * strength)).toFixed(3) : 0});stroke-opacity:${positive || !strength || mark.hidden ? 0 : (faint * (0.22 + 0.78 * strength)).toFixed(3)}`,
        });
        set(hatch, { opacity: mark.hidden ? 1 : mark.leak ? 0.45 : 0, class: `hatch${mark.leak ? " leak" : ""}` });
        set(number, { x: mark.w / 2, y: mark.h / 2, "font-size": mark.size, class: mark.hidden || mark.faint ? "muted" : "", opacity: mark.numbers && (mark.known || mark.hidden) ? 1 : 0 });
        number.textContent = mark.text ?? write(mark.value, mark.digits);
      },
    },
    text: {
      make: () => [text()],
      update([element], mark) {
        set(element, { "text-anchor": mark.anchor, "font-size": mark.size, "font-weight": mark.strong ? 650 : 400, class: mark.concept ? `f-t-${mark.concept}` : mark.muted ? "muted" : "", transform: mark.slant && `rotate(${mark.slant})` });
        letters(element, mark.source, mark.size);
      },
    },
    // A word: a pill; dashed where it is a sign and no word, or of another kind; full where it is chosen.
    token: {
      make: () => [svg("rect"), text()],
      update([pill, word], mark) {
        box(pill, mark, 0.5, Math.min(10, mark.h / 2));
        const sign = /^\[(.+)\]$/.exec(mark.word); // no word: [PAD], [START], [END]
        set(pill, { class: `pill${mark.chosen ? " chosen" : ""}${sign || mark.dashed ? " sign" : ""}${mark.bare ? " bare" : ""}` });
        set(word, { x: mark.w / 2, y: mark.h / 2, "font-size": mark.size, class: mark.chosen ? "on" : mark.muted ? "muted" : "", "font-weight": 500 });
        set(word, { transform: mark.turn ? `rotate(-90 ${mark.w / 2} ${mark.h / 2})` : null });
        word.setAttribute("font-style", sign ? "italic" : "normal");
        word.textContent = sign ? sign[1].toLowerCase() : mark.word;
      },
    },
    // A rounded rectangle: a bar, a band behind a row, an outline around a cell.
    area: {
      make: () => [svg("rect")],
      update([rect], mark) {
        box(rect, mark, 0, mark.radius);
        set(rect, { class: mark.outline ? `outline s-${mark.concept}` : mark.hatch ? `hatch${mark.leak ? " leak" : ""}` : `f-${mark.concept}`, "fill-opacity": mark.outline ? 0 : mark.strength, "stroke-width": mark.outline ? 2.25 : mark.edge ? 1.75 : 0 });
        if (mark.edge) rect.classList.add(`s-${mark.concept}`);
      },
    },
    line: {
      make: () => [svg("path", { fill: "none" })],
      update([path], mark) {
        set(path, { d: mark.path, class: `s-${mark.concept ?? "line"}`, "stroke-width": mark.width });
      },
    },
    // What is done: a small labelled node.
    step: {
      make: () => [svg("rect"), text()],
      update([rect, label], mark) {
        box(rect, mark, 0.5, mark.radius ?? mark.h / 2);
        set(rect, { class: `node${mark.lit ? ` lit s-${mark.concept}` : ""}` });
        set(label, { x: mark.w / 2, y: mark.h / 2, "font-size": mark.size, class: mark.lit ? `f-t-${mark.concept}` : "muted", "font-weight": mark.lit ? 600 : 400 });
        letters(label, mark.source, mark.size);
      },
    },
  };

  const mark = (kind, defaults) => (key, place, options = {}) => ({ kind, key, opacity: 1, layer: 1, ...defaults, ...place, ...options });
  const cell = mark("cell", { concept: "r", max: 1, digits: 1, size: 13, known: true, numbers: true });
  const area = mark("area", { concept: "r", strength: 1, radius: 6, layer: 0 });
  const label = (key, x, y, source, options = {}) => ({ kind: "text", key, x, y, source, opacity: 1, layer: 2, size: 13, anchor: "start", ...options });
  const token = mark("token", { size: 14 });
  // The path of a line along points, with round corners.
  const wire = (points, radius = 6) => points.map(([x, y], i) => {
    if (!i || i === points.length - 1) return `${i ? "L" : "M"}${x} ${y}`;
    const [before, after] = [points[i - 1], points[i + 1]].map(([u, v]) => {
      const length = Math.hypot(u - x, v - y) || 1, part = Math.min(radius, length / 2) / length;
      return `${x + part * (u - x)} ${y + part * (v - y)}`;
    });
    return `L${before}Q${x} ${y} ${after}`;
  }).join("");
  const line = (key, path, options = {}) => ({ kind: "line", key, x: 0, y: 0, path, opacity: 1, layer: 1, width: 1.25, ...options });
  const step = mark("step", { concept: "r", size: 13, layer: 2 });
  // A matrix of cells; `of(i, j)` may change single ones.
  const matrix = (key, values, { x, y, w, h, of = () => ({}), ...look }) => values.flatMap((row, i) => row.map((value, j) =>
    cell(`${key}${i},${j}`, { x: x + j * w, y: y + i * h, w, h, value }, { numbers: w >= 24, ...look, ...of(i, j) })));
  // Bars end to end: how a row of weights shares out 1.
  const shares = (key, weights, { x, y, w, h, of = () => ({}) }) => {
    let end = x;
    return weights.map((weight, j) => {
      const start = end;
      end += weight * w;
      return area(`${key}${j}`, { x: start, y, w: Math.max(0, weight * w - 1.2), h }, { concept: "a", strength: 0.3 + 0.62 * Math.min(1, weight / 0.6), radius: 2, layer: 1, ...of(j) });
    });
  };
  // A dot product written out: products below each other, each beside the place it comes from, then the sum.
  const ledger = (key, { x, width, ys, a, b, concepts, digits, size, total, y }) => {
    const letter = 0.62 * size;
    const products = a.map((value, i) => tidy(value * b[i]));
    const wide = [a, b, products].map((list, i) => letter * Math.max(...list.map((value) => write(value, digits[i]).length)));
    const [one, two, three] = [x + wide[0], x + wide[0] + wide[1] + 1.9 * size, x + wide[0] + wide[1] + wide[2] + 3.8 * size];
    const marks = [];
    let end = 0;
    const ends = [0, ...products.map((value) => (end += value))];
    const from = three + 1.4 * size, room = x + width - from;
    const [low, high] = [Math.min(0, ...ends), Math.max(1e-9, ...ends)];
    const at = (value) => from + (room * (value - low)) / (high - low);
    const bar = (name, start, stop, place, strong) => area(name, { x: Math.min(at(start), at(stop)), y: place - 5.5, w: Math.max(1.5, Math.abs(at(stop) - at(start))), h: 11 },
      { concept: concepts[2], strength: stop < start ? 0 : strong, edge: stop < start, radius: 2.5, layer: 1 });
    if (room > 40) marks.push(line(`${key}0`, `M${at(0)} ${ys[0] - 12}V${y + 9}`));
    products.forEach((value, i) => {
      const put = (name, place, source, options) => marks.push(label(`${key}${name}${i}`, place, ys[i], source, { anchor: "end", size, ...options }));
      put("a", one, write(a[i], digits[0]), { concept: concepts[0] });
      put("×", one + 0.95 * size, "×", { anchor: "middle", muted: true });
      put("b", two, write(b[i], digits[1]), { concept: concepts[1] });
      put("=", two + 0.95 * size, "=", { anchor: "middle", muted: true });
      put("p", three, write(value, digits[2]), {});
      if (room > 40 && value) marks.push(bar(`${key}w${i}`, ends[i], ends[i + 1], ys[i], 0.75));
    });
    marks.push(label(`${key}s`, three, y, `= ${write(total, digits[2])}`, { anchor: "end", size: size + 1, strong: true, concept: concepts[2] }));
    if (room > 40) marks.push(bar(`${key}t`, 0, total, y, 1));
    return marks;
  };

  // ---------- the stage ----------
  class Stage {
    constructor(element) {
      this.svg = element;
      this.nodes = new Map();
      this.layers = range(3).map(() => element.appendChild(svg("g")));
    }
    draw(marks, still = false) {
      this.svg.classList.toggle("calm", still);
      const seen = new Set(), fresh = [];
      for (const mark of marks.flat(4).filter(Boolean)) {
        seen.add(mark.key);
        let node = this.nodes.get(mark.key);
        if (node && node.mark.kind !== mark.kind) { // another width may draw another part here
          node.group.remove();
          node = null;
        }
        if (!node) {
          const pieces = PARTS[mark.kind].make();
          node = { pieces, group: svg("g", { class: mark.kind, opacity: 0 }, ...pieces) };
          this.nodes.set(mark.key, node);
          this.layers[mark.layer].append(node.group);
          this.place(node.group, mark);
          PARTS[mark.kind].update(pieces, mark); // in its colours: only what is old changes them slowly
          fresh.push(node.group);
        }
        node.mark = mark;
        this.press(node.group, mark);
      }
      if (fresh.length && !still) this.svg.getBoundingClientRect(); // from here on what is new may fade in
      for (const [key, { group, pieces, mark }] of this.nodes) {
        if (!seen.has(key)) {
          this.nodes.delete(key);
          group.remove();
          continue;
        }
        this.place(group, mark);
        PARTS[mark.kind].update(pieces, mark);
        set(group, { opacity: mark.opacity });
      }
    }
    place(group, mark) {
      group.style.transform = `translate(${mark.x.toFixed(1)}px,${mark.y.toFixed(1)}px)`;
    }
    press(group, mark) { // what can be pressed is a button, what can be pulled a slider, also for a keyboard and a screen reader
      const { act, slide } = mark;
      set(group, act
        ? { "data-act": act, "data-at": mark.at, role: slide ? "slider" : "button", tabindex: mark.first ? 0 : -1, "aria-label": mark.says, "aria-pressed": slide ? null : Boolean(mark.pressed), "aria-hidden": null }
        : { "data-act": null, "data-at": null, role: null, tabindex: null, "aria-label": null, "aria-pressed": null, "aria-hidden": true });
      let reach = group.querySelector(".reach"); // fingers are wider than a row: `hit` is the place that they may touch
      if (act && mark.hit) {
        const { x, y, w, h } = mark.hit;
        reach ??= group.appendChild(svg("rect", { class: "reach", fill: "none", "pointer-events": "all" }));
        set(reach, { x: x - mark.x, y: y - mark.y, width: w, height: h });
      } else reach?.remove();
      set(group, { "aria-valuenow": slide?.value, "aria-valuemin": slide?.low, "aria-valuemax": slide?.high, "aria-orientation": slide && "vertical" });
    }
    slider(group) { // what a mark that can be pulled holds: { value, low, high, by, length in pixels, upwards }
      return [...this.nodes.values()].find((node) => node.group === group)?.mark.slide;
    }
  }

  return { tidy, sum, range, transpose, dot, multiply, most, softmax, write, overlap, fit, whole, rich, plain, svg, set, cell, area, label, token, wire, line, step, matrix, shares, ledger, Stage };
})();
