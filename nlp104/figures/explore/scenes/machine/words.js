// Words, their vectors, their weights, and what is written next.
nlp104.share("machine", ({ sum, range, write, box, area, token, machine }) => {
  const { CONCEPTS, bare, clamp, weightsOf, text, path, door, chip, pick } = machine;
  const BUNDLE = 16; // weights that add up to 1

  function band(key, { middles, widths, rows: { tok } }, i, y) {
    const place = box(middles[i] - widths[i] / 2, y, widths[i], tok.y + tok.h - y + 3);
    return area(key, place, { strength: 0.08, radius: 8 });
  }
  const pill = (key, { middles, widths, pill: h, turned }, i, y, word, look) =>
    token(key, box(middles[i] - widths[i] / 2 + 1, y, widths[i] - 2, h), {
      ...{ word, size: 12, turn: turned },
      ...look,
    });

  // The vector at a box and what is added; first its row.
  function carried(stack, name) {
    const below = stack[stack.indexOf(name) - 1];
    if (name === "tok") return { held: "emb" };
    if (name === "out") return { held: "add3" };
    if (["self", "cross", "ffn"].includes(name)) return { held: below, change: name };
    return { held: name, change: name.startsWith("add") && below };
  }

  function traveller(view, name, i, current) {
    const { data, done, tower, rows, middles, widths } = view;
    const vectors = data.vectors[tower];
    const stop = data.stack[tower].indexOf(name);
    const { held, change } = carried(data.stack[tower], name);
    const inside = change === name;
    const old = tower === "dec" && i < current;
    const lit = i === current;
    const put = (key, values, y, look) =>
      chip(view, `${tower}${key}${i}`, values[i], middles[i], y, look);
    const seen = (stop > 0 || old) && (lit || widths[i] > 25);
    const look = { muted: !lit, strong: lit, opacity: seen ? 1 : 0 };
    const marks = [
      text(`${tower}i${i}`, middles[i], rows.emb.mid, `#${data.ids[tower][i]}`, look),
      put("p", data.waves, rows.pos.mid, { concept: "p", opacity: stop > 1 || old ? 1 : 0 }),
    ];
    if (old) return [...marks, put("v", vectors.low, rows.low.rest, { opacity: 0.6 })];
    if (tower === "dec" || !done) {
      const y = stop ? rows[held].rest : rows.emb.mid;
      marks.push(put("v", vectors[held], y, { lit, opacity: stop ? 1 : 0 }));
    }
    if (change) {
      const y = inside ? rows[name].rest : rows[name].mid;
      marks.push(put("x", vectors[change], y, { lit, opacity: inside ? 1 : 0 }));
    }
    return marks;
  }

  function travel(view, name, count, current) {
    const { data, now, tower, rows, name: x } = view;
    const { held } = carried(data.stack[tower], name);
    const shape = `${tower === "enc" ? count : 1} × ${data.sizes.width}`;
    const told = tower === now.tower && name !== "tok" && now.box !== "mem";
    return [
      ...range(count).map((i) => traveller(view, name, i, current)),
      told && text("shape", x, rows[held].rest, shape, { muted: true }),
    ];
  }

  function encoder(view) {
    const { data, now, follow, done, seen, slots } = view;
    const enc = { ...view, ...view.towers.enc };
    const { tok, add2 } = enc.rows;
    const tower = seen.includes("enc") && [
      band("marked", enc, follow, add2.y - 22),
      data.source.map((word, i) => {
        const chosen = i === follow;
        const press = pick(`follow:${i}`, `e:0:${i}`, chosen, `follow ${bare(word)}`);
        return pill(`e${i}`, enc, i, tok.y, word, { chosen, ...press });
      }),
      ...travel(enc, done ? "add2" : now.box, data.source.length, follow),
    ];
    const memory = slots.map(({ x, y }, i) => {
      const lit = i === follow && now.tower === "enc";
      const tall = { ...view, code: view.store };
      return chip(tall, `encv${i}`, data.vectors.enc.add2[i], x, y, { lit });
    });
    return [tower, done && memory];
  }

  function decoder(view) {
    const { data, now, seen } = view;
    const { turn } = now;
    if (!seen.includes("dec") || turn < 0) return null;
    const dec = { ...view, ...view.towers.dec };
    const { tok, out: last } = dec.rows;
    const high = last.y - dec.pill - 7;
    const out = now.box === "out";
    const words = data.target.slice(0, turn + 1).map((word, i) => {
      const chosen = i === turn;
      const press = pick(`turn:${i}`, `f:0:${i}`, chosen, `the turn of ${bare(word)}`);
      return [
        pill(`f${i}`, dec, i, tok.y, word, { chosen, ...press }),
        (i < turn || out) && pill(`o${i}`, dec, i, high, data.next[i], { chosen }),
      ];
    });
    const after = turn + 1; // will go in at the bottom
    return [
      band("newest", dec, turn, last.y),
      words,
      out &&
        after < data.target.length &&
        pill(`f${after}`, dec, turn, high, data.target[after], { opacity: 0 }),
      ...travel(dec, now.box, after, turn),
    ];
  }

  const dot = (key, [x, y], concept) =>
    area(key, box(x - 3, y - 3, 6, 6), { concept, radius: 3, layer: 2 });

  // From between the towers into the decoder.
  function around(x0, y0, entrance, low, x, y, radius) {
    const bend = Math.min(entrance, x - radius);
    const half = (x0 + bend) / 2;
    return (
      `M${x0} ${y0}C${half} ${y0} ${half} ${low} ${bend} ${low}` +
      `H${x - radius}A${radius} ${radius} 0 0 0 ${x} ${low - radius}V${y}`
    );
  }

  // Weights of one query as ribbons that end beside each other.
  function weights(view) {
    const { data, now, follow, both, towers, slots } = view;
    const cross = now.box === "cross";
    if (!cross && now.box !== "self") return null;
    const across = cross && both;
    const { x: left, to, middles, widths, rows } = towers[now.tower];
    const { y, h, mid } = rows[now.box];
    const query = now.tower === "enc" ? follow : now.turn;
    const x = middles[query];
    const row = weightsOf(data, now)[query];
    const starts = cross ? slots : middles.map((x) => door(x, y + h));
    const ribbons = row.map((weight, j) => {
      const { out, number, key, value } = starts[j];
      const [x0, y0] = out;
      const before = BUNDLE * (sum(row.slice(0, j)) + weight / 2);
      const end = x - BUNDLE / 2 + before;
      const low = mid + 8 - BUNDLE / 2 + before;
      const half = (y + y0) / 2;
      const d = across
        ? around(x0, y0, left + 40, low, end, y, before + 4)
        : `M${x0} ${y0}C${x0} ${half} ${end} ${half} ${end} ${y}`;
      const width = Math.max(0.75, weight * BUNDLE);
      const room = across || (cross ? slots[j].pill.w : widths[j]) > 26;
      const look = {
        concept: "a",
        strong: weight === Math.max(...row),
        anchor: across ? "end" : "middle",
      };
      return [
        weight > 0.004 && path(`w${j}`, d, { concept: "a", width, layer: 1, opacity: 0.85 }),
        room && weight >= 0.005 && text(`n${j}`, ...number, write(weight), look),
        dot(`k${j}`, key, "k"),
        dot(`v${j}`, value, "v"),
      ];
    });
    const after = now.turn + 1; // words that are still to come
    const free = middles[after] - widths[after] / 2 + 2;
    const rest = box(free, y + 3, to - free - 1, h - 6);
    return [
      ribbons,
      dot("q", [x, cross ? y + h : y], "q"),
      !cross &&
        now.tower === "dec" &&
        row.length < widths.length &&
        area("hidden", rest, { hatch: true, radius: 4 }),
    ];
  }

  // Both towers, tiny, where only one is shown.
  function glyph({ data, now, left, slim }, tower, offset) {
    const pitch = slim ? 4.5 : 6;
    return data.stack[tower].map((name, i) => {
      const here = tower === now.tower;
      let look = here ? { concept: "r", strength: 0.5 } : { concept: "edge", strength: 0.25 };
      if (here && name === now.box) look = { concept: CONCEPTS[name] ?? "ink", strength: 1 };
      const place = box(left + 2 + offset, 2 + pitch * (10 - i), 22, pitch - 1.5);
      return area(`g${tower}${name}`, place, { ...look, radius: 2 });
    });
  }

  function sentences({ data, now, slim, both }, x, out) {
    const encoder = now.tower === "enc";
    const say = (key, y, source, muted) =>
      text(key, x, y, source, { anchor: "start", size: 13, muted });
    const count = data.target.length;
    const runs = encoder ? "encoder**" : `decoder**, run ${now.turn + 1} of ${count}`;
    const written = data.written[clamp(now.turn + out, count)] || "…";
    return [
      (both || !out) && say("runs", 9, `**${runs}`),
      (both || (!slim && !out)) && [
        say("english", both ? 36 : 30, `in: **${data.sentence}**`, !encoder),
        say("french", both ? 58 : 49, `out: **${written}**`, encoder),
      ],
    ];
  }

  function best({ data, now, both }, x, room) {
    return data.top[now.turn].map(([word, chance], i) => {
      const y = both ? 90 + 20 * i : 8 + 15 * i;
      const bar = box(x + 76, y - 6, Math.max(1, chance * (room - 112)), 12);
      const look = { anchor: "end", strong: !i };
      return [
        text(`t${i}`, x + 70, y, bare(word), look),
        area(`b${i}`, bar, { concept: "ink", radius: 2, layer: 1, strength: i ? 0.6 : 1 }),
        text(`p${i}`, x + room, y, write(chance, chance < 0.01 ? 4 : 2), look),
      ];
    });
  }

  function head(view) {
    const { now, both, left, right, towers } = view;
    const x = both ? left : left + 64;
    const end = both ? towers.enc.x + towers.enc.w : right;
    const out = now.box === "out";
    return [
      !both && [glyph(view, "enc", 0), glyph(view, "dec", 32)],
      sentences(view, x, out),
      out && best(view, x, end - x),
    ];
  }

  return { encoder, decoder, weights, head };
});
