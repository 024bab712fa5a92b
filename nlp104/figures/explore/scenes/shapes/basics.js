// How numbers are written, and what the other files, run after this one, draw with.
nlp104.share("shapes", ({ sum, tidy, area }) => {
  const compact = (x) =>
    x
      .toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 })
      .replace("B", "G")
      .replace(/(?=[A-Z])/, " ");
  const short = (x, digits = 3) => tidy(+x.toPrecision(digits));
  const times = (x, digits) => (x < 1 ? `÷ ${short(1 / x, digits)}` : `× ${short(x, digits)}`);
  const total = (list, key) => sum(list.map((one) => one[key]));

  const block = (key, place, look) => area(key, place, { radius: 1, layer: 1, ...look });

  return { compact, short, times, total, block };
});
