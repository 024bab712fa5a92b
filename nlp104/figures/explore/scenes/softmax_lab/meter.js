// Below the bars: among how many words the softmax chooses, and how steep it is.
nlp104.share("softmax_lab", ({ range, write, area }) => {
  const GAP = 6;

  // A field for each word, filled as far as words share the weight.
  function meter(view) {
    const { text, small } = nlp104.softmax_lab;
    const { slim, width, count, measured, meterAt } = view;
    const [entropy, , slope] = measured;
    const among = 2 ** entropy;
    const { y, fields, height } = meterAt;
    const wide = (width - (count - 1) * GAP) / count;
    const look = { size: slim ? 14 : 15 };
    const steepest = `${slim ? "" : "steepest "}slope **${small(slope)}**`;
    return [
      text(view, "among", 0, y, `like choosing among **${write(among, 1)}** words`, look),
      text(view, "slope", width, y, steepest, { ...look, anchor: "end" }),
      range(count).map((i) => {
        const place = { x: i * (wide + GAP), y: fields, w: wide, h: height };
        const part = Math.max(0, Math.min(1, among - i));
        return [
          area(`c${i}`, place, { strength: 0.12, radius: 4 }),
          area(`m${i}`, { ...place, w: part * wide }, { concept: "a", strength: 0.85, radius: 4 }),
        ];
      }),
    ];
  }

  return { meter };
});
