"""What the Keras entries have in common: `model.fit`, and programs around a model."""

import keras
import numpy as np
from keras import ops

from benchmarks.data import LONGEST, stream
from nlp104.data.batches import untuned_dataset
from nlp104.data.tokenizer import END_ID, PAD_ID, START_ID

NEVER = -1e9  # a logit that no search chooses


class KerasPeer:
    """A Keras model of one's own, trained by `model.fit` as every tutorial does it.

    Args:
        config: `benchmarks.config.Config`.
        jit_compile: Whether TensorFlow compiles with XLA. Otherwise Keras decides, as it does for
            a reader: yes on a GPU, no on a CPU. JAX always compiles.
    """

    has_beam_search = False
    fixed_length = False  # whether its documentation pads all batches to one length

    def __init__(self, config, jit_compile=False):
        keras.config.set_dtype_policy(config.dtype)
        keras.utils.set_random_seed(config.seed)
        self.config, self.jit_compile = config, jit_compile
        self.model = self.make_model(config)
        self.compile()
        self._programs = {}

    def make_model(self, config):
        """A model from `{"encoder_token_ids", "decoder_token_ids"}` to logits."""
        raise NotImplementedError

    def compile(self):
        self.model.compile(
            optimizer=keras.optimizers.Adam(
                self.config.learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9
            ),
            loss=masked_loss,
            metrics=[masked_accuracy],
            jit_compile=True if self.jit_compile else "auto",
        )

    @property
    def compiles(self):
        """Whether every shape costs seconds of compiling."""
        return self.jit_compile or keras.backend.backend() == "jax"

    @property
    def width(self):
        """The columns of its own batches; `None`: as many as each needs."""
        # Where every shape is compiled, no tutorial pads to the longest.
        return LONGEST if self.compiles or self.fixed_length else None

    def batches(self, sources, targets):
        return stream(sources, targets, self.config.batch_size, self.width)

    def train(self, batches, own=False):
        data = dataset(batches, one_shape=not own or self.width is not None)
        self.model.fit(data, verbose=0, shuffle=False)

    def warm_up(self):
        """Nothing: all batches have one shape, or one program for all shapes."""

    def logits(self, inputs):
        inputs = {name: np.asarray(ids, "int32") for name, ids in inputs.items()}
        return self.model.predict_on_batch(inputs)

    def parameters(self):
        return self.model.count_params()

    def output_bias(self):
        """The variable that holds the bias of the logits."""
        return self.model.layers[-1].bias

    def silence_end(self):
        """No sentence ends before the longest length, so that all peers decode equally much."""
        bias = ops.convert_to_numpy(self.output_bias()).copy()
        bias[[PAD_ID, END_ID]] = NEVER
        self.output_bias().assign(bias)

    def decode(self, encoder_token_ids, max_length, num_beams=1):
        """Runs the peer's own search; one program for each kind of search and length."""
        key = max_length, num_beams
        if key not in self._programs:
            self._programs[key] = self.program(self.search(max_length, num_beams))
        return ops.convert_to_numpy(self._programs[key](np.asarray(encoder_token_ids, "int32")))

    def search(self, max_length, num_beams):
        """A function from `[batch, source]` to `[batch, max_length]`, in `keras.ops`.

        Without a beam search of its own, a peer may take it that there is one beam.
        """
        raise NotImplementedError

    def program(self, function):
        """Compiles a function of token ids that uses the model, as Keras' `predict` would."""
        backend = keras.backend.backend()
        if backend == "tensorflow":
            import tensorflow as tf

            gpu = bool(tf.config.list_physical_devices("GPU"))
            return tf.function(function, jit_compile=self.jit_compile or gpu or None)
        if backend == "jax":
            import jax

            @jax.jit
            def stateless(values, ids):
                with keras.StatelessScope(zip(self.model.variables, values, strict=True)):
                    return function(ids)

            return lambda ids: stateless([v.value for v in self.model.variables], ids)
        import torch

        def eager(ids):
            with torch.no_grad():
                return function(ops.convert_to_tensor(ids))

        return eager


class Listed(keras.utils.PyDataset):
    """A list of batches."""

    def __init__(self, batches):
        super().__init__()
        self._batches = batches

    def __len__(self):
        return len(self._batches)

    def __getitem__(self, index):
        return self._batches[index]


def dataset(batches, one_shape):
    """A list of batches as the backend's tutorials pass them: tf.data where there is TensorFlow.

    Args:
        batches: `(inputs, labels)` pairs.
        one_shape: Whether all batches have the same shape; otherwise their columns vary.
    """
    if keras.backend.backend() != "tensorflow":
        return Listed(batches)
    import tensorflow as tf

    def signature(array):
        return tf.TensorSpec(array.shape if one_shape else (None, None), "int32")

    inputs, labels = batches[0]
    signatures = {name: signature(ids) for name, ids in inputs.items()}, signature(labels)
    return untuned_dataset(lambda: iter(batches), signatures, len(batches))


def masked_loss(labels, logits):
    """Cross-entropy of the real tokens, from stock Keras' loss with padding weighed by zero."""
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)(
        labels, ops.cast(logits, "float32")
    )
    weights = ops.cast(labels != PAD_ID, losses.dtype)
    return ops.sum(losses * weights) / ops.sum(weights)


def masked_accuracy(labels, logits):
    right = ops.cast(
        ops.cast(labels, "int32") == ops.cast(ops.argmax(logits, -1), "int32"), "float32"
    )
    weights = ops.cast(labels != PAD_ID, "float32")
    return ops.sum(right * weights) / ops.sum(weights)


def token_inputs(length=None):
    """Symbolic token ids, from which a model is built."""
    return {
        name: keras.Input((length,), dtype="int32", name=name)
        for name in ("encoder_token_ids", "decoder_token_ids")
    }


def sinusoid(length, width):
    """The paper's positions as a constant `[length, width]`."""
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return (
        np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width).astype("float32")
    )


def start_tokens(ids, columns=1):
    """`[batch, columns]` of the start token's id."""
    return ops.full((ops.shape(ids)[0], columns), START_ID, dtype="int32")
