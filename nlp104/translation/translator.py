"""A model and its tokenizers together: text in, text out; saved to and loaded from a directory."""

from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import keras
import numpy as np

from nlp104.data.batches import pad_rows
from nlp104.data.tokenizer import END_ID, START_ID, Tokenizer
from nlp104.decoding.beam_search import beam_search, require_length_penalty
from nlp104.decoding.compiled import require_max_length
from nlp104.decoding.greedy import greedy
from nlp104.transformer.model import Transformer
from nlp104.translation.model_file import large_positions, load_model
from nlp104.utils.arguments import require_positive, require_texts
from nlp104.utils.errors import InputError, MissingError
from nlp104.utils.files import replacing, what_lacks

MODEL, SHARED, SOURCE, TARGET = "model.keras", "tokenizer.json", "source.json", "target.json"


@dataclass(frozen=True)
class Attention:
    """Who looks at whom while one sentence is translated.

    Attributes:
        translation: The sentence that the decoder wrote, or was made to write.
        source_tokens: Tokens that the encoder read, `[END]` included.
        decoder_tokens: Tokens that the decoder read, `[START]` first.
        target_tokens: Tokens that it was asked for, one for each one read, `[END]` last.
        encoder: Weights `[layers, heads, source, source]`.
        decoder: Weights `[layers, heads, target, target]`, both axes for `decoder_tokens`.
        cross: Weights `[layers, heads, target, source]`. Row `i` belongs to the step that read
            `decoder_tokens[i]` and was asked for `target_tokens[i]`.

    Example:
        >>> import nlp104
        >>> translator = nlp104.load_pretrained("grammar")
        >>> found = translator.attention("The black cat sleeps.", "Le chat noir dort.")
        >>> highest = found.cross[-1, 0].argmax(axis=-1)  # in the last layer, by its first head
        >>> for token, i in zip(found.target_tokens, highest):
        ...     print(token, "←", found.source_tokens[i])
        Le ← The
        chat ← cat
        noir ← black
        dort ← sleeps
        . ← .
        [END] ← [END]
    """

    translation: str
    source_tokens: list[str]
    decoder_tokens: list[str]
    target_tokens: list[str]
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray


class Translator:
    """Translates text.

    Args:
        model: `nlp104.Transformer`.
        source_tokenizer: Tokenizer of the language to translate from.
        target_tokenizer: Tokenizer of the language to translate to; the same object if both
            languages share a vocabulary.

    Raises:
        ValueError: If the vocabularies do not have the sizes that the model expects.

    Example:
        >>> import nlp104
        >>> from nlp104.translation import Translator
        >>> translator = nlp104.load_pretrained("grammar")
        >>> translator.translate(["The black cat sleeps.", "", "They do not sleep."])
        ['Le chat noir dort.', '', 'Ils ne dorment pas.']
        >>> translator.save("mine")
        >>> Translator.load("mine").target_tokenizer.tokens("Le chat noir dort.")
        ['Le', 'chat', 'noir', 'dort', '.']
    """

    def __init__(
        self, model: Transformer, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
    ):
        if not isinstance(model, Transformer):
            raise ValueError(f"Expected a Transformer. Received: {model!r}.")
        expected = model.source_vocabulary_size, model.vocabulary_size
        received = source_tokenizer.vocabulary_size, target_tokenizer.vocabulary_size
        if expected != received:
            raise InputError(
                f"Expected vocabularies of {expected[0]} source and {expected[1]} target tokens, "
                f"as the model has. Received: {received[0]} and {received[1]}."
            )
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer

    def translate(
        self,
        sentences: Sequence[str],
        batch_size: int = 32,
        max_length: int | None = None,
        num_beams: int = 1,
        length_penalty: float = 0.6,
        jit_compile: bool = False,
    ) -> list[str]:
        """Translates sentences, each on its own.

        Args:
            sentences: Strings, one sentence each. An empty one translates to an empty one.
            batch_size: Number of sentences that are translated at a time, sorted by length.
            max_length: Number of tokens at which a translation is cut off, see
                `nlp104.decoding.greedy`.
            num_beams: Number of beginnings that are kept in every step, see
                `nlp104.decoding.beam_search`; with 1 decoding is greedy.
            length_penalty: α, with which translations of different lengths are compared. Nothing
                to greedy decoding.
            jit_compile: Whether TensorFlow compiles with XLA, which takes seconds for each new
                length: it pays from some thousands of sentences on, or a hundred if `batch_size`
                is 1. JAX always compiles, PyTorch never.

        Returns:
            The translations, in the order of the sentences.

        Raises:
            ValueError: If `sentences` is a single string, a sentence is too long, or another
                argument is out of its range.
        """
        require_positive(batch_size=batch_size, num_beams=num_beams)
        require_length_penalty(length_penalty)
        if max_length is not None:
            require_max_length(self.model, max_length)
        sources = self._encode(sentences)
        order = sorted((i for i, ids in enumerate(sources) if ids), key=lambda i: len(sources[i]))
        translations = [""] * len(sources)
        for first in range(0, len(order), batch_size):
            places = order[first : first + batch_size]
            rows = pad_rows([sources[i] + [END_ID] for i in places])
            options = {"max_length": max_length, "jit_compile": jit_compile}
            ids = self._search(rows, num_beams, length_penalty, **options)
            for i, row in zip(places, ids, strict=True):
                translations[i] = self.target_tokenizer.decode(row)
        return translations

    def attention(
        self,
        source: str,
        target: str | None = None,
        num_beams: int = 1,
        length_penalty: float = 0.6,
    ) -> Attention:
        """Tells what the model looks at while it translates a sentence.

        Args:
            source: One sentence.
            target: Its translation, which the model is made to write; by default what it writes by
                itself.
            num_beams: As of `translate`, where the model writes by itself.
            length_penalty: As of `translate`.

        Returns:
            `Attention`.

        Raises:
            ValueError: If the source is empty, either is too long, or another argument is out of
                its range.
        """
        require_positive(num_beams=num_beams)
        require_length_penalty(length_penalty)
        (source_ids,) = self._encode([source])
        if not source_ids:
            raise InputError("Expected a sentence to translate. Received: an empty one.")
        source_ids.append(END_ID)
        if target is None:
            (written,) = self._search([source_ids], num_beams, length_penalty)
            asked = [i for i in written.tolist() if i]  # [END] is the last, if it came to that
        else:
            (target_ids,) = self._short([self.target_tokenizer.encode(target)], "translation")
            asked = [*target_ids, END_ID]
        read, target_ids = [START_ID, *asked[:-1]], [i for i in asked if i != END_ID]
        scores = self.model.attention_scores(
            {"encoder_token_ids": np.array([source_ids]), "decoder_token_ids": np.array([read])}
        )
        return Attention(
            translation=self.target_tokenizer.decode(target_ids),
            source_tokens=[self.source_tokenizer.id_to_token(i) for i in source_ids],
            decoder_tokens=[self.target_tokenizer.id_to_token(i) for i in read],
            target_tokens=[self.target_tokenizer.id_to_token(i) for i in asked],
            **{
                name: np.concatenate([keras.ops.convert_to_numpy(layer) for layer in layers])
                for name, layers in scores.items()
            },
        )

    def _search(self, rows, num_beams, length_penalty, **options):
        """Returns the token ids of the best translation of each row."""
        if num_beams == 1:
            return greedy(self.model, rows, **options)
        return beam_search(self.model, rows, num_beams, length_penalty, **options)

    def _encode(self, sentences):
        """Returns the token ids of each sentence, after checking that the model can read them."""
        require_texts(sentences=sentences)
        return self._short(self.source_tokenizer.encode_batch(sentences), "sentence")

    def _short(self, texts, name):
        longest = self.model.max_sequence_length - 1  # with [END], or [START]
        for number, ids in enumerate(texts, start=1):
            if len(ids) > longest:
                raise InputError(
                    f"Expected {name}s of at most {longest:,} tokens. "
                    f"Received: {len(ids):,} in {name} {number}."
                )
        return texts

    def save(self, directory: str | Path) -> None:
        """Saves the model (without the optimizer's state) and the tokenizers.

        All files are written before one takes its place. Then they appear one by one and whole,
        `model.keras` last: a directory that has it is complete.

        Args:
            directory: A new or empty directory, or one that holds a run or a translator.

        Raises:
            FileExistsError: If `directory` is a file, or holds something else.
            ValueError: If the model is one that `load` would refuse.
        """
        if too_large := large_positions(self.model.config):
            raise InputError(f"Expected a model that `load` would take. Received: {too_large}.")
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in directory.iterdir()}
        if found and not found & {MODEL, "run.json", "checkpoints"}:
            raise FileExistsError(
                "Expected an empty directory, or one of a translator or a run. "
                f"Received: {directory}, which holds something else."
            )
        bare = self.model.with_dtype(self.model.dtype_policy)  # has no optimizer to save
        with replacing(directory / MODEL) as temporary:
            bare.save(temporary)
            with _replacing_tokenizers(directory, self.source_tokenizer, self.target_tokenizer):
                # With other words the weights that stood here would load, and be wrong.
                (directory / MODEL).unlink(missing_ok=True)

    @classmethod
    def load(cls, directory: str | Path, dtype: str | None = None) -> "Translator":
        """Loads what `save` saved.

        Args:
            directory: The directory.
            dtype: The dtype policy with which the model shall compute; by default that with which
                it was saved.

        Raises:
            FileNotFoundError: If the directory or one of its files does not exist.
            ValueError: If a file is damaged or not what it should be, or the files do not belong
                together.
        """
        directory = Path(directory)
        path = directory / MODEL
        if not path.is_file():
            raise MissingError(
                f"Expected a directory with a trained model. Received: {directory}, which "
                f"{what_lacks(path)}."
            )
        tokenizers = load_tokenizers(directory)
        return cls(load_model(path, dtype), *tokenizers)


def save_tokenizers(directory: str | Path, source: Tokenizer, target: Tokenizer) -> None:
    """Saves one tokenizer, if both languages share it, or two; those of the other form go."""
    with _replacing_tokenizers(directory, source, target):
        pass


@contextmanager
def _replacing_tokenizers(directory, source, target):
    """Writes the tokenizers; they take their places when the block succeeds."""
    files = {SHARED: source} if source is target else {SOURCE: source, TARGET: target}
    with ExitStack() as places:
        for name, tokenizer in files.items():
            tokenizer.save(places.enter_context(replacing(Path(directory, name))))
        yield
    for name in {SHARED, SOURCE, TARGET} - set(files):
        Path(directory, name).unlink(missing_ok=True)


def load_tokenizers(directory: str | Path) -> tuple[Tokenizer, Tokenizer]:
    """Loads what `save_tokenizers` saved: source and target, the same object if they share one."""
    directory = Path(directory)
    if (directory / SHARED).exists():
        shared = Tokenizer.load(directory / SHARED)
        return shared, shared
    return Tokenizer.load(directory / SOURCE), Tokenizer.load(directory / TARGET)
