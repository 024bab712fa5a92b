"""A translator in the page: recorded sentences to step through, then the reader's own."""

import html

import numpy as np
from keras import ops

from nlp104.data.tokenizer import END_ID
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short
from nlp104.translation import web

TITLE = "Watch it translate"
LEAD = (
    "Before the model writes a word, it looks back at the sentence it has read: the threads. "
    "Choose a word, or let it write. Thin threads: where it looked most for each other word."
)
SENTENCES = (
    "I have never seen the sea.",
    "I miss you.",
    "They gave us a red car.",
    "she is older than me",
)
STEP = 3
SHOWN = 6  # words of each step


class _Figure(Explorable):
    """An explorable with a front end of its own: that of the exported page."""

    @property
    def html(self):
        """The figure as HTML that needs nothing else."""
        return web.figure(self.data, self.still)


def translator(
    translator, name="eng-fra-typed", languages=("en", "fr"), sentences=SENTENCES, step=STEP
):
    """A translator to watch while it writes, with the attention of all its heads.

    The figure carries what it wrote for some sentences. In the rendered book the reader can have
    the model itself loaded into the page, and type; see `nlp104.translation.web`.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What the model is called; in the book one that `nlp104.load_pretrained` knows.
        languages: The codes of the languages from and to which it translates.
        sentences: What is recorded.
        step: Of the first sentence, at which the figure stands before it is touched.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no sentence, or one is empty or too long.

    Example:
        >>> import nlp104
        >>> from nlp104.figures import explore
        >>> grammar = nlp104.load_pretrained("grammar")
        >>> figure = explore.translator(grammar, "grammar", sentences=["The black cat sleeps."])
        >>> figure.data["recorded"][0]["translation"]
        'Le chat noir dort.'
    """
    if not sentences:
        raise ValueError("Expected at least one sentence. Received: none.")
    recorded = [_record(translator, sentence) for sentence in sentences]
    first, layer = recorded[0], translator.model.config.num_layers - 1
    step = min(step, len(first["target"]) - 1)
    data = {
        "lead": LEAD,
        "name": name,
        "languages": list(languages),
        "examples": list(sentences),
        "recorded": recorded,
        "step": step,
        "layer": layer,
        "elsewhere": web.ELSEWHERE,
    }
    # A half is rounded up, as the page does.
    looks = np.mean([head[step] for head in first["cross"][layer]], axis=0) + 1e-9
    source, word = first["source"][looks.argmax()], first["target"][step]
    alt = (
        f"“{first['text']}” becomes “{first['translation']}” To write “{word.strip('▁')}”, the "
        f"last layer looked most at “{source.strip('▁')}”, {looks.max():.0f} %."
    )
    return _Figure("translator", TITLE, data, _still(first, looks, step, alt), alt)


def _record(translator, text):
    """One sentence: what was written, what else was likely, and the weights in per cent."""
    seen = translator.attention(text)
    read, written = translator.source_tokenizer, translator.target_tokenizer
    ids = [written.token_to_id(token) for token in seen.decoder_tokens]
    inputs = {
        "encoder_token_ids": np.array([[*read.encode(text), END_ID]]),
        "decoder_token_ids": np.array([ids]),
    }
    chances = ops.convert_to_numpy(ops.softmax(translator.model(inputs, training=False)[0]))
    best = np.argsort(-chances, axis=-1, kind="stable")[:, :SHOWN]
    return {
        "text": text,
        "translation": seen.translation,
        "source": seen.source_tokens,
        "target": seen.target_tokens,
        "words": [
            [[written.id_to_token(token), round(float(row[token]), 3)] for token in tokens]
            for row, tokens in zip(chances, best, strict=True)
        ],
        "cross": short(100 * seen.cross, 1),
    }


def _still(run, looks, step, alt):
    """The two sentences at one step, as `view.js` would draw them, but for the threads."""

    def words(tokens, dress):
        pieces = any(token.startswith("▁") for token in run["source"])
        text = ""
        for place, token in enumerate(tokens):
            sign = token.startswith("[")
            shown = token[1:-1].lower() if sign else token.strip("▁")
            look, inner = dress(place)
            fresh = sign or token.startswith("▁") or not pieces
            text += ("</li>" if place else "") + '<li class="word">' if fresh else ""
            look += " sign" * sign
            text += f'<span class="token{look}{inner[0]}>{html.escape(shown)}{inner[1]}</span>'
        return f"{text}</li>"

    def read(place):
        share = f"{looks[place]:.0f}\u00a0%" if looks[place] >= 1 else ""
        return "", (f'" style="--w:{looks[place] / 100:.2f}"', f"<small>{share}</small>")

    def wrote(place):
        return " chosen" * (place == step), ('"', "")

    return (
        f'<p class="title">{TITLE}</p><p class="lead">{LEAD}</p><div class="weave">'
        f'<ol class="tokens source">{words(run["source"], read)}</ol>'
        f'<ol class="tokens target">{words(run["target"], wrote)}</ol></div>'
        f"<figcaption>{html.escape(alt)}</figcaption>"
    )
