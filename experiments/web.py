"""Does the translator in a page write what the package's writes?

    python -m experiments.web --data fra.txt

translates the test part of the corpus of the model eng-fra with its weights of 16 bits and, packed
for a page, of 8 and 6; in Keras, and with 6 bits in the page's own JavaScript, which Node runs.
It writes ``results/web/eng-fra.json``. A source with several translations in the test part counts
once, and each of them is right.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from experiments import records
from nlp104.data.corpus import load_corpus
from nlp104.translation import web
from nlp104.translation.evaluation import bleu, exact_match
from nlp104.translation.pretrained import load_pretrained

NAME = "eng-fra"
SEARCHES = {"greedy": 1, "beam 4": 4}
TRANSLATE = """
const { model, beams, sentences } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { tokenizers, ...weights } = nlp104web.models[model];
const read = new nlp104web.Model(weights);
const [source, target = source] = tokenizers.map((one) => new nlp104web.Tokenizer(one));
console.log(JSON.stringify(sentences.map((sentence) => {
  const ids = [...source.encode(sentence), 3];
  const steps = nlp104web.search(read, read.encode(ids), ids.length, { beams });
  for (;;) {
    const { value, done } = steps.next();
    if (done) return target.decode(value[0].tokens);
  }
})));
"""


def in_javascript(translator, sentences, beams):
    """Translations of the page's engine, in Node."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "translate.js"
        script.write_text(web.engine() + web.pack(translator, NAME) + TRANSLATE, encoding="utf-8")
        request = json.dumps({"model": NAME, "beams": beams, "sentences": sentences})
        command = ["node", str(script)]
        done = subprocess.run(command, input=request, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def same(translations, others):
    """How many of the translations are equal, letter by letter."""
    return sum(a == b for a, b in zip(translations, others, strict=True))


def compare(data, seed, limit=None):
    """Translate the test part with every kind of weights and count.

    Args:
        data: As of `nlp104.data.corpus.load_corpus`.
        seed: That of the split with which the model was trained.
        limit: How many sentences to translate; all if left out.

    Returns:
        A dictionary that JSON can hold.
    """
    pairs = load_corpus(data, seed=seed).references("test")[:limit]
    sources, references = map(list, zip(*pairs, strict=True))
    stored = load_pretrained(NAME)
    found = {"sentences": len(sources), "bytes": {}, "searches": {}}
    keras = {"16 bits": stored}
    for bits in web.BITS:
        text = web.pack(stored, NAME, bits=bits).encode()
        found["bytes"][f"{bits} bits"] = {"script": len(text), "gzip": len(gzip.compress(text))}
        keras[f"{bits} bits"] = web.rounded(stored, bits)
    for search, beams in SEARCHES.items():
        written = {
            weights: translator.translate(sources, batch_size=64, num_beams=beams)
            for weights, translator in keras.items()
        }
        written["6 bits, JavaScript"] = in_javascript(stored, sources, beams)
        found["searches"][search] = {
            weights: {
                "bleu": bleu(translations, references).score,
                "exact_match": exact_match(translations, references),
                "same_as_16_bits": same(translations, written["16 bits"]),
                "same_as_6_bits": same(translations, written["6 bits"]),
            }
            for weights, translations in written.items()
        }
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments.web", description=__doc__)
    parser.add_argument("--data", required=True, help="the file that it was trained on")
    parser.add_argument("--seed", type=int, default=104, help="of the split")
    parser.add_argument("--limit", type=int, help="translate only so many sentences")
    options = parser.parse_args(arguments)
    path = records.RESULTS / "web" / f"{NAME}.json"
    records.write(path, compare(**vars(options)))
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())
