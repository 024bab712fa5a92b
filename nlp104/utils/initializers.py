"""What draws the first weights."""

import keras


def copy_of(initializer):
    """An initializer that draws numbers of its own, if it was given no seed; a function as it is.

    A Keras initializer without a seed chooses one, and keeps it: used twice, it draws the same
    numbers twice.

    Example:
        >>> import keras
        >>> from nlp104.utils.initializers import copy_of
        >>> initializer = keras.initializers.GlorotUniform()
        >>> copy_of(initializer).seed == initializer.seed
        False
        >>> copy_of(keras.ops.ones) is keras.ops.ones
        True
    """
    is_function = not isinstance(initializer, keras.initializers.Initializer)
    return initializer if is_function else initializer.clone()
