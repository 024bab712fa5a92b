// A sentence goes up the encoder once, then up the decoder once for each word that is written.
nlp104.scene("machine", (data, { range, transpose, machine }) => {
  const { bare, clamp, countOf, weightsOf, layout } = machine;
  const { tower, memory, encoder, decoder, weights, head } = machine;
  const { steps, stack } = data;

  // Where the vectors are: at the step's box, or at the one that was tapped.
  function where({ step, open }) {
    const now = steps[step];
    const [tower, box] = open.split(":");
    if (tower === now.tower && stack[tower].includes(box)) return { ...now, box, open };
    return { ...now, open: open === "mem" ? open : "" };
  }

  // The last step of a turn that is not beyond a box.
  function find(turn, box) {
    const order = turn < 0 ? [...stack.enc, "mem"] : stack.dec;
    const own = (step) => step.turn === turn;
    const reached = ({ box: other }) => order.indexOf(other) <= order.indexOf(box);
    const last = steps.findLastIndex((step) => own(step) && reached(step));
    return last < 0 ? steps.findIndex(own) : last;
  }

  function draw(state, width) {
    const now = where(state);
    const follow = clamp(state.follow, data.source.length);
    const done = now.turn >= 0 || now.box === "mem"; // the encoder has been here
    const view = { data, now, follow, done, ...layout(data, width, now) };
    return {
      marks: [
        ...view.seen.map((name) => tower({ ...view, ...view.towers[name] })),
        memory(view),
        encoder(view),
        decoder(view),
        weights(view),
        head(view),
      ],
      height: view.depth,
      caption: data.about[now.open] ?? (Array.isArray(now.said) ? now.said[follow] : now.said),
      table: table(now),
      focus: focus(view),
    };
  }

  function focus({ now, shelf, towers }) {
    const { y, h } = now.box === "mem" ? shelf : towers[now.tower].rows[now.box];
    return now.box === "out" ? [0, y + h] : [y - 34, y + h + 30];
  }

  function table(now) {
    const { tower, box, turn } = now;
    const words = (tower === "enc" ? data.source : data.target).slice(0, countOf(data, now));
    const build = (caption, columns, values, rows = words) => ({
      ...{ caption, rows, columns },
      values: values.slice(0, rows.length),
    });
    if (box === "self" || box === "cross") {
      const columns = box === "self" ? words : data.source;
      return build("Attention weights", columns, weightsOf(data, now));
    }
    if (box === "tok") return build("Tokens", ["number"], transpose([data.ids[tower]]));
    if (box === "out") {
      const [names, chances] = transpose(data.top[turn]);
      return build("The next word", ["probability"], transpose([chances]), names);
    }
    const values = data.vectors[tower][box === "mem" ? "add2" : box];
    return build("Vectors", range(values[0].length, 1), values);
  }

  return {
    lead: "Step on, or tap a box or a word.",
    start: { follow: data.follow, open: "", step: steps.findIndex(({ box }) => box === "mem") },
    keep: ["follow"],
    chapters: steps.map(({ turn }) => (turn < 0 ? "read" : bare(data.next[turn]))),
    draw,
    pause: ({ step }) => (steps[step].turn > 0 ? 2200 : 3600),
    move: (state) => Object.assign(state, { open: "" }),
    press(state, [what, where, name]) {
      const { turn, box } = steps[state.step];
      if (what === "follow") state.follow = Number(where);
      else if (what === "turn") state.step = find(Number(where), box);
      else {
        state.open = name ? `${where}:${name}` : where;
        if (where !== "mem") state.step = find(where === "enc" ? -1 : Math.max(0, turn), name);
        else if (turn < 0) state.step = find(-1, "mem");
      }
    },
  };
});
