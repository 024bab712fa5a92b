"""What the settings of a run stand for: the corpus, the tokenizers, the batches, the model.

Each function takes `settings`, a dictionary with the keys of settings.DEFAULTS.
"""

import keras

from nlp104.data.batches import Batches
from nlp104.data.corpus import load_corpus
from nlp104.data.tokenizer import Tokenizer
from nlp104.training.distribution import num_replicas
from nlp104.training.schedule import WarmupSchedule
from nlp104.transformer.config import OPTIONS, TransformerConfig
from nlp104.transformer.model import Transformer
from nlp104.transformer.presets import preset
from nlp104.utils.errors import InputError

# What is asked for by mistake: nobody would see the end of making it.
MOST_LAYERS, MOST_WEIGHTS = 1_000, 10**10


def read_corpus(settings, data_dir):
    """The `nlp104.data.Corpus` that the settings name, found or downloaded in `data_dir`."""
    return load_corpus(
        settings["data"],
        source_language=settings["source"],
        target_language=settings["target"],
        directory=data_dir,
        seed=settings["seed"],
        validation=settings["validation"],
        test=settings["test"],
        sizes=(settings["pairs"], None, None),
        normalized=settings["tokens"] != "whitespace",
    )


def train_tokenizers(pairs, settings):
    """The tokenizers of source and target; the same one twice if they share a vocabulary."""
    sources, targets = zip(*pairs, strict=True)
    options = {"kind": settings["tokens"], "vocabulary_size": settings["vocabulary_size"]}
    if settings["shared_vocabulary"]:
        return [Tokenizer.train(sources + targets, **options)] * 2
    return [Tokenizer.train(sources, **options), Tokenizer.train(targets, **options)]


def make_batches(pairs, tokenizers, settings, kind=Batches):
    """The pairs as `nlp104.data.Batches`, or as another class that is made like it."""
    sources, targets = (
        tokenizer.encode_batch(sentences)
        for tokenizer, sentences in zip(tokenizers, zip(*pairs, strict=True), strict=True)
    )
    return kind(
        sources,
        targets,
        batch_size=settings["batch_size"],
        tokens_per_batch=settings["tokens_per_batch"],
        max_length=settings["max_length"],
        bucket_width=8 if compiles_every_shape() else 1,
        multiple_of=num_replicas(),
        seed=settings["seed"],
    )


def compiles_every_shape():
    """Whether a new shape costs seconds: on JAX, and where TensorFlow uses XLA.

    Keras turns XLA on where there is more than a CPU. Without it TensorFlow traces one program for
    all shapes; PyTorch compiles nothing.
    """
    if keras.backend.backend() != "tensorflow":
        return keras.backend.backend() == "jax"
    return not all(name.startswith("cpu:") for name in keras.distribution.list_devices())


def model_config(tokenizers, settings):
    """The `nlp104.transformer.TransformerConfig` for these vocabularies."""
    source, target = (tokenizer.vocabulary_size for tokenizer in tokenizers)
    chosen = {name: settings[name] for name in OPTIONS if settings[name] is not None}
    config = TransformerConfig(
        **preset(
            settings["preset"],
            vocabulary_size=target,
            source_vocabulary_size=source,
            tie_embeddings=settings["shared_vocabulary"],
            **chosen,
        )
    )
    if config.num_layers > MOST_LAYERS or config.least_weights > MOST_WEIGHTS:
        raise InputError(
            f"Expected a model of at most {MOST_LAYERS:,} layers and {MOST_WEIGHTS:,} weights. "
            f"Received: {config.num_layers:,} layers and at least {config.least_weights:,} weights."
        )
    if settings["max_length"] > config.max_sequence_length:
        raise InputError(
            f"Expected --max-length of at most {config.max_sequence_length:,}, the most that the "
            f"model reads. Received: {settings['max_length']:,}."
        )
    return config


def build_model(tokenizers, settings):
    """A `nlp104.Transformer` with random weights, for these vocabularies."""
    return Transformer(model_config(tokenizers, settings), dtype=settings["dtype"])


def make_schedule(settings, steps):
    """The `nlp104.training.WarmupSchedule` of a training of so many steps."""
    total = steps if settings["decay"] == "linear" else None
    return WarmupSchedule(settings["learning_rate"], settings["warmup_steps"], total)


def peak_learning_rate(settings, steps, model):
    """The learning rate and the warm-up in numbers, so that a resumed run finds them unchanged."""
    paper = (model.config.hidden_dim * 4000) ** -0.5  # its peak, 4,000 being its warm-up
    return {
        "learning_rate": settings["learning_rate"] or paper,
        "warmup_steps": settings["warmup_steps"] or max(1, min(4000, steps // 10)),
    }
