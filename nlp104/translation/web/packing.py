"""A translator as a script for a page: its weights in a few bits, one letter each, and its words.

A page that is opened from a disk may fetch nothing, but a classic script may set a variable. So the
model is one.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import tokenizers

from nlp104.data.tokenizer import Tokenizer
from nlp104.data.tokenizer_pipeline import recognize
from nlp104.translation.translator import Translator
from nlp104.translation.web.weights import TABLES, as_rows, pack_weights, page_name, quantize
from nlp104.utils.arguments import require_texts
from nlp104.utils.errors import InputError
from nlp104.utils.scripts import script_json

SCRIPTS = ("tokenizer.js", "model.js", "search.js", "worker.js")  # in the order they are run
ACTIVATIONS = ("relu", "gelu", "silu", "tanh")  # that model.js knows
KNOWN = {  # the only values that model.js knows
    "gated": False,
    "normalization": "layer",
    "num_key_value_heads": None,
    "attention_window": None,
}
LARGEST = 60_000_000  # parameters: more would be a page of 60 MB
BITS = (6, 8)
SETTINGS = (
    "num_layers",
    "num_heads",
    "hidden_dim",
    "max_sequence_length",
    "positions",
    "activation",
    "normalize_first",
    "epsilon",
    "tie_embeddings",
)


def engine() -> str:
    """Returns the scripts that translate, as one text: for a page, or for a worker.

    Example:
        >>> from nlp104.translation import web
        >>> web.engine().count("globalThis.nlp104web ??= {};")  # one for each script
        4
    """
    folder = files("nlp104.translation.web")
    return "".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)


def pack(
    translator: Translator, name: str = "model", languages: Sequence[str] = (), bits: int = 6
) -> str:
    """Writes a translator as a script, which sets ``nlp104web.models[name]``.

    Args:
        translator: `nlp104.translation.Translator`.
        name: What pages call the model.
        languages: The codes of the languages from and to which it translates, where they are known.
        bits: 6 or 8 for each weight. `rounded` is the translator that the page then has.

    Returns:
        The text of a classic script, in ASCII and without ``<``, so that it may stand in a page.

    Raises:
        ValueError: If the model is larger than a page should be, or has something that the engine
            in the page does not know: an activation, or a tokenizer from elsewhere.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import web
        >>> script = web.pack(nlp104.load_pretrained("grammar"), "grammar", ["en", "fr"])
        >>> script[:70]
        '((globalThis.nlp104web ??= {}).models ??= {})["grammar"] = {"name": "g'
        >>> len(script) < 2_000_000, script.isascii()
        (True, True)
    """
    _require_bits(bits)
    require_texts(languages=languages)
    config, parameters = translator.model.config, translator.model.count_params()
    if parameters > LARGEST:
        raise InputError(
            f"Expected a model of at most {LARGEST:,} parameters, for a page. "
            f"Received: {parameters:,}."
        )
    if config.activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise InputError(f"Expected an activation of {known}. Received: {config.activation!r}.")
    for setting, only in KNOWN.items():
        if getattr(config, setting) != only:
            raise InputError(
                f"Expected a model with {setting}={only!r}, for a page. "
                f"Received: {getattr(config, setting)!r}."
            )
    if translator.model.lora_rank is not None:
        raise InputError(
            "Expected a model without LoRA, for a page: `model.merge_lora()` makes one. "
            f"Received: lora_rank={translator.model.lora_rank}."
        )
    pair = [translator.source_tokenizer, translator.target_tokenizer]
    tensors = {page_name(one.path): as_rows(one) for one in translator.model.weights}
    packed = {
        "name": name,
        "languages": list(languages),
        "parameters": parameters,
        "config": {setting: getattr(config, setting) for setting in SETTINGS},
        "tokenizers": [_tokenizer(one) for one in (pair[:1] if pair[0] is pair[1] else pair)],
        "bits": bits,
        **pack_weights(tensors, bits),
    }
    key = script_json(name)
    return f"((globalThis.nlp104web ??= {{}}).models ??= {{}})[{key}] = {script_json(packed)};\n"


def rounded(translator: Translator, bits: int = 6) -> Translator:
    """Returns the translator that a page has: with the weights that are left after packing.

    Args:
        translator: `nlp104.translation.Translator`.
        bits: As of `pack`.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import web
        >>> translator = web.rounded(nlp104.load_pretrained("grammar"))
        >>> translator.translate(["The black cat sleeps."])
        ['Le chat noir dort.']
    """
    _require_bits(bits)
    model = translator.model.with_dtype("float32")
    for variable in model.weights:
        rows = as_rows(variable)
        if rows.ndim == 2:
            numbers, scales = quantize(rows, bits)
            rows = numbers * scales[:, None]
            is_table = page_name(variable.path).endswith(TABLES)
            variable.assign(np.reshape(rows if is_table else rows.T, variable.shape))
    return Translator(model, translator.source_tokenizer, translator.target_tokenizer)


def _require_bits(bits):
    if bits not in BITS:
        raise InputError(f"Expected 6 or 8 bits. Received: {bits!r}.")


def _tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """What tokenizer.js needs to know."""
    pipeline = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    arguments = recognize(pipeline)
    if arguments is None:
        raise InputError("Expected a tokenizer of Tokenizer.train. Received: another one.")
    kind, lowercase, *closes = arguments
    vocabulary = [tokenizer.id_to_token(i) for i in range(tokenizer.vocabulary_size)]
    found = {"kind": kind, "lowercase": lowercase, "vocabulary": " ".join(vocabulary)}
    if kind == "bpe":
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        return found | {"merges": "\n".join(map(" ".join, merges))}
    left, right = ([token for token in vocabulary if token in known] for known in closes)
    return found | {"touchesLeft": left, "touchesRight": right}
