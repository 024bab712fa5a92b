// Positions as numbers, and what self-attention makes of words that carry them.
nlp104.share("positions", ({ sum, range, multiply, dot, softmax, most, write }) => {
  const TURN = 2 * Math.PI;
  const BITS = range(6);
  const strong = (x) => `**${write(x)}**`;

  // A clock with several hands: the sine and the cosine of each.
  const code = (position, speeds) =>
    speeds.flatMap((speed) => [Math.sin(position * speed), Math.cos(position * speed)]);
  const binary = (position) => BITS.map((bit) => (position >> bit) & 1);
  const flips = (position) => sum(binary(position ^ (position + 1)));
  const turned = (angle) =>
    angle < TURN ? `${write((angle * 360) / TURN, 1)}°` : `${write(angle / TURN, 1)} turns`;

  // Weights, and the output at each place.
  function attend({ vectors, kernels }, order, places) {
    const x = order.map((word, place) => vectors[word].map((value, j) => value + places[place][j]));
    const [queries, keys, values] = kernels.map((kernel) => multiply(x, kernel));
    const weights = queries.map((query) =>
      softmax(keys.map((key) => dot(query, key) / Math.sqrt(key.length))),
    );
    return { weights, outputs: multiply(weights, values) };
  }

  // The words in an order, the same words in the first order, and how far each output has moved.
  function compare(data, order, first, position, on) {
    const places = first.map((place) =>
      code(position + place, data.speeds).map((x) => (on ? x : 0)),
    );
    const { weights, outputs } = attend(data, order, places);
    const before = attend(data, first, places).outputs;
    const apart = outputs.map((row, place) => most(row.map((x, j) => x - before[order[place]][j])));
    return { places, weights, outputs, before, apart };
  }
  return { TURN, BITS, strong, code, binary, flips, turned, compare };
});
