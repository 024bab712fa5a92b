// Where everything is: the model's attentions, their heads in small, one of them large, two lists.
nlp104.share("trained_heads", () => {
  // The attentions of the model, in two columns.
  function placeModel({ slim, narrow, layers }) {
    const low = slim ? 54 : 84;
    const boxHeight = slim ? 24 : 28;
    const gap = slim ? 4 : 7;
    const y = slim ? 4 : 20;
    return {
      y,
      boxWidth: narrow ? 48 : low,
      boxHeight,
      gap,
      between: slim ? 12 : 26,
      bottom: y + 2 * layers * (boxHeight + gap),
    };
  }

  // The heads of one attention, each above its switch.
  function placeHeads({ width, slim, heads }, { boxWidth, between }) {
    const gap = slim ? 6 : 14;
    const x = 2 * boxWidth + between + (slim ? 14 : 34);
    const y = 20;
    const w = (width - 2 - x - (heads - 1) * gap) / heads;
    const h = Math.min(w, 104);
    return { x, y, w, h, gap, switches: y + h + 6 };
  }

  // The chosen head: a row for each word that asks, a column for each that is looked at.
  function placeMap({ width, slim, narrow, rows, columns }, top) {
    const names = narrow ? 54 : 64;
    const x = names + 4;
    const room = slim ? width : width - 256;
    const high = slim ? 238 : 308;
    const free = slim ? 14 : 0; // for the last name, which is slanted
    const w = Math.min(slim ? 34 : 46, (room - x - free) / columns.length);
    const h = Math.min(slim ? 30 : 40, high / rows.length);
    return { names, x, y: top + 54, room, high, w, h, across: columns.length * w };
  }

  // The row in numbers, and the next word: side by side below the map, or one after the other.
  function placeLists({ width, slim, narrow }, map) {
    const most = slim ? 3 : 5;
    const x = slim ? 0 : map.room + 22;
    const y = slim ? map.y + map.high + 16 : map.y - 42;
    const w = slim ? (width - 14) / 2 : width - x;
    const low = slim ? 58 : 72;
    const looks = { x, y, w };
    const next = slim ? { x: w + 14, y, w } : { x, y: y + 60 + 26 * most, w };
    return { looks, next, most, pill: narrow ? 52 : low };
  }

  function layout(view) {
    const model = placeModel(view);
    const heads = placeHeads(view, model);
    const map = placeMap(view, Math.max(heads.switches + 26, model.bottom));
    const lists = placeLists(view, map);
    const end = lists.next.y + 92;
    const height = view.slim ? end : Math.max(map.y + map.high + 2, end);
    return { model, heads, map, lists, height };
  }
  return { layout };
});
