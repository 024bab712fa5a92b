"""The heads of a trained translator: where each looks, and what it writes without some of them."""

import html
from contextlib import contextmanager

import numpy as np
from keras import ops
from keras.utils import pad_sequences

from nlp104.figures.drawing import Drawing, shown
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short

LAYERS, HEADS = 2, 4  # as many as the figure has room for
PRONOUNS = ("il", "elle")
KINDS = ("encoder", "decoder", "cross")  # in the order of `attentions`
STEPS = {"encoder": 0, "decoder": 2, "cross": 3}  # the first step that shows one
TOKENS = {  # of its rows and columns
    "encoder": ("source", "source"),
    "decoder": ("read", "read"),
    "cross": ("written", "source"),
}
WHERE = {
    "encoder": "encoder's last layer",
    "decoder": "decoder's last look at its own words",
    "cross": "decoder's last look at the source",
}


def trained_heads(translator, sentences, off="encoder", opens="encoder"):
    """Where every head of a translator looks, and which word comes next when heads are off.

    The reader chooses a sentence, one of the attentions of encoder and decoder, a head, follows a
    word, and switches heads of one layer off. The figure shows the weights of the whole model:
    heads of one layer do not change each other's. What is written without some heads is computed
    here, for every set of heads of every layer.

    Args:
        translator: `nlp104.translation.Translator` of at most 2 + 2 layers and 4 heads.
        sentences: a dict from a short label to an English sentence with *it* that becomes *il* or
            *elle*; or to any sentence, a word of it to follow, and the French word that is looked
            at while heads are off: ``("I like the black cat.", "like", "aime")``.
        off: where the last two steps switch heads off: in the last layer of the "encoder", of the
            "decoder"'s own attention, or of the attention between them, "cross".
        opens: which of the three the figure opens with.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: The model is too large, there is no sentence, a word does not occur, or `off`
            or `opens` is no such attention.

    Example:
        >>> import nlp104
        >>> from nlp104.figures import explore
        >>> translator = nlp104.load_pretrained("grammar")
        >>> wide = "The animal did not cross the street because it was too wide."
        >>> explore.trained_heads(translator, {"wide": wide}).data["sentences"][0]["words"]
        ['elle', 'il']
    """
    config = translator.model.config
    if config.num_layers > LAYERS or config.num_heads > HEADS:
        raise ValueError(
            f"Expected a model of at most {LAYERS} layers and {HEADS} heads. "
            f"Received: {config.num_layers} layers and {config.num_heads} heads."
        )
    for name, kind in {"off": off, "opens": opens}.items():
        if kind not in KINDS:
            raise ValueError(f"Expected {name}: one of {', '.join(KINDS)}. Received: {kind!r}.")
    if not sentences:
        raise ValueError("Expected at least one sentence. Received: none.")
    seen = [_looked_at(translator, label, wanted) for label, wanted in sentences.items()]
    for sentence, after in zip(seen, _next_words(translator, seen), strict=True):
        sentence |= _likeliest(translator, sentence, after)
    for sentence in seen:
        sentence["stations"] = _stations(sentence, seen, config.num_layers, off)
    step = STEPS[opens]
    sizes = {"layers": config.num_layers, "heads": config.num_heads}
    data = sizes | {"opens": step, "sentences": seen}

    place, names = seen[0]["stations"][step], TOKENS[opens]
    rows, columns = (seen[0][name] for name in names)
    weights = np.array(seen[0]["maps"][place["at"]][place["head"]])
    row = weights[place["row"]]
    asks, found = shown(rows[place["row"]]), shown(columns[row.argmax()])
    alt = (
        f"A head of the {WHERE[opens]}, with “{' '.join(seen[0]['source'][:-1])}”: a row for each "
        f"word that is {names[0].replace('source', 'read')}. {asks} looks most at {found}, "
        f"{row.max()} %."
    )
    still = _still(rows, columns, weights, place["row"])
    return Explorable("trained_heads", "Inside a trained translator", data, still, alt)


def attentions(model):
    """All attention layers of a model: the encoder's, the decoder's own, and those between."""
    return [
        *(block.attention for block in model.encoder.blocks),
        *(block.self_attention for block in model.decoder.blocks),
        *(block.cross_attention for block in model.decoder.blocks),
    ]


@contextmanager
def switched_off(layer, *heads):
    """Strikes these heads, counted from 0, out of an attention layer: their rows of W_O are 0."""
    kernel = ops.convert_to_numpy(layer.output_kernel).copy()  # [heads, value_dim, hidden_dim]
    without = kernel.copy()
    without[list(heads)] = 0.0
    layer.output_kernel.assign(without)
    try:
        yield
    finally:
        layer.output_kernel.assign(kernel)


def _looked_at(translator, label, wanted):
    """One sentence: its tokens, its maps in per cent, the word to follow and the step to watch."""
    text, follow, french = (wanted, "it", PRONOUNS) if isinstance(wanted, str) else wanted
    french = (french,) if isinstance(french, str) else french
    seen = translator.attention(text)
    if follow not in seen.source_tokens:
        raise ValueError(f"Expected a sentence with {follow!r}. Received: {text!r}.")
    steps = [step for step, word in enumerate(seen.target_tokens) if word in french]
    if not steps:
        raise ValueError(
            f"Expected a translation with {' or '.join(french)}. Received: {seen.translation!r}."
        )
    return {
        "label": label,
        "source": seen.source_tokens,
        "read": seen.decoder_tokens,
        "written": seen.target_tokens,
        "follow": seen.source_tokens.index(follow),
        "step": steps[-1],
        "maps": [short(100 * x, 0) for x in (*seen.encoder, *seen.decoder, *seen.cross)],
    }


def _next_words(translator, seen):
    """Probabilities of the watched word: for each sentence `[attention, set of heads, word]`.

    Bit h of the number of a set says whether head h is off.
    """
    model = translator.model
    rows = {
        "encoder_token_ids": (translator.source_tokenizer, "source"),
        "decoder_token_ids": (translator.target_tokenizer, "read"),
    }
    inputs = {
        name: pad_sequences([[*map(reader.token_to_id, s[key])] for s in seen], padding="post")
        for name, (reader, key) in rows.items()
    }
    steps = [s["step"] for s in seen]

    def probabilities():
        logits = model.predict_on_batch(inputs)[np.arange(len(seen)), steps]
        return ops.convert_to_numpy(ops.softmax(logits))

    layers, heads = attentions(model), range(model.config.num_heads)
    found = np.empty((len(layers), 2 ** len(heads), len(seen), model.vocabulary_size), "float32")
    found[:, 0] = probabilities()
    for number, layer in enumerate(layers):
        for off in range(1, 2 ** len(heads)):
            with switched_off(layer, *(head for head in heads if off >> head & 1)):
                found[number, off] = probabilities()
    return np.moveaxis(found, 2, 0)


def _likeliest(translator, sentence, after):
    """The word that is written and the one that ever comes closest; their chances per thousand."""
    written = translator.target_tokenizer.token_to_id(sentence["written"][sentence["step"]])
    best = after.max(axis=(0, 1))
    best[written] = 0.0
    two = [written, int(best.argmax())]
    return {
        "words": [translator.target_tokenizer.id_to_token(word) for word in two],
        "next": short(1000 * after[..., two], 0),
    }


def _stations(sentence, sentences, layers, off):
    """What the steps show: heads and rows of the last layers, chosen by their numbers alone.

    Encoder: the word to follow, in the head in which it looks hardest at another word; then the
    row that differs most from that of a sentence as long, or else the one that looks hardest.
    Decoder, then between the two: the step that is watched, in the head that looks hardest.
    `off` again: without the head, and the two heads, that cost the watched word most.
    """
    encoder, own, cross = (count * layers - 1 for count in (1, 2, 3))
    struck = (encoder, own, cross)[KINDS.index(off)]
    step, follow = sentence["step"], sentence["follow"]
    looks = np.array(sentence["maps"][encoder]) * _words(sentence["source"])
    looks = looks * ~np.eye(looks.shape[-1], dtype=bool)  # at other words
    head = looks[:, follow].max(axis=-1).argmax()
    alike = [s for s in sentences if s is not sentence and len(s["source"]) == looks.shape[-1]]
    if alike:
        one, other = (np.array(s["maps"][encoder][head]) for s in (sentence, alike[0]))
        place = head, np.abs(one - other).sum(axis=-1).argmax()
    else:
        free = looks * _words(sentence["source"])[:, None]
        free[:, follow] = 0
        place = np.unravel_index(free.max(axis=-1).argmax(), free.shape[:2])
    back = np.array(sentence["maps"][own])[:, step, :step] * _words(sentence["read"][:step])
    across = np.array(sentence["maps"][cross])[:, step]
    one, two = (_dearest(sentence["next"][struck], count) for count in (1, min(2, len(looks))))
    missed = struck, one.bit_length() - 1, place[1] if struck == encoder else step
    return [
        _station(encoder, head, follow),
        _station(encoder, *place),
        _station(own, back.max(axis=-1, initial=0).argmax(), step),
        _station(cross, across.max(axis=-1).argmax(), step),
        _station(*missed, one),
        _station(*missed, two),
    ]


def _words(tokens):
    """Which tokens are words, and no signs such as [END]."""
    return np.array([shown(token) == token for token in tokens], dtype=bool)


def _dearest(after, count):
    """The set of so many heads without which the watched word is least likely."""
    sets = [off for off in range(len(after)) if off.bit_count() == count]
    return min(sets, key=lambda off: after[off][0])


def _station(at, head, row, off=0):
    return {"at": at, "head": int(head), "row": int(row), "off": off}


def _still(rows, columns, weights, row):
    """One head, with the followed row."""
    drawing = Drawing(360)
    width, height = 284 / len(columns), 20
    for place, word in enumerate(columns):
        x, y = 66 + (place + 0.5) * width, 54
        turned = f"translate({x:.1f} {y}) rotate(-60)"
        drawing.add("text", html.escape(shown(word)), transform=turned, dy="0.35em", font_size=12)
    drawing.tokens(0, 60, rows, width=64, height=height, chosen=row)
    look = {"width": width, "height": height, "most": 100}
    drawing.matrix(66, 60, np.maximum(weights, 0.01), "a", **look)
    return drawing.svg(64 + height * len(rows))
