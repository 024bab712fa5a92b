"""Put the model of a finished run among those that come with the package.

    python -m tools.release RUN NAME

stores it in ``nlp104/models/NAME``, its weights rounded to 16 bits. The card beside it is for you
to write. Score the stored model, not that of the run: rounding may change a word.
"""

import argparse

from nlp104.translation.pretrained import FOLDER
from nlp104.translation.translator import Translator


def release(run, name):
    """Store the translator of a run for `nlp104.load_pretrained`.

    Args:
        run: Directory that `nlp104 train` made.
        name: Name of the model.

    Returns:
        Directory of the stored model.

    Raises:
        FileExistsError: If there is a model of that name.
    """
    directory = FOLDER / name
    if directory.exists():
        raise FileExistsError(f"{directory} exists: choose another name, or delete it first.")
    trained = Translator.load(run)
    half = trained.model.with_dtype("float16")
    Translator(half, trained.source_tokenizer, trained.target_tokenizer).save(directory)
    return directory


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", help="directory that nlp104 train made")
    parser.add_argument("name", help="what nlp104.load_pretrained shall call it")
    directory = release(**vars(parser.parse_args()))
    size = sum(path.stat().st_size for path in directory.iterdir())
    print(f"{directory}: {size / 1e6:.1f} MB. Now write its card, {directory / 'README.md'}.")
