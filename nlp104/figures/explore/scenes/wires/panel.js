// Beside the machine: what is lit, what each model scores, and how it translates.
nlp104.share("wires", ({ range, plain, write, box, area, label, note, token }) => {
  // Words in lines of so many letters.
  const fold = (text, room) =>
    text.split(" ").reduce(
      (lines, word) => {
        const longer = `${lines.at(-1)} ${word}`.trim();
        return plain(longer).length > room ? [...lines, word] : [...lines.slice(0, -1), longer];
      },
      [""],
    );

  // The kind that is lit, in a few words, and the button that pulls it out.
  function notes(view) {
    const { data, slim, left, kind, number, pulled } = view;
    if (!kind) return [heading(view, "all wires in"), remarks(view, data.notes)];
    const lines = pulled ? kind.score : kind.short;
    const y = (slim ? 27 : 31) + 16 * lines.length;
    const pull = token("pull", box(left, y, 118, slim ? 32 : 34), {
      word: pulled ? "put back in" : "pull out",
      chosen: !pulled,
      ...view.button(number, "pull:0:0", true),
      pressed: pulled,
      says: `${pulled ? "Put back in" : "Pull out"}: ${kind.name}`,
    });
    return [heading(view, kind.name), remarks(view, lines), pull];
  }
  function heading({ slim, left, kind }, text) {
    const concept = kind && kind.concept !== "r" ? kind.concept : undefined;
    return label("name", left, 10, text, { size: slim ? 15 : 17, strong: true, concept });
  }
  const remarks = ({ left }, lines) =>
    lines.map((text, i) => note(`note${i}`, left, 31 + 16 * i, text, { muted: true }));

  // Where the scores are, the chips and the translations: beside the machine; where there is
  // little room, below it, and then what is heard comes first.
  function panel({ data, slim, span, left, machineWidth, height, width }) {
    const x = slim ? left : left + machineWidth + 24;
    const wide = left + span - x;
    const [pitch, high] = slim ? [18, 32] : [28, 28];
    const said = 16 * (width < 340 ? 7 : 6); // pixels of the translations
    const rows = 22 + data.rows.length * pitch + 16;
    const chips = slim ? height + 6 : 10 + rows;
    const texts = chips + high + 14;
    const y = slim ? texts + said + 6 : 10;
    return {
      x,
      y,
      chips,
      high,
      texts,
      bottom: slim ? y + rows : texts + said + 2,
      wide,
      pitch,
      bars: x + 100,
      track: wide - 200,
      right: x + wide - 52,
      loss: x + wide,
    };
  }

  // A bar for the mean, a tick for right words, and a dot for each run.
  function bars(view, at, row, i, middle) {
    const { right, mean } = row;
    const bar = (key, percent, w, h, look) => {
      const place = box(at.bars + (at.track * percent) / 100, middle - h / 2, w, h);
      return area(`${key}${i}`, place, { radius: 3, ...look });
    };
    const high = view.slim ? 14 : 16;
    const track = bar("track", 0, at.track, high, { strength: 0.08 });
    if (!view.known(i)) return [track];
    const dots = right.map((percent, run) => {
      const x = at.bars + (at.track * percent) / 100;
      const y = middle - 2.5 + 5 * (run - (view.runs - 1) / 2);
      const look = { concept: "ink", radius: 2.5, layer: 1 };
      return area(`dot${i},${run}`, box(x - 2.5, y, 5, 5), look);
    });
    return [
      track,
      bar("bar", 0, Math.max(1, (at.track * mean[0]) / 100), high, { strength: 0.32 }),
      bar("words", mean[1], 2, high + 4, { concept: "edge", radius: 1, layer: 1 }),
      dots,
    ];
  }

  function score(view, at, row, i) {
    const { title, says, mean } = row;
    const y = at.y + 10 + i * at.pitch;
    const middle = y + at.pitch / 2;
    const here = i === view.number;
    const known = view.known(i);
    const [percent, loss] = known ? [write(mean[0], 1), write(mean[3], 3)] : ["?", "?"];
    const look = { anchor: "end", strong: here, muted: !known };
    const place = box(at.x - 4, y, at.wide + 8, at.pitch);
    return [
      here ? [area("row", place, { strength: 0.13 })] : [],
      note(`r${i}`, at.x, middle, title, { strong: here, muted: !here }),
      bars(view, at, row, i, middle),
      note(`right${i}`, at.right, middle, percent, look),
      note(`loss${i}`, at.loss, middle, loss, look),
      area(`press ${i}`, place, {
        strength: 0,
        layer: 1,
        ...view.button(i, `l:${i}:0`, here),
        says: known ? `${says}: ${percent} percent right, loss ${loss}` : says,
      }),
    ];
  }

  function scores(view, at) {
    const { rows, legend } = view.data;
    const end = { anchor: "end", muted: true };
    const foot = at.y + 22 + rows.length * at.pitch;
    return [
      note("head", at.x, at.y, "pulled", { muted: true }),
      note("right", at.right, at.y, "right %", end),
      note("loss", at.loss, at.y, "loss", end),
      rows.map((row, i) => score(view, at, row, i)),
      note("legend", at.x, foot, legend, { muted: true }),
    ];
  }

  // Which sentence, and by which of the runs: chips with numbers.
  function chips(view, what, { x, y, first, pitch, high, count, says }) {
    const chosen = view[what];
    const name = note(what, x, y + high / 2, what, { muted: true });
    const numbers = range(count).map((i) =>
      token(`${what}${i}`, box(first + i * pitch, y, pitch - 4, high), {
        word: `${i + 1}`,
        size: 13,
        chosen: i === chosen,
        act: `${what}:${i}`,
        at: `${what}:0:${i}`,
        first: i === chosen,
        pressed: i === chosen,
        says: says(i),
      }),
    );
    return [name, numbers];
  }
  function choices(view, at) {
    const { data, run, runs, number, pulled } = view;
    const { sources, said } = data;
    const pitch = Math.min(38, at.wide / 10);
    const without = (i) => (pulled ? ` Pulled: ${plain(said[number][run][i])}` : "");
    const sentence = (i) =>
      `sentence ${i + 1}: ${sources[i]} All wires in: ${said[0][run][i]}${without(i)}`;
    const right = at.x + (at.wide - runs * pitch - 34);
    const row = { y: at.chips, pitch, high: at.high };
    return [
      chips(view, "sentence", {
        ...row,
        x: at.x,
        first: at.x + 64,
        count: sources.length,
        says: sentence,
      }),
      chips(view, "run", {
        ...row,
        x: right,
        first: right + 34,
        count: runs,
        says: (i) => `run ${i + 1}`,
      }),
    ];
  }

  // The sentence, its translation by the whole machine, and by the one without the wire.
  function translations(view, at) {
    const { data, number, pulled, run, sentence } = view;
    const { sources, said } = data;
    const unknown = number ? "?" : "nothing yet";
    const room = (at.wide - 56) / 6.9; // letters
    const lines = [
      ["English", sources[sentence]],
      ["all in", plain(said[0][run][sentence])],
      ["pulled", pulled ? said[number][run][sentence] : unknown],
    ];
    let y = at.texts;
    return lines.map(([who, text], place) => {
      const name = text ? [note(who, at.x, y, who, { muted: true })] : [];
      const pieces = fold(text, room).slice(0, 3);
      const look = { muted: !place, size: 12.5 };
      const words = pieces.map((piece, i) =>
        note(`${who}${i}`, at.x + 56, y + 16 * i, piece, look),
      );
      y += 16 * (pieces.length - 1) + 21;
      return [name, words];
    });
  }

  // All of it, and where it ends.
  function beside(view) {
    const at = panel(view);
    return {
      marks: [notes(view), scores(view, at), choices(view, at), translations(view, at)],
      bottom: at.bottom,
    };
  }
  return { beside };
});
