"""Translators in a page, and what a page's engine makes of them: shared by the tests of the web."""

import json

import numpy as np

from nlp104.translation import web

# What the tests call: the engine as a page uses it, and its pieces with nothing in between.
CALLS = """
const loaded = {}, packed = (name) => nlp104web.models[name];
function piecesOf(name) {
  return loaded[name] ??= {
    model: new nlp104web.Model(packed(name)),
    tokenizers: packed(name).tokenizers.map((one) => new nlp104web.Tokenizer(one)),
  };
}
const ended = (ids) => [...ids, 3];
function encode(name, side, texts) {
  const { tokenizers } = piecesOf(name), one = tokenizers[side] ?? tokenizers[0];
  return texts.map((text) => one.encode(text));
}
function decode(name, side, rows) {
  const { tokenizers } = piecesOf(name), one = tokenizers[side] ?? tokenizers[0];
  return rows.map((row) => one.decode(row));
}
// Teacher-forced: of every target the logits after each token, and all weights.
function logits(name, sources, targets, off = {}) {
  const { model } = piecesOf(name);
  return sources.map((source, i) => {
    const encoded = model.encode(source, off);
    let past = model.begin(), rows = [];
    for (const id of targets[i]) {
      const found = model.step(encoded, past, id);
      past = found.past;
      rows.push(Array.from(found.logits));
    }
    return rows;
  });
}
function search(name, texts, options) {
  const { model, tokenizers: [source, target = source] } = piecesOf(name);
  return texts.map((text) => {
    const ids = ended(source.encode(text));
    const steps = nlp104web.search(model, model.encode(ids), ids.length, options);
    for (;;) {
      const { value, done } = steps.next();
      if (done) return value.map(({ tokens, score }) => [target.decode(tokens), score]);
    }
  });
}
// Messages in, and all messages out, until one of these kinds has come for the last request.
function talk(port, messages, last = ["done", "refused"]) {
  return new Promise((done) => {
    const heard = [];
    port.onmessage = ({ data }) => {
      heard.push(data);
      if (last.includes(data.kind) && data.id === messages.at(-1).id) done(heard);
    };
    for (const message of messages) port.postMessage(message);
  });
}
const ports = {};
async function port(name) { // with its model loaded
  if (!ports[name]) {
    ports[name] = nlp104web.inline();
    await talk(ports[name], [{ kind: "load", model: packed(name) }], ["loaded"]);
  }
  return ports[name];
}
async function translate(name, request) {
  const defaults = { id: 1, alpha: 0.6, off: [], beams: 1 };
  return talk(await port(name), [{ kind: "translate", ...defaults, ...request }]);
}
function inWorker(text) {
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}
"""


def write_page(folder, **translators):
    """A page with the engine and packed translators: {name: (translator, bits)}."""
    scripts = [web.engine(), CALLS, f"const engineText = {json.dumps(web.engine())};"]
    for name, (translator, bits) in translators.items():
        scripts.append(web.pack(translator, name, ["en", "fr"], bits))
    for number, script in enumerate(scripts):
        (folder / f"{number}.js").write_text(script, encoding="utf-8")
    body = "".join(f'<script src="{number}.js"></script>' for number in range(len(scripts)))
    path = folder / "page.html"
    path.write_text(f'<!doctype html><meta charset="utf-8"><body>{body}', encoding="utf-8")
    return path


def ask(reader, name, *arguments):
    """What a function of the page returns, called by its name."""
    return reader.call(name, *arguments)


def unicode_texts(seed, count):
    """Texts of every kind of character, each of them so often that it can be learned."""
    rng = np.random.default_rng(seed)
    pools = [
        "abcdefgijlmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZſﬆßŉİıΣσς",
        "éèêàçœùïÉÈ\u0301\u0302\u0308\u0323\u0327",  # combining marks, to be composed or not
        "0123456789²³¹¼½¾٠١٢३४①⑳Ⅷ㊿",
        ".,;:!?…'’ʼ‘′\"«»“”()[]{}-–—_▁/\\@#%&*+=<>|~^`$€",
        "Ⓐⓩªºⅷ‿⁀﹏ﾞ",
        "中文日本語テストひらがな한국어각",
        "שלוםעולם\u05b7مرحبابالعالم\u064b\u200e\u202b",
        "😀👩\u200d👩\u200d👧🏳️\u200d🌈👍🏽🇫🇷\U0001d49c\U0001f1e6\U00020000",
        "".join(map(chr, [0, 1, 7, 8, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x7F, 0x80, 0x9F, 0xFFFD])),
        "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e",
    ]
    spaces = " " * 12 + "\t\n\r\v\f\x85\xa0\u1680\u2003\u2009\u2028\u2029\u202f\u205f\u3000"
    words = (
        "L'eau QU'il jusqu'à Lorsqu'on aujourd'hui p.m. A.B.C. 1,000.5 12:30 don't peut-être ... "
    )
    words += "\"oui\" ? [PAD] [UNK] [END] [START] s.v.p. it's l'_ d'1 x--y ''a -a- a_b"
    words = words.split()
    texts = []
    for _ in range(count):
        pieces = []
        for _ in range(rng.integers(0, 12)):
            if rng.random() < 0.4:
                pieces.append(words[rng.integers(len(words))])
            else:
                chosen = [pools[i] for i in rng.integers(0, len(pools), 2)]
                letters = [pool[rng.integers(len(pool))] for pool in chosen * rng.integers(1, 4)]
                pieces.append("".join(letters))
            if rng.random() < 0.7:
                pieces.append(
                    "".join(
                        spaces[i] for i in rng.integers(0, len(spaces), 1 + (rng.random() < 0.2))
                    )
                )
        texts.append("".join(pieces))
    return texts
