"""Put the model of a finished run among those that come with the package.

    python -m tools.release RUN NAME

stores it in the folder NAME of ``nlp104/translation/models``, its weights rounded to 16 bits.
Beside it stands ``card.json`` with the languages of the run; the examples in it, for the page of
``nlp104 serve``, and the other card, ``README.md``, are for you to write. Score the stored model,
not that of the run: rounding may change a word. After another
``eng-fra``, ``python -m tools.recording`` makes the picture of the README anew.
"""

import argparse
import json
import tempfile
from pathlib import Path

from nlp104.translation.pretrained import CARD, FOLDER, read_card
from nlp104.translation.translator import Translator


def release(run, name):
    """Stores the translator of a run for `nlp104.load_pretrained`.

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
    card = read_card(run)
    trained = Translator.load(run)
    half = trained.model.with_dtype("float16")
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as folder:  # all of it, or nothing
        made = Path(folder) / name
        Translator(half, trained.source_tokenizer, trained.target_tokenizer).save(made)
        text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
        (made / CARD).write_text(text, encoding="utf-8")
        made.rename(directory)
    return directory


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", help="directory that nlp104 train made")
    parser.add_argument("name", help="what nlp104.load_pretrained shall call it")
    directory = release(**vars(parser.parse_args()))
    size = sum(path.stat().st_size for path in directory.iterdir())
    print(f"{directory}: {size / 1e6:.1f} MB. Now write its cards, README.md and {CARD}.")
