// A fader for each size, and the two numbers that all of them together give.
nlp104.share("shapes", ({ exact, note, token, line, shapes }) => {
  const { compact, short, times, block } = shapes;
  const KNOB = 22;

  function write(letter, value) {
    if (letter === "E") return ["no", "yes"][value];
    return value < 1e4 ? exact(value) : `${short(value / 1000)}k`;
  }

  // On a phone in two rows. Those that cost no parameters stand first, with a gap behind them.
  function placeOf(i, { slim, faderWidth, faderHeight }) {
    if (slim && i > 2) return { x: faderWidth * (i - 2.5), top: 18 + faderHeight + 30 };
    return { x: faderWidth * (slim || i < 3 ? i + 0.5 : i + 0.9), top: 18 };
  }

  function fader({ letter, name, label, notches }, i, view) {
    const { data, size, chosen, changed, moved, faderWidth, faderHeight } = view;
    const { x, top } = placeOf(i, view);
    const w = Math.min(46, faderWidth - 4);
    const travel = faderHeight - KNOB;
    const value = size[letter];
    const word = write(letter, value);
    const mine = changed && moved.name === name;
    const asked = !moved && chosen < 0 && name === data.says.first;
    const notch = Math.max(
      0,
      notches.findLastIndex((one) => one <= value),
    );
    const high = notches.length - 1;
    const knob = top + travel * (1 - notch / high);
    // What is above the knob, or below it, can be pressed.
    const halves = [
      { sign: "+", by: 1, y: top, h: knob - top },
      { sign: "−", by: -1, y: knob + KNOB, h: top + travel - knob },
    ].map(({ sign, by, y, h }, k) => {
      const look = { anchor: "middle", muted: true, opacity: h > 14 ? 1 : 0 };
      const press = {
        act: `turn:${i}:${notch + by}`,
        at: `f:${2 * k}:${i}`,
        says: `${name} ${sign}`,
      };
      const place = { x: x - w / 2, y, w, h };
      return [
        note(sign + i, x + 12, top + 8 + k * (faderHeight - 16), sign, look),
        h > 1 && block(`by${sign}${i}`, place, { strength: 0, layer: 2, ...press }),
      ];
    });
    const press = {
      act: `turn:${i}:${notch}`,
      at: `f:1:${i}`,
      first: true,
      says: `${name}: ${word}`,
      slide: { value: notch, low: 0, high, by: 1, length: travel },
    };
    const track = `M${x} ${top + 2}v${faderHeight - 4}`;
    const place = { x: x - w / 2, y: knob, w, h: KNOB };
    const bold = mine || asked;
    const frame = { x: x - 27, y: top - 20, w: 54, h: faderHeight + 24 };
    return [
      asked && block("asked", frame, { radius: 9, strength: 0.1, layer: 0 }),
      note(`f${i}`, x, top - 10, label, { anchor: "middle", size: 13, muted: !bold, strong: bold }),
      line(`track${i}`, track, { concept: "edge", layer: 0 }),
      halves,
      token(`knob${i}`, place, { word, size: 12.5, chosen: mine, ...press }),
    ];
  }

  function sum(key, title, number, y, { slim, old, changed, fits, faderWidth, [key]: value }) {
    const x = faderWidth * (slim ? 3.2 : 10);
    const differs = changed && value !== old[key];
    const factor = differs ? ` **${times(value / old[key])}**` : "";
    return [
      note(key, x, y, fits ? number(value) : "–", { size: 16, strong: true }),
      note(`${key}:`, x, y + 18, `${title}${factor}`, { muted: true }),
    ];
  }

  // Below the last two faders: the words of the source, if it has its own, and what "tied" means.
  function below({ data, size, width, slim, faderWidth, faderHeight }) {
    const x = slim ? width : 9.9 * faderWidth;
    const y = 18 + faderHeight + 14 + (slim ? faderHeight + 30 : 0);
    const own = size.U === size.V ? "" : data.says.two.replace("{U}", exact(size.U));
    return note("one", x, y, own + data.says.one, { anchor: "end", muted: true });
  }

  const faders = (view) => [
    view.data.sizes.map((one, i) => fader(one, i, view)),
    below(view),
    sum("parameters", "parameters", exact, 12, view),
    sum("work", "multiply-adds", compact, 50, view),
  ];

  return { faders };
});
