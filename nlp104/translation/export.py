"""A trained translator as files that work without this package, and without Keras.

`Translator.save` keeps a model to be loaded by the code that it was trained with. What
`export_translator` writes holds its own program instead: the encoder, the loop of the decoder with
its cache of keys and values, the beam. A server needs the `tokenizers` library and TensorFlow or,
for the other format, ONNX Runtime. What `export_page` writes needs a browser, and nothing else. The
directory for a server holds::

    model/         a SavedModel, from token ids to token ids; or model.onnx
    source.json    a `tokenizers.Tokenizer` that reads sentences, up to `[END]` and padding
    target.json    a `tokenizers.Tokenizer` that writes translations
    export.json    what was exported, and with which versions
"""

import importlib.util
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import tokenizers
from keras import ops
from tokenizers import processors

from nlp104.attention.masks import padding_mask
from nlp104.data.tokenizer import END_ID, PAD_ID, SPECIAL_TOKENS
from nlp104.decoding.beam_search import require_length_penalty, search
from nlp104.decoding.compiled import EXTRA_LENGTH, require_max_length
from nlp104.training.run_record import software_versions
from nlp104.training.settings import EXPORT_FORMATS
from nlp104.translation import web
from nlp104.translation.translator import Translator
from nlp104.utils.arguments import require_positive
from nlp104.utils.errors import InputError, OccupiedError
from nlp104.utils.files import replacing
from nlp104.utils.quiet import silenced


def export_translator(
    translator: Translator,
    directory: str | os.PathLike,
    max_length: int | None = None,
    num_beams: int = 1,
    length_penalty: float = 0.6,
    format: str = "tf_saved_model",
) -> None:
    """Writes a translator for servers that know nothing of this package.

    The program takes integers `[batch, source]`, any number of rows, each row ended by `[END]` and
    padded with 0, and returns integers `[batch, target]` in the same form. `source` may be as large
    as ``max_source_length`` in ``export.json``; a server should refuse more, for the program fails.
    It gives what `Translator.translate` gives for the same options; they are fixed when it is
    exported.

    Args:
        translator: `nlp104.translation.Translator`.
        directory: A new or empty directory. A new one appears complete or not at all, in an empty
            one ``export.json`` comes last.
        max_length: Number of tokens at which a translation is cut off. By default a row may have 50
            more than its source.
        num_beams: Number of beginnings that are kept in every step; with 1 decoding is greedy.
        length_penalty: α of `nlp104.decoding.beam_search`.
        format: ``"tf_saved_model"``, or ``"onnx"``, which needs the package `tf2onnx` and takes
            about a minute.

    Raises:
        ValueError: If an argument is out of its range, the backend is not TensorFlow, or `tf2onnx`
            is not installed.
        FileExistsError: If `directory` is a file or holds something.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import export_translator
        >>> export_translator(nlp104.load_pretrained("grammar"), "served")

        The server needs neither this package nor Keras:

        >>> import tensorflow as tf
        >>> import tokenizers
        >>> model = tf.saved_model.load("served/model")
        >>> source = tokenizers.Tokenizer.from_file("served/source.json")
        >>> target = tokenizers.Tokenizer.from_file("served/target.json")
        >>> rows = source.encode_batch(["The black cat sleeps."])
        >>> ids = model.translate([row.ids for row in rows])["translation"]
        >>> target.decode_batch(ids.numpy())
        ['Le chat noir dort.']

        With ``format="onnx"``, and NumPy's integers of 32 bits:

        >>> import numpy as np
        >>> import onnxruntime  # doctest: +SKIP
        >>> model = onnxruntime.InferenceSession("served/model.onnx")  # doctest: +SKIP
        >>> token_ids = np.array([row.ids for row in rows], "int32")
        >>> (ids,) = model.run(["translation"], {"token_ids": token_ids})  # doctest: +SKIP
    """
    directory = Path(directory).resolve()  # it may be the current one, or a link to one
    [num_beams] = require_positive(num_beams=num_beams)
    length_penalty = require_length_penalty(length_penalty)
    if max_length is not None:
        max_length = require_max_length(translator.model, max_length)
    if format not in EXPORT_FORMATS:
        known = ", ".join(map(repr, EXPORT_FORMATS))
        raise ValueError(f"`format` must be one of {known}. Received: {format!r}.")
    if keras.backend.backend() != "tensorflow":
        raise InputError(
            "Only the TensorFlow backend can export. Received: KERAS_BACKEND="
            f"{keras.backend.backend()}. A saved translator is the same on every backend: save it, "
            "then load and export it with KERAS_BACKEND=tensorflow."
        )
    if format == "onnx" and importlib.util.find_spec("tf2onnx") is None:
        raise InputError("Exporting to ONNX needs another package: pip install tf2onnx.")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise OccupiedError(f"Expected a new or empty directory. Received: {directory}.")

    options = {"max_length": max_length, "num_beams": num_beams, "length_penalty": length_penalty}
    program = _program(translator.model, **options)
    directory.parent.mkdir(parents=True, exist_ok=True)
    # A directory that is there stays: somebody may stand in it.
    exists, name = directory.exists(), f".{os.getpid()}-{directory.name}"
    unfinished = directory / name if exists else directory.with_name(name)
    try:
        unfinished.mkdir()
        if format == "onnx":
            _write_onnx(program, str(unfinished / "model.onnx"))
        else:
            _write_saved_model(program, str(unfinished / "model"))
        _write_source_tokenizer(translator.source_tokenizer, str(unfinished / "source.json"))
        translator.target_tokenizer.save(unfinished / "target.json")
        record = {
            "format": "nlp104 export 1",
            "model_format": format,
            "max_source_length": translator.model.max_sequence_length,
            **options,
            "versions": software_versions("tensorflow"),
        }
        text = json.dumps(record, indent=2) + "\n"
        (unfinished / "export.json").write_text(text, encoding="utf-8")
        if exists:
            for path in sorted(unfinished.iterdir(), key=lambda path: path.name == "export.json"):
                path.rename(directory / path.name)
        else:
            unfinished.rename(directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def export_page(
    translator: Translator,
    path: str | os.PathLike,
    name: str = "model",
    card: Mapping[str, Any] | None = None,
) -> None:
    """Writes a page on which a reader types a sentence and watches the translator at work.

    It is one file of HTML, which translates by itself: open it from the disk, send it to somebody,
    put it on any server. See `nlp104.translation.web`.

    Args:
        translator: `nlp104.translation.Translator`.
        path: The file to write. It appears complete or not at all.
        name: What the page calls the model.
        card: As of `nlp104.translation.web.page`.

    Raises:
        ValueError: If the model is too large for a page, or has something that the page does not
            know, see `nlp104.translation.web.pack`.
        FileExistsError: If there is something at `path`.

    Example:
        >>> from pathlib import Path
        >>> import nlp104
        >>> from nlp104.translation import export_page
        >>> export_page(nlp104.load_pretrained("grammar"), "page.html", "grammar")
        >>> 1 < Path("page.html").stat().st_size / 1e6 < 2  # megabytes
        True
    """
    path = Path(path)
    if path.exists():
        raise OccupiedError(f"Expected a new file. Received: {path}, which exists.")
    text = web.page(translator, name, card)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _program(model, max_length, num_beams, length_penalty):
    """The function to export: from token ids `[batch, source]` to token ids `[batch, target]`."""

    def translate(token_ids):
        lengths = _lengths(token_ids)
        if max_length is None:
            limits = ops.minimum(lengths + EXTRA_LENGTH, model.max_sequence_length)
        else:
            limits = ops.full_like(lengths, max_length)
        # With one beam this is greedy.
        ids, _ = search(
            model,
            token_ids,
            limits,
            length_penalty,
            num_steps=ops.max(limits, initial=1),
            num_beams=num_beams,
            num_best=1,
        )
        ids = ids[:, 0]
        return {"translation": ids[:, : ops.max(_lengths(ids), initial=0)]}

    return translate


def _lengths(token_ids):
    return ops.sum(ops.cast(padding_mask(token_ids), "int32"), axis=1)


def _write_source_tokenizer(tokenizer, path):
    """The same file, with what the encoder reads besides: `[END]`, and padding behind it."""
    reader = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    pad, end = SPECIAL_TOKENS[PAD_ID], SPECIAL_TOKENS[END_ID]
    reader.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, END_ID)]
    )
    reader.enable_padding(pad_id=PAD_ID, pad_token=pad)
    reader.save(path, pretty=False)


def _write_saved_model(program, path):
    import tensorflow as tf

    archive = keras.export.ExportArchive()
    signature = keras.InputSpec(shape=(None, None), dtype="int32", name="token_ids")
    archive.add_endpoint("translate", program, [signature])
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # no line about what was written
    try:
        archive.write_out(path, verbose=False)
    finally:
        logger.setLevel(level)


def _write_onnx(program, path):
    import tensorflow as tf
    import tf2onnx

    def keep_where(context, node, name, arguments):
        node.type = "Where"

    signature = [tf.TensorSpec((None, None), "int32", name="token_ids")]
    with silenced():
        tf2onnx.convert.from_function(
            tf.function(program, input_signature=signature),
            input_signature=signature,
            opset=18,
            # By itself tf2onnx makes `where(c, a, b)` into `c * a + (1 - c) * b`. That is no number
            # where the one that is not chosen is the score -inf.
            custom_op_handlers={"SelectV2": (keep_where, [])},
            output_path=path,
        )
