// Where everything is: both stacks from the bottom up, and what of them can be pressed.
nlp104.share("wires", ({ box }) => {
  function measures(width) {
    const slim = width < 660;
    const span = Math.min(width, slim ? 460 : 820);
    const machineWidth = slim ? span : 0.57 * span; // the scores take what is left of it
    const lane = slim ? 13 : 17; // from the boxes to the skip connections beside them
    const margin = lane + 7;
    const between = slim ? Math.max(44, 0.15 * span) : 80;
    return {
      width,
      slim,
      span,
      left: (width - span) / 2,
      machineWidth,
      lane,
      margin,
      boxWidth: (machineWidth - 2 * margin - between) / 2,
      boxHeight: slim ? 20 : 24,
      gap: slim ? 7 : 9,
      radius: slim ? 5.5 : 6.5, // of the circle in which a sum is taken
      height: slim ? 374 : 494,
    };
  }

  // One stack: the encoder (0) or the decoder (1). `away` is the side of its skip connections.
  function tower(view, sublayers, index) {
    const { slim, left, machineWidth, margin, lane, boxWidth, boxHeight, gap, radius } = view;
    const name = index ? "d" : "e";
    const away = index ? 1 : -1;
    const x = left + (index ? machineWidth - margin - boxWidth / 2 : margin + boxWidth / 2);
    const start = view.height - 17;
    let y = start;
    const rise = (space, h = boxHeight) => {
      y -= h + space;
      return box(x - boxWidth / 2, y, boxWidth, h);
    };
    const embedding = slim ? undefined : rise(3); // a phone has room for wires only
    const position = rise(gap);
    const below = slim ? undefined : rise(gap);
    const foot = y - gap;
    y -= gap + 2;
    const layers = sublayers.map((sublayer, i) => {
      const branch = y - 5;
      const place = rise(12, boxHeight + (sublayer.mask ? 16 : 0));
      const sum = place.y - (slim ? 13 : 15);
      y = sum - radius;
      const norm = rise(4, boxHeight - 4);
      y -= gap - 2;
      return { ...sublayer, id: `${name}${i}`, branch, place, sum, norm };
    });
    y -= 3;
    const top = y;
    const last = rise(slim ? 8 : 12);
    const side = x + away * (boxWidth / 2 + lane);
    const boxes = { embedding, position, below, last };
    return { name, away, x, side, start, foot, top, layers, ...boxes };
  }

  // What can be pressed: a place, and around it what a finger may hit before the next begins.
  const REACH = { norm: [8, 4], pos: [4, 4] };
  function target(kind, place, says) {
    const [above, below] = REACH[kind] ?? [0, 8];
    const hit = box(place.x, place.y - above, place.w, place.h + above + below);
    return { kind, place, says, hit };
  }
  function layerTargets({ x, side }, { kind, place, says, mask, branch, sum, norm }) {
    const skip = {
      kind: "skip",
      place: box(Math.min(x, side) - 8, sum - 9, Math.abs(side - x) + 16, 17),
      says: `skip connection around ${says}`,
      hit: box(side - 10, sum - 9, 20, branch - sum + 9),
    };
    if (!mask) return [skip, target(kind, place, says), target("norm", norm, "normalise")];
    const picture = {
      kind: mask,
      place: box(place.x, place.y, place.h, place.h),
      says: `${mask === "pad" ? "padding" : "causal"} mask of ${says}`,
    };
    return [skip, { kind, place, says }, picture, target("norm", norm, "normalise")];
  }
  const towerTargets = (stack) => [
    target("pos", stack.position, "+ position"),
    ...stack.layers.flatMap((layer) => layerTargets(stack, layer)),
  ];

  // From the memory to the cross-attention: where the bridge leaves, bends and arrives.
  function bridgeBetween(memory, attention) {
    const x = memory.x + memory.w;
    return {
      x,
      y: memory.y + memory.h / 2,
      bend: (x + attention.x) / 2 + 4,
      toX: attention.x,
      toY: attention.y + attention.h / 2,
    };
  }
  const bridgeTarget = ({ x, y, toX, toY }) => ({
    kind: "bridge",
    place: box(x, Math.min(y, toY) - 10, toX - x, Math.abs(y - toY) + 20),
    says: "bridge from the memory to cross-attention",
  });

  function layout(view, stacks) {
    const [encoder, decoder] = stacks.map((sublayers, index) => tower(view, sublayers, index));
    const crossing = decoder.layers.find(({ kind }) => kind === "bridge");
    const bridge = bridgeBetween(encoder.last, crossing.place);
    encoder.targets = [...towerTargets(encoder), bridgeTarget(bridge)];
    decoder.targets = towerTargets(decoder);
    return { encoder, decoder, bridge };
  }
  return { measures, layout };
});
