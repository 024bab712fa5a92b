"""The machine: one sentence on its way through a trained Transformer, box by box."""

import numpy as np
from keras import ops

from nlp104.figures.drawing import Drawing, shown
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.machine_captions import STACKS, about, probability, steps
from nlp104.figures.explore.numbers import short

NUMBERS = 12  # of each vector are drawn, the first ones
ENGLISH, FRENCH = 10, 12  # tokens: on the smallest phone there is no room for more
PAPER = {"positions": "sinusoidal", "normalize_first": False, "activation": "relu"}


def machine(translator, sentence, follow=2):
    """A sentence goes up the encoder once, then up the decoder for each word that is written.

    The reader steps through the boxes, taps one to stop there and to read what it does, and
    follows a word. The last layer of each tower is open, those below it are one box. All numbers
    are the model's. Vaswani et al. (2017), figure 1.

    Args:
        translator: `nlp104.translation.translator.Translator` whose model is built as in the paper,
            with two layers or more.
        sentence: what it translates, greedily: at most 10 tokens with [END], which become at
            most 12.
        follow: number of the source token that is followed at the start.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: The model is built in another way, or the sentence or its translation is too
            long.

    Example:
        >>> import nlp104
        >>> from nlp104.figures import explore
        >>> figure = explore.machine(nlp104.load_pretrained("grammar"), "The black cat sleeps.")
        >>> figure.data["next"]
        ['Le', 'chat', 'noir', 'dort', '.', '[END]']
    """
    model = translator.model
    built = {name: getattr(model.config, name) for name in PAPER}
    if built != PAPER or model.config.num_layers < 2:
        built["num_layers"] = model.config.num_layers
        raise ValueError(f"Expected at least 2 layers and {PAPER}. Received: {built}.")
    seen = translator.attention(sentence)
    source, target, following = seen.source_tokens, seen.decoder_tokens, seen.target_tokens
    if len(source) > ENGLISH or len(target) > FRENCH:
        raise ValueError(
            f"Expected a sentence of at most {ENGLISH} tokens that become at most {FRENCH}. "
            f"Received: {len(source)} that become {len(target)}."
        )
    if follow not in range(len(source)):
        raise ValueError(f"Expected follow to be the number of a token. Received: {follow}.")

    ids = [
        [tokenizer.token_to_id(word) for word in words]
        for tokenizer, words in (
            (translator.source_tokenizer, source),
            (translator.target_tokenizer, target),
        )
    ]
    vectors, alive = trace(model, *ids)
    logits = model({"encoder_token_ids": np.array(ids[:1]), "decoder_token_ids": np.array(ids[1:])})
    chances = ops.convert_to_numpy(ops.softmax(logits[0]))
    top = [
        [[translator.target_tokenizer.id_to_token(i), short([row[i]], 4)[0]] for i in best]
        for row, best in zip(chances, np.argsort(-chances, axis=1)[:, :4].tolist(), strict=True)
    ]
    weights = {
        "enc": seen.encoder[-1].mean(axis=0),
        "dec": seen.decoder[-1].mean(axis=0),
        "cross": seen.cross[-1].mean(axis=0),
    }
    decode = translator.target_tokenizer.decode
    data = {
        "sentence": sentence,
        "written": [decode(ids[1][1 : count + 1]) for count in range(len(target))],
        "source": source,
        "target": target,
        "next": following,
        "ids": dict(zip(("enc", "dec"), ids, strict=True)),
        "vectors": {
            tower: {box: short(boxes[box][:, :NUMBERS], 2) for box in STACKS[tower] if box in boxes}
            for tower, boxes in vectors.items()
        },
        "waves": short(max((boxes["wave"] for boxes in vectors.values()), key=len)[:, :NUMBERS], 2),
        "weights": {kind: short(rows, 4) for kind, rows in weights.items()},
        "alive": alive,
        "top": top,
        "sizes": {
            "width": model.config.hidden_dim,
            "inner": model.config.intermediate_dim,
            "heads": model.config.num_heads,
            "layers": model.config.num_layers,
            "enc": model.source_vocabulary_size,
            "dec": model.vocabulary_size,
        },
        "follow": follow,
    }
    data |= {"stack": STACKS, "steps": steps(data), "about": about(data)}
    turn = _decisive(weights["cross"].argmax(axis=1))
    looked = int(weights["cross"][turn].argmax())
    alt = (
        f"{sentence} becomes {seen.translation} The decoder has read "
        f"{', '.join(map(shown, target[: turn + 1]))}. In cross-attention "
        f"{shown(target[turn])} looks at {shown(source[looked])} with "
        f"{weights['cross'][turn, looked]:.2f} of 1, and {shown(following[turn])} is written next, "
        f"with a probability of {top[turn][0][1]:.2f}."
    )
    still = _still(data, weights["cross"], turn)
    return Explorable("machine", "The machine, step by step", data, still, alt)


def trace(model, source, target):
    """What every box hands on, computed box by box; in the last layers, sub-layer by sub-layer.

    Args:
        model: `nlp104.Transformer`, built as in the paper.
        source: ids of the source, [END] last.
        target: ids that the decoder reads, [START] first.

    Returns:
        For the encoder (``"enc"``) and the decoder (``"dec"``) the vectors that leave each box,
        float32 `[tokens, hidden_dim]`, and how many numbers inside the feed-forward network are
        above zero, `[tokens]`.
    """
    enc, enc_alive = _climb(model.encoder_embedding, model.encoder.blocks, source)
    memory = ops.convert_to_tensor(enc["add2"][None])
    dec, dec_alive = _climb(model.decoder_embedding, model.decoder.blocks, target, memory)
    return {"enc": enc, "dec": dec}, {"enc": enc_alive, "dec": dec_alive}


def _climb(embedding, blocks, ids, *memory):
    """One tower from the bottom up; with a memory it is a decoder's."""
    *below, last = blocks
    x = embedding(np.array([ids]))
    rows = ops.take(embedding.embeddings, np.array([ids]), axis=0)
    wave = embedding.position_layer(ops.zeros_like(x))
    boxes = {"emb": rows * embedding.hidden_dim**0.5, "wave": wave, "pos": x}
    for block in below:
        x = block(x, *memory)
    boxes["low"] = x

    def around(x, box, change, residual):
        number = sum(name.startswith("add") for name in boxes) + 1
        x = residual(x, sub_layer=lambda _: change)
        boxes.update({box: change, f"add{number}": x})
        return x

    if memory:
        change, _ = last.self_attention.look(x, x, use_causal_mask=True)
        x = around(x, "self", change, last.self_attention_residual)
        change, _ = last.cross_attention.look(x, *memory)
        x = around(x, "cross", change, last.cross_attention_residual)
    else:
        change, _ = last.attention.look(x, x)
        x = around(x, "self", change, last.attention_residual)
    alive = ops.convert_to_numpy(last.feed_forward.expand(x) > 0)[0].sum(axis=-1).tolist()
    around(x, "ffn", last.feed_forward(x), last.feed_forward_residual)
    return {box: ops.convert_to_numpy(values)[0] for box, values in boxes.items()}, alive


def _decisive(looked):
    """The first turn that looks further to the left than the one before, or the second one."""
    back = np.flatnonzero(np.diff(looked[:-1]) < 0)
    return int(back[0]) + 1 if back.size else min(1, len(looked) - 1)


def _still(data, weights, turn):
    """The decisive turn: memory on the left, cross-attention beside it, the next word on top."""
    drawing = Drawing(360)
    source, row = data["source"], weights[turn]
    first, pitch = 122, 30
    middle, x, words = first + pitch * len(source) / 2, 282, data["target"][: turn + 1][-4:]
    bottom = first + pitch * len(source)
    drawing.wire([(x, bottom), (x, 88)], "r", arrow=True)
    for number, (word, chance) in enumerate(data["top"][turn]):
        y = 10 + 20 * number
        drawing.text(256, y, shown(word), anchor="end", size=12, strong=not number)
        bar = {"x": 262, "y": y - 6, "width": max(1, 58 * chance), "height": 12, "rx": 2}
        drawing.add("rect", **bar, class_="f-ink")
        drawing.text(360, y, probability(chance), anchor="end", size=12, muted=bool(number))
    drawing.box(206, 98, 152, 28, "linear, softmax")
    drawing.text(0, first - 14, f"memory, {len(source)} × {data['sizes']['width']}", muted=True)
    drawing.tokens(0, first, source, width=58, height=pitch, chosen=int(row.argmax()))
    end = middle - 12
    for number, weight in enumerate(row):
        y, thick = first + pitch * (number + 0.5), 24 * weight
        path = "".join(
            f"M{62 + 3 * place} {y:.1f}v{-10 * np.clip(value / 2.5, -1, 1):.1f}"
            for place, value in enumerate(data["vectors"]["enc"]["add2"][number])
        )
        drawing.add("path", d=path, class_="s-r", fill="none", stroke_width=2)
        if weight >= 0.005:
            drawing.text(130, y, f"{weight:.2f}", concept="a", anchor="end", size=12, strong=True)
            d = f"M134 {y:.1f}C170 {y:.1f} 170 {end + thick / 2:.1f} 206 {end + thick / 2:.1f}"
            drawing.add("path", d=d, class_="s-a", fill="none", stroke_width=max(1, thick))
        end += thick
    drawing.box(206, middle - 24, 152, 48, "cross-attention", "a", lit=True)
    width = 46
    look = {"width": width, "height": 30, "across": True, "chosen": len(words) - 1}
    drawing.tokens(x + width / 2 - width * len(words), bottom + 4, words, **look)
    return drawing.svg(bottom + 38)
