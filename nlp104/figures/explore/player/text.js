// Explorables: text with **strong** words, [q|a concept's colour], formulas such as $W_Q$, $K^T$.
{
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const STRONG = /\*\*(.+?)\*\*/;
  const CONCEPT = /\[([qkvapr])\|([^\]]*)\]/;
  const FORMULA = /\$([^$]+)\$/;
  const SPECIAL = new RegExp([STRONG, CONCEPT, FORMULA].map(({ source }) => source).join("|"), "g");
  const PIECE = /([_^])?(\{[^}]*\}|[A-Za-z]|[^_^A-Za-z{]+)/g; // of a formula

  // The text in runs, each of one look: { text, strong, concept, maths, italic, shift }.
  const runs = (source, look = {}) => {
    const found = [];
    let place = 0;
    const plain = (end) => {
      if (end > place) found.push({ ...look, text: source.slice(place, end) });
    };
    for (const match of source.matchAll(SPECIAL)) {
      const [whole, strong, concept, inner, formula] = match;
      plain(match.index);
      if (strong) found.push(...runs(strong, { ...look, strong: true }));
      else if (concept) found.push(...runs(inner, { ...look, concept }));
      else found.push(...pieces(formula, look));
      place = match.index + whole.length;
    }
    plain(source.length);
    return found;
  };
  const pieces = (formula, look) =>
    [...formula.matchAll(PIECE)].map(([, shift, body]) => ({
      ...look,
      text: body.replace(/[{}]/g, ""),
      shift,
      maths: true,
      italic: /^[A-Za-z]$/.test(body),
    }));

  const SHIFTS = { _: "sub", "^": "sup" };
  const element = (name, html, names = "") =>
    `<${name}${names && ` class="${names}"`}>${html}</${name}>`;
  const written = (run) => {
    let html = escape(run.text);
    if (run.maths) html = element("i", html, run.italic ? "maths" : "maths up");
    if (run.shift) html = element(SHIFTS[run.shift], html);
    if (run.strong) html = element("b", html);
    return run.concept ? element("span", html, `t-${run.concept}`) : html;
  };
  const rich = (source) => runs(source).map(written).join("");
  const plain = (source) =>
    runs(source)
      .map(({ text }) => text)
      .join("");

  Object.assign(nlp104, { runs, rich, plain });
}
