// A sentence to token ids, and back: what nlp104.data.Tokenizer does, in JavaScript.
// Classic scripts without imports: they run in a page opened from a disk, in a worker, and in Node.
globalThis.nlp104web ??= {};

nlp104web.Tokenizer = (() => {
  "use strict";
  const UNKNOWN = 1;
  const END = 3; // 0 is [PAD], 2 is [START]

  // \w of the library behind the Python tokenizer. JavaScript's own \w and \b know ASCII only.
  const WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}²³¹¼½¾]";
  const NOT_WORD = WORD.replace("[", "[^");
  const SPACE = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
  const NOT_SPACE = SPACE.replace("[", "[^");
  const pattern = (text) => new RegExp(text, "gu");

  // Of words: the first alternative that matches counts, see nlp104/data/word_spacing.py.
  const caseless = (word) =>
    word.replace(/[a-z]/g, (x) => `[${x}${x.toUpperCase()}${x === "s" ? "ſ" : ""}]`);
  const CLITICS = ["jusqu", "lorsqu", "puisqu", "quoiqu", "qu"].map(caseless).join("|");
  const WORDS = pattern(
    [
      `(?<!${WORD})(?:[cdjlmnstCDJLMNSTſ]|${CLITICS})'(?=${WORD})`, // l'
      `(?<!${WORD})(?:(?![\\p{Nd}_])${WORD}\\.){2,}`, // p.m.
      "\\p{Nd}+(?:[.,:]\\p{Nd}+)+", // 1,000.5
      `${WORD}+(?:['-]${WORD}+)*`, // don't, peut-être
      "\\.{2,}",
      NOT_WORD.replace("[^", `[^${SPACE.slice(1, -1)}`), // any other sign
    ].join("|"),
  );

  // Of sub-words: ▁ stands for the space before a word, and every sign is a piece of its own.
  const PIECES = pattern("▁?[^\\p{L}\\p{M}\\p{N}▁'-]|▁?[\\p{L}\\p{M}\\p{N}'-]+");

  function normalize(text, kind, lowercase) {
    // Letter by letter: the Greek Σ is σ at the end of a word, too.
    const lower = (text) => (lowercase ? Array.from(text, (x) => x.toLowerCase()).join("") : text);
    if (kind === "whitespace") {
      const special = pattern(`(?<!${NOT_SPACE})\\[(?:PAD|START|END)\\](?!${NOT_SPACE})`);
      return lower(text).replace(special, "[UNK]"); // a text that spells "[PAD]" holds no padding
    }
    text = text
      .replace(/[\u200b\u200c\u200d\u2060\ufeff\u00ad]/g, "")
      .replace(/[\u2018\u2019\u02bc\u2032]/g, "'")
      .replace(/▁/g, "_"); // which marks a space inside sub-word tokens
    return lower(text)
      .normalize("NFC")
      .replace(pattern(`[\\x1c-\\x1f${SPACE.slice(1)}+`), " ")
      .replace(/^ | $/g, "");
  }

  class Tokenizer {
    /** Of what nlp104.translation.web.pack has written about a tokenizer. */
    constructor({ kind, lowercase, vocabulary, merges, touchesLeft, touchesRight }) {
      Object.assign(this, { kind, lowercase });
      this.vocabulary = vocabulary.split(" ");
      this.ids = new Map(this.vocabulary.map((token, id) => [token, id]));
      this.ranks = new Map(merges && merges.split("\n").map((pair, rank) => [pair, rank]));
      this.touchesLeft = new Set(touchesLeft);
      this.touchesRight = new Set(touchesRight);
    }

    /** The ids of the tokens of a sentence, without [END]. */
    encode(text) {
      text = normalize(text, this.kind, this.lowercase);
      let tokens;
      if (this.kind === "word") tokens = text.match(WORDS);
      else if (this.kind === "whitespace") tokens = text.match(pattern(`${NOT_SPACE}+`));
      else if (text)
        tokens = `▁${text.replaceAll(" ", "▁")}`
          .match(PIECES)
          .flatMap((piece) => this.split(piece));
      return (tokens ?? []).map((token) => this.ids.get(token) ?? UNKNOWN);
    }

    /** Byte-pair encoding: of all neighbours the pair that was learned first is joined, until none
        is known. */
    split(piece) {
      const parts = Array.from(piece, (x) => (this.ids.has(x) ? x : "[UNK]"));
      for (;;) {
        let best = Infinity;
        let at = -1;
        for (let i = 0; i + 1 < parts.length; i++) {
          const rank = this.ranks.get(`${parts[i]} ${parts[i + 1]}`);
          if (rank < best) [best, at] = [rank, i];
        }
        if (at < 0) return parts;
        parts.splice(at, 2, parts[at] + parts[at + 1]);
      }
    }

    /** The sentence that ids stand for, up to [END]. */
    decode(ids) {
      const end = ids.indexOf(END);
      const tokens = [];
      for (const id of end < 0 ? ids : ids.slice(0, end))
        if (id === UNKNOWN || id > END) tokens.push(this.vocabulary[id]);
      if (this.kind === "bpe") return tokens.join("").replaceAll("▁", " ").replace(/^ /, "");
      if (this.kind === "whitespace") return tokens.join(" ");
      const text = tokens
        .map((token) => {
          return (
            (this.touchesLeft.has(token) ? "" : " ") +
            token +
            (this.touchesRight.has(token) ? "\n" : "")
          );
        })
        .join(""); // "\n": no space here
      // A quotation mark opens: it touches the next word. Of two, the second closes.
      return text
        .replace(/("\n[^"]*) "\n/g, '$1"')
        .replace(/\n ?/g, "")
        .replace(/^ /, "");
    }
  }

  return Tokenizer;
})();
