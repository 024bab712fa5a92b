// The tower of sub-layers, and beside it how large signal and gradient are at each height.
nlp104.share("residual", ({ range, write, area, label, line }) => {
  const SLIM = { pitch: 14, top: 86, x: 32, box: 30, big: 16, space: 14, gap: 18, strip: 32 };
  const WIDE = { pitch: 18, top: 58, x: 250, box: 38, big: 18, space: 26, gap: 28, strip: 44 };
  const SIX = 130; // pixels that the six ends take above the tower on a phone

  // The boxes stand beside the wire at `x`; then follow two fields of bars and a strip of cosines.
  // Without skip connections there is no way beside the boxes, and all goes straight through them.
  function placeTower({ width, slim, depth, done, skip }) {
    const at = { ...(slim ? SLIM : WIDE) };
    if (slim && done) {
      at.top += SIX; // the whole stays as high as it is
      at.pitch -= SIX / depth;
    }
    const boxes = at.x + 12;
    const bars = boxes + at.box + at.space;
    return {
      ...at,
      y: (level) => at.top + (depth - level) * at.pitch,
      ground: at.top + depth * at.pitch + 8,
      boxes,
      way: skip ? at.x : boxes + at.box / 2,
      bars,
      wide: (width - bars - at.strip - 2 * at.gap) / 2,
    };
  }

  const put = (view, key, x, y, source, look) =>
    label(key, x, y, source, { size: view.size, ...look });
  const draft = (key, path, look) => line(key, path, { concept: "edge", layer: 0, ...look });

  function wires({ depth, skip }, { x, y, pitch, top, ground, boxes, box, way }) {
    const middle = boxes + box / 2;
    const stream = { concept: "r", width: 2 };
    const past = { ...stream, opacity: skip };
    const each = (path) =>
      range(depth)
        .map((i) => path(y(i)))
        .join("");
    const joints = each((at) => `M${way} ${at + 2}v-4`);
    const through = each((at) => `M${middle} ${at - 2}v${4 - pitch}`);
    const around = each((at) => `M${x} ${at - 2}H${middle}v-4m0 ${10 - pitch}v-2H${x}`);
    return [
      draft("stem", `${joints}M${way} ${ground}v-10M${way} ${top + 2}v-16`, stream),
      draft(
        "skips",
        each((at) => `M${x} ${at - 2}v${4 - pitch}`),
        past,
      ),
      skip ? draft("ways", around) : draft("through", through, stream),
    ];
  }

  // A sub-layer and its norm: behind the sum, or before the box.
  function sublayer(view, i, { x, y, pitch, boxes, box, way }) {
    const { done, begins, norm, post, skip } = view;
    const bottom = y(i);
    const now = i === view.box && !done && !begins;
    const after = { x: way - 9, y: bottom - pitch - 1.5, w: 18, h: 3 };
    const before = { x: boxes, y: bottom - 5, w: box, h: 3 };
    const high = Math.max(3, pitch - (skip ? 10 : 8));
    const marks = [
      area(
        `b${i}`,
        { x: boxes, y: bottom - (pitch + high) / 2 - 1, w: box, h: high },
        { concept: now ? "ink" : "r", strength: now ? 1 : 0.4, radius: 2 },
      ),
      area(`n${i}`, post ? after : before, { concept: "ink", radius: 1, opacity: norm ? 1 : 0 }),
    ];
    if (i % 2 === 0) return marks;
    const look = { size: 12, anchor: "end", muted: true };
    return [...marks, put(view, `y${i}`, x - 14, bottom, `${(i + 1) / 2}`, look)];
  }

  // What a tooth is; on a phone, where no sub-layer is large, which one is dark, and the wire.
  function names(view, { x, top, boxes, box }) {
    const { slim, box: now, kind, done, begins, depth, skip, width } = view;
    const look = { muted: true };
    const layer = put(view, "layer", slim ? 0 : x - 14, top - 22, "layer", {
      ...look,
      anchor: slim ? "start" : "end",
    });
    if (!slim)
      return [
        layer,
        put(view, "teeth", boxes + box / 2, top - 22, "sub-layers", {
          ...look,
          anchor: "middle",
        }),
      ];
    if (done) return layer;
    const wire = [
      draft("wire", `M${width - 56} 9h22`, { concept: "r", width: 2 }),
      put(view, "past", width, 9, "wire", { anchor: "end" }),
    ];
    const lit = begins ? { strength: 0.4 } : { concept: "ink" };
    const words = begins
      ? `a sub-layer, one of ${depth}`
      : `sub-layer ${now + 1} of ${depth}: ${kind}`;
    return [
      layer,
      area("tooth", { x: 0, y: 6, w: box, h: 6 }, { ...lit, radius: 2 }),
      put(view, "teeth", box + 8, 9, words),
      skip && width > 330 ? wire : null,
    ];
  }

  function tower(view, at) {
    const last = { x: at.way - 9, y: at.top - 9, w: 18, h: 3 };
    return [
      names(view, at),
      wires(view, at),
      range(view.depth).map((i) => sublayer(view, i, at)),
      area("last", last, { concept: "ink", radius: 1, opacity: view.pre ? 1 : 0 }),
    ];
  }

  const heading = (view, key, x, { top, big }, title, value, anchor) => [
    put(view, `h${key}`, x, top - 44, title, { muted: true, anchor }),
    put(view, `v${key}`, x, top - 22, value, { size: big, strong: true, anchor }),
  ];

  // Powers of ten away from 1: one scale for all six towers.
  function scaleOf({ six }) {
    const all = six.flatMap((run) => [...run.signal, ...run.gradient]);
    return {
      low: Math.min(-1, Math.floor(Math.min(...all))),
      high: Math.max(1, Math.ceil(Math.max(...all))),
    };
  }

  function gridLine(view, number, log, x, { top, ground }) {
    const key = `${number}${Math.sign(log)}`;
    const side = log < 0 ? "start" : "end";
    return [
      draft(`g${key}`, `M${x} ${top - 6}V${ground}`, { concept: log ? "line" : "edge" }),
      put(view, `t${key}`, x, ground + 12, log ? `10$^{${write(log, 0)}}$` : "1", {
        size: 12,
        muted: true,
        anchor: log ? side : "middle",
      }),
    ];
  }

  // Bars at every height that was reached; a thin line where the bare tower would be.
  function field(view, at, number, { kind, title, seen, here }) {
    const { run, six, depth, level, done, skip, norm } = view;
    const { low, high } = scaleOf(view);
    const left = at.bars + number * (at.wide + at.gap);
    const x = (log) => left + ((log - low) / (high - low)) * at.wide;
    const levels = range(depth + 1);
    const known = levels.filter(seen);
    const value = known.length ? nlp104.residual.size(run[kind][here]) : "?";
    const logs = [low, 0, high].filter((log) => !log || Math.abs(x(log) - x(0)) > 34);
    const thick = Math.min(8, at.pitch - 2);
    const bars = levels.map((i) => {
      const end = x(seen(i) ? run[kind][i] : 0);
      return area(
        `${kind}${i}`,
        {
          x: Math.min(x(0), end) - 1.5,
          y: at.y(i) - thick / 2,
          w: Math.abs(end - x(0)) + 3,
          h: thick,
        },
        {
          concept: number ? "ink" : "r",
          strength: i === level && !done ? 1 : 0.7,
          radius: 2,
          layer: 1,
          opacity: seen(i) ? 1 : 0,
        },
      );
    });
    const marks = [
      heading(view, number, left, at, title, value, "start"),
      logs.map((log) => gridLine(view, number, log, x(log), at)),
      put(view, `s${number}`, x(0), at.ground + 30, "← size →", {
        size: 12,
        muted: true,
        anchor: "middle",
      }),
      bars,
    ];
    if (!known.length || !(skip || norm)) return marks;
    const bare = known.map((i) => [x(six[0][kind][i]), at.y(i)]);
    return [...marks, draft(`bare${number}`, `M${bare.join("L")}`)];
  }

  // The cosine with the own word: the stronger, the more alike.
  function strip(view, at) {
    const { run, depth, width, rose } = view;
    return range(depth + 1).map((i) =>
      area(
        `o${i}`,
        { x: width - at.strip, y: at.y(i) - at.pitch / 2 + 1, w: at.strip, h: at.pitch - 2 },
        { strength: rose(i) ? Math.max(0.04, 0.9 * run.own[i]) : 0, radius: 2 },
      ),
    );
  }

  function measurements(view, at) {
    const { run, width, slim, level, up, rose, fell, skip, norm } = view;
    const note = skip || norm ? "thin line: neither" : "";
    const look = { size: 12, muted: true, anchor: "end" };
    return [
      field(view, at, 0, { kind: "signal", title: "↑ signal", seen: rose, here: up }),
      field(view, at, 1, { kind: "gradient", title: "↓ gradient", seen: fell, here: level }),
      put(view, "bare", width, at.ground + 48, note, look),
      heading(view, "o", width, at, "own word", write(run.own[up]), "end"),
      strip(view, at),
    ];
  }

  // The height that is reached.
  function reached({ width, level, mine }, { x, y, pitch, way }) {
    const band = { x: x - 12, y: y(level) - pitch / 2, w: width - x + 12, h: pitch };
    const dot = { x: way - 6, y: y(level) - 6, w: 12, h: 12 };
    return [
      area("band", band, { strength: 0.13, radius: 5 }),
      area("dot", dot, { ...mine, layer: 2 }),
    ];
  }
  return { put, draft, placeTower, tower, measurements, reached };
});
