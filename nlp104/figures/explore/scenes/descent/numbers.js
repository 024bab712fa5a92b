// Both walks down (x² + s y²) / 2, from the first place on.
nlp104.share("descent", ({ range }) => {
  const loss = ([x, y], steep) => (x * x + steep * y * y) / 2;

  function plain({ start, steps }, rate, steep) {
    const path = [start];
    for (const t of range(steps)) {
      const [x, y] = path[t];
      path.push([x - rate * x, y - rate * steep * y]);
    }
    return path;
  }

  function adam({ start, steps, betas, epsilon }, rate, steep) {
    const [b1, b2] = betas;
    const path = [start];
    const m = [0, 0];
    const v = [0, 0];
    for (const t of range(steps)) {
      const place = path[t].map((at, i) => {
        const gradient = at * (i ? steep : 1);
        m[i] = b1 * m[i] + (1 - b1) * gradient;
        v[i] = b2 * v[i] + (1 - b2) * gradient * gradient;
        const [mean, square] = [m[i] / (1 - b1 ** (t + 1)), v[i] / (1 - b2 ** (t + 1))];
        return at - (rate * mean) / (Math.sqrt(square) + epsilon);
      });
      path.push(place);
    }
    return path;
  }

  return { loss, plain, adam };
});
