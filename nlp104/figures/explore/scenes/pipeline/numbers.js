// What the one matrix holds at each stage, what of it is followed, and how numbers are written.
nlp104.share(
  "pipeline",
  ({ multiply, transpose, softmax, whole, write, range, sum, limit, largest }) => {
    const TITLES = ["QKV", "QKᵀ", "÷√d", "+M", "eˣ", "÷ sum", "×V", "all"];
    const [, DOT, SCALE, MASK, EXP, NORM, MIX, ALL] = range(TITLES.length);
    const STAGES = { DOT, SCALE, MASK, EXP, NORM, MIX, ALL };
    const change = (A, of) => A.map((row, i) => row.map((x, k) => of(x, i, k)));

    // What no state changes. Up to five rows are divided by their sums one by one, up to `turn`.
    function describe(data) {
      const count = data.rows.length;
      const canMask = Object.keys(data.masks).length > 0;
      const depth = data.heads[0].query[0].length;
      const steps = range(TITLES.length)
        .filter((at) => canMask || at !== MASK)
        .flatMap((at) => {
          if (at === NORM && count <= 5) return range(count).map((turn) => ({ at, turn }));
          return { at, turn: count };
        });
      const valueSize = data.heads[0].value[0].length;
      return { ...data, canMask, depth, valueSize, root: Math.sqrt(depth), steps };
    }

    function compute(figure, state) {
      const { query, key, value } = figure.heads[state.head] ?? figure.heads[0];
      const dots = multiply(query, transpose(key));
      const seen = figure.masks[state.mask] ?? figure.masks.none ?? change(dots, () => 1);
      const scaled = change(dots, (x) => x / (state.scale ? figure.root : 1));
      const masked = change(scaled, (x, i, k) => (seen[i][k] ? x : -Infinity));
      const powers = change(masked, (x) => Math.exp(Math.min(x, 700)));
      const sums = powers.map(sum);
      const weights = masked.map(softmax);
      const output = multiply(weights, value);
      const stages = [dots, dots, scaled, masked, powers, weights];
      return {
        query,
        key,
        value,
        seen,
        dots,
        scaled,
        masked,
        powers,
        sums,
        weights,
        output,
        stages,
      };
    }

    // One row, a score and an output in it (the largest until the reader chooses), and which of the
    // two is open: written out, product by product.
    function follow(figure, state, { at, dots, weights, output }) {
      const pick = (x, count) => limit(x | 0, 0, count - 1);
      const chosen = (k, values) => (k < 0 ? largest(values) : pick(k, values.length));
      const row = pick(state.row, figure.rows.length);
      const possible = [at >= DOT && "score", at >= MIX && "output"];
      const own = { [DOT]: "score", [MIX]: "output" }[at];
      const open = possible.find((what) => what === state.open) ?? own;
      const both = !at || at === ALL;
      return {
        row,
        word: figure.rows[row],
        score: chosen(state.score, dots[row]),
        column: chosen(state.output, output[row]),
        best: largest(weights[row]),
        open,
        pairs: open ? open === "score" : both, // are Q and K in use,
        mixes: open ? open === "output" : both, // is V?
      };
    }

    function look(figure, state) {
      const { at, turn } = figure.steps[state.step];
      const numbers = compute(figure, state);
      return {
        ...figure,
        state,
        at,
        turn,
        late: at >= EXP,
        mixing: at >= MIX,
        stageOf: (i) => (at > EXP && i <= turn ? NORM : Math.min(at, EXP)),
        ...numbers,
        ...follow(figure, state, { at, ...numbers }),
      };
    }

    // ---------- as text ----------
    const places = (A) => {
      if (whole(A)) return 0;
      return whole(change(A, (x) => 10 * x)) ? 1 : 2;
    };
    const raised = (x) => {
      const [number, exponent] = x.toExponential(2).split("e+");
      return `${number}·10${[...exponent].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
    };
    // A power of e: 2.85·10⁶ if `fine` is 3, else 3e6.
    const power = (x, fine = 3) => {
      if (!x) return "0";
      if (x < 10) return write(x, Math.min(2, fine));
      if (x < (fine > 1 ? 1e4 : 1e3)) return write(x, x < 100 ? 1 : 0);
      if (fine > 2 && x < 1e10) return raised(x);
      return x.toExponential(0).replace("+", "");
    };
    // The width in a wide font; a bold one takes 7 % more.
    const em = (text) => 0.64 * text.length - 0.32 * text.includes(".") + 0.2 * text.includes("−");
    const fits = (A, digits, size, width) =>
      A.flat().every((x) => !Number.isFinite(x) || em(write(x, digits)) * size < width - 1);
    // The number (i, k) at a stage, as it fits a cell of the matrix.
    function cellText({ dots, scaled, stages, seen, size, scoreWidth }, stage, i, k) {
      const narrow = scoreWidth < 29 ? 1 : 2;
      const fine = scoreWidth < 5 * size ? narrow : 3;
      const x = stages[stage][i][k];
      if (stage === EXP) return power(x, fine);
      if (stage === NORM) return seen[i][k] ? write(x, Math.min(2, fine)) : "0";
      const scores = stage < SCALE ? dots : scaled;
      const readable = (digits) =>
        digits <= places(scores) && fits(scores, digits, size, 0.93 * scoreWidth);
      return write(x, [2, 1].find(readable) ?? 0);
    }

    return { STAGES, TITLES, describe, look, places, power, fits, cellText };
  },
);
