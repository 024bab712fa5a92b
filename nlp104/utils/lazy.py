"""Names of a package that are imported when they are first asked for (PEP 562).

`nlp104 --help` would wait seconds for Keras and its backend otherwise.
"""

import importlib


def attach(package, modules):
    """Makes the ``__all__``, ``__getattr__`` and ``__dir__`` of a package's ``__init__``.

    Args:
        package: The ``__name__`` of the package.
        modules: For each module of the package the names that it gives it. A module without names
            is itself such a name.

    Returns:
        ``__all__``, ``__getattr__``, ``__dir__``.

    Example:
        >>> __all__, __getattr__, __dir__ = attach(__name__, {"loss": ["MaskedCrossentropy"]})
    """
    home = {name: module for module, names in modules.items() for name in names}
    public = sorted([*home, *(module for module, names in modules.items() if not names)])

    def get(name):
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home.get(name, name)}")
        return getattr(module, name) if name in home else module

    return public, get, lambda: public
