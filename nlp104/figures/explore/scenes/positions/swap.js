// Words to swap: their vectors below them, attention, and the outputs, beside those of before.
nlp104.share("positions", ({ most, label, token, line, matrix }) => {
  const put = (key, x, y, source, look) =>
    label(key, x, y, source, { size: 12, anchor: "middle", ...look });

  // A vector as a column of cells.
  const column = (view, key, values, x, y, look) =>
    matrix(
      key,
      values.map((value) => [value]),
      { x, y, w: view.w, h: 24, max: view.max, digits: 2, size: 12, ...look },
    );

  function pill({ data, order, pick }, place, x) {
    const word = order[place];
    const name = data.words[word];
    const chosen = word === pick;
    return token(
      `word${word}`,
      { x: x - 40, y: 0, w: 80, h: 40 },
      {
        word: name,
        chosen,
        act: `word:${word}`,
        at: `w:0:${place}`,
        first: !place,
        pressed: chosen,
        says: `Swap ${name}`,
      },
    );
  }

  // What goes in: the word, and the code of its position beside it.
  function input(view, place, x) {
    const { data, order, position, on, places, w } = view;
    const word = order[place];
    const vector = data.vectors[word];
    const title = `position ${position + place}`;
    if (!on)
      return [
        put(`place${place}`, x, 51, title, { muted: true }),
        column(view, `x${word}`, vector, x - w / 2, 62),
      ];
    return [
      put(`place${place}`, x + w / 3, 51, title, { concept: "p" }),
      column(view, `x${word}`, vector, x - w - 6, 62),
      column(view, `p${place}`, places[place], x + 6, 62, { concept: "p" }),
      put(`plus${place}`, x, 110, "+"),
    ];
  }

  // What comes out: once words were swapped, beside what came out before.
  function output(view, place, x) {
    const { strong } = nlp104.positions;
    const { order, moved, outputs, before, apart, w } = view;
    const word = order[place];
    const left = moved ? x - w - 6 : x - w / 2;
    const marks = [
      column(view, `o${word}`, outputs[place], left, 262, { concept: "v" }),
      put(`now${word}`, left + w / 2, 370, "output"),
    ];
    if (!moved) return marks;
    return [
      ...marks,
      column(view, `b${word}`, before[word], x + 6, 262, { concept: "v", faint: true }),
      put(`was${word}`, x + 6 + w / 2, 370, "before", { muted: true }),
      put(`d${word}`, x, 394, `differ by ${strong(apart[place])}`, { size: 13 }),
    ];
  }

  function attention({ order, weights, pitch }, place, x) {
    return weights[place].map((weight, from) => {
      const far = (place - from) * pitch;
      return line(`a${order},${place},${from}`, `M${x - far} 164c0 44 ${far} 48 ${far} 92`, {
        concept: "a",
        width: 0.4 + 9 * weight,
      });
    });
  }

  function caption({ data, order, names, moved, position, on, pick, apart }) {
    const { strong } = nlp104.positions;
    if (order.includes(pick))
      return `**${data.words[pick]}** is chosen. Tap the word to swap it with.`;
    if (!moved) {
      const places = names.map((name, place) => `**${name}** at ${position + place}`).join(", ");
      const told = on
        ? "the [p|code of its position] is added to each word"
        : "attention is not told";
      return `${places}: ${told}. Tap two words to swap them: whose output will change?`;
    }
    const said = `“${names.join(" ")}”`;
    if (on)
      return (
        `${said}: the words moved, the [p|positions] stayed, and every output has changed, ` +
        `by at least ${strong(Math.min(...apart))}. Order is back.`
      );
    return (
      `${said}: every output moved along with its word, and none has changed. ` +
      `Largest difference: ${strong(Math.max(...apart))}. Now switch positions on.`
    );
  }

  function swap(data, { step: position, on, pick }, order, first, width) {
    const compared = nlp104.positions.compare(data, order, first, position, on);
    const pitch = width / 3;
    const view = {
      data,
      position,
      on,
      pick,
      order,
      ...compared,
      names: order.map((word) => data.words[word]),
      moved: order !== first,
      pitch,
      w: Math.min(60, pitch / 2 - 12),
      max: most([...data.vectors, ...compared.before]),
    };
    const words = order.map((_, place) => {
      const x = (place + 0.5) * pitch;
      return [pill, input, output, attention].map((part) => part(view, place, x));
    });
    const name = put("a", 10, 210, "attention", { concept: "a", slant: -90 });
    return {
      marks: [words, name],
      height: 404,
      caption: caption(view),
      table: {
        caption: `Outputs of “${view.names.join(" ")}”`,
        rows: view.names,
        columns: ["1", "2", "3", "4", "difference"],
        values: view.outputs.map((row, place) => [...row, view.apart[place]]),
      },
    };
  }
  return { put, swap };
});
