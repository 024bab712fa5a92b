"""Names of a package that are imported when they are first asked for (PEP 562).

`nlp104 --help` would wait seconds for Keras and its backend otherwise.
"""

import importlib


def attach(package, names, modules=()):
    """Makes the ``__all__``, ``__getattr__`` and ``__dir__`` of a package's ``__init__``.

    Args:
        package: The ``__name__`` of the package.
        names: For each module of the package the names that it gives it.
        modules: Modules of the package that are names of it themselves.

    Returns:
        ``__all__``, ``__getattr__``, ``__dir__``.

    Example:
        >>> from nlp104.utils.lazy import attach
        >>> names = {"loss": ["MaskedCrossentropy"]}
        >>> __all__, __getattr__, __dir__ = attach("nlp104.training", names)
        >>> __all__, __getattr__("MaskedCrossentropy").__module__
        (['MaskedCrossentropy'], 'nlp104.training.loss')
    """
    home = {name: module for module, given in names.items() for name in given}
    public = sorted([*home, *modules])

    def get(name):
        if name in home:
            return getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return public, get, lambda: public
