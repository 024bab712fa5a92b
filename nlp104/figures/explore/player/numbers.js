// Explorables. What the scripts of a figure share lies in `nlp104`; here are the numbers.
globalThis.nlp104 ??= {};
{
  const tidy = (x) => Math.round(x * 1e9) / 1e9 + 0; // no 0.30000000000000004, no −0
  const sum = (row) => row.reduce((total, x) => total + x, 0);
  const range = (count, start = 0) => Array.from({ length: count }, (_, i) => start + i);
  const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));
  const dot = (a, b) => tidy(sum(a.map((x, i) => x * b[i])));
  const multiply = (A, B) => {
    const columns = transpose(B);
    return A.map((row) => columns.map((column) => dot(row, column)));
  };
  const most = (A) => Math.max(1e-9, ...A.flat().filter(Number.isFinite).map(Math.abs));

  // A row in which nothing may be seen gives zeros, as nlp104.attention.masked_softmax does.
  const softmax = (row) => {
    const top = Math.max(...row);
    const powers = row.map((x) => (top === -Infinity ? 0 : Math.exp(x - top)));
    const total = sum(powers);
    return powers.map((x) => (total ? x / total : 0));
  };

  const write = (x, digits = 2) => {
    if (x === -Infinity) return "−∞";
    const text = Math.abs(x).toFixed(digits);
    return x < 0 && Number(text) !== 0 ? `−${text}` : text;
  };

  // Names in a row, each { left, long, want }: do two overlap, and where does one go, not further
  // than `far` from where it wants to be? Their margins may meet.
  const overlap = (a, b) => a.left + a.long > b.left + 4.01 && b.left + b.long > a.left + 4.01;
  const fit = ({ long, want }, taken, room, far) =>
    [want, ...taken.flatMap((other) => [other.left + other.long - 4, other.left + 4 - long])]
      .filter(
        (left) =>
          left >= 0 &&
          left + long <= room &&
          Math.abs(left - want) <= far &&
          !taken.some((other) => overlap({ left, long }, other)),
      )
      .sort((a, b) => Math.abs(a - want) - Math.abs(b - want))[0];

  const largest = (row) => row.indexOf(Math.max(...row));
  const exact = (x) => x.toLocaleString("en");
  const limit = (x, low, high) => Math.max(low, Math.min(high, x));
  const whole = (A) => A.flat().every((x) => !Number.isFinite(x) || Number.isInteger(tidy(x)));

  // What the files of one scene share: nlp104.share("machine", (nlp104) => ({ layout }));
  const share = (scene, build) => {
    nlp104[scene] = { ...nlp104[scene], ...build(nlp104) };
  };

  Object.assign(nlp104, {
    tidy,
    sum,
    range,
    transpose,
    dot,
    multiply,
    most,
    softmax,
    write,
    overlap,
    fit,
    limit,
    largest,
    exact,
    whole,
    share,
  });
}
