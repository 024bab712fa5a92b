// The names of the versions, what is said of each of them, and their equations.
nlp104.share("evolution", ({ write }) => {
  const NAMES = [
    "V0 additive",
    "V1 dot product",
    "V2 scaled",
    "V3 many queries",
    "V4 cross-attention",
    "V5 self-attention",
    "V6 multi-head",
  ];

  // Version 5 can tell what it is, not yet who.
  function selfAttention({ ending, row, it }, name, most) {
    if (row !== it) return `Every word asks for itself: ${name} looks most at ${most}.`;
    const pair = ending === "wide" ? "is a place: street or bridge" : "lives: animal or dog";
    return (
      `Every word asks for itself. **it** looks for an adjective and finds ${most}. ` +
      `Now it knows that it ${pair}? The two nearly tie.`
    );
  }

  function multiHead({ nouns, head, row, it, poll }, name, most) {
    if (row !== it) return `In head ${head + 1} ${name} looks most at ${most}.`;
    const noun = nouns[poll.sums.indexOf(poll.most)];
    return (
      "Two questions at once. Head 1 asks for an adjective, head 2 for the nouns of the " +
      "sentence, and $W_O$ adds up their votes: **it** is the " +
      `**${noun}**, which has most of them ([v|**${write(poll.most)}**]).`
    );
  }

  function caption(view) {
    const { step, ending, words, rows, row, looked } = view;
    const name = `**${rows[row].replace("?", "")}**`;
    const top = Math.max(...looked.A[row]);
    const word = `**${words[looked.A[row].indexOf(top)]}**`;
    const weight = `[a|**${write(top)}**]`;
    const asked = ending === "wide" ? "streets and bridges" : "animals and dogs";
    const said = [
      `Somebody outside asks: what here can be ${name}? A small network scores every word, ` +
        `and the answer is their mean. It finds ${word} (${weight}), but only because the ` +
        `question itself asks for ${asked}.`,
      "A score is a dot product now: nothing to learn, one multiplication. The numbers of the " +
        `question are as large as 8, so it is all or nothing: ${weight} for ${word}.`,
      `Divided by √8 the scores are calmer: ${word} gets ${weight}, the others keep a share, ` +
        "and a mistake can still be mended.",
      "A matrix of queries: both questions are answered by one product, and no row notices the " +
        "other. Still they come from outside.",
      "Words are found by one view of them, the [k|key], and hand over another, the [v|value]. " +
        "What comes out are no inputs any more, but votes.",
      selfAttention(view, name, `${word} (${weight})`),
      multiHead(view, name, `${word} (${weight})`),
    ];
    return `**${NAMES[step]}.** ${said[step]}`;
  }

  // One equation for each version; what is new stands out.
  const fresh = (html, concept) => {
    const colours = `--concept:var(--${concept});--concept-ink:var(--${concept}-ink)`;
    return `<span class="fresh" style="${colours}">${html}</span>`;
  };
  const up = (name) => `<span class="up">${name}</span>`;
  const soft = (html) => `${up("softmax")}( ${html} ) `;
  const root = (width) => `√<span class="root">${width}</span>`;
  const ROOT = root("d");
  const ROOT_K = `<span>${root("d<sub>k</sub>")}</span>`; // keys may be narrower than X
  const over = (html, root = `<span>${ROOT}</span>`) =>
    `<span class="over"><span>${html}</span>${root}</span>`;
  const K = "K<sup>⊤</sup>";
  const X = "X<sup>⊤</sup>";
  const additive = `${up("tanh")}(qW<sub>q</sub> + XW<sub>x</sub>) w`;
  const [one, two] = [1, 2].map((h) => `${fresh(`Y<sub>${h}</sub>`, "v")} W<sub>O${h}</sub>`);
  const EQUATIONS = [
    `y = ${soft(fresh(additive, "a"))} X`,
    `y = ${soft(fresh(`q ${X}`, "a"))} X`,
    `y = ${soft(over(`q ${X}`, fresh(ROOT, "a")))} X`,
    `Y = ${soft(over(`${fresh("Q", "q")} ${X}`))} X`,
    `Y = ${soft(over(`Q ${fresh(K, "k")}`, ROOT_K))} ${fresh("V", "v")}`,
    `Y = ${soft(over(`${fresh("X W<sub>Q</sub>", "q")} ${K}`, ROOT_K))} V`,
    `Y = ${one} + ${two}`,
  ];

  return { NAMES, EQUATIONS, caption };
});
