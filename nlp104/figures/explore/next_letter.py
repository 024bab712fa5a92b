"""Shannon's guessing game: the reader guesses a text letter by letter, against a language model."""

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable

TITLE = "Guess the next letter: beginnings are hard"
ALT = "{shown}{opened}___ {name} needed {places} guesses for these letters."
KEYS = "abcdefghijklmnopqrstuvwxyz "
LONGEST = 32  # characters that are shown: what fits the width of a phone


def next_letter(passages, step=0):
    """A text to be guessed letter by letter, by the reader and by those who guessed before.

    A letter is guessed until it is right, whatever its case; then it stands open, and on it how
    many guesses it took the reader, below it how many the first of the guessers. The idea is that
    of Shannon (1951), "Prediction and entropy of printed English".

    Args:
        passages: dictionaries, such as ``experiments.guessing`` records: ``name``, of the passage;
            ``shown``, how it begins; ``hidden``, how it goes on, in letters and single spaces;
            and ``guessers``, from one or two names to a dictionary: ``places``, how many guesses
            it took for each hidden letter; ``own``, the probability of that letter; and, of the
            first, ``best``, for each letter the likeliest with their probabilities.
        step: how many letters are open before the figure is touched.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: There is no passage, one has too long a beginning, hides what is not on the 27
            keys, nobody or more than two have guessed, or somebody another number of letters.

    Example:
        >>> from nlp104.figures import explore
        >>> said = [{"a": 0.6, "i": 0.2}, {"t": 0.5, "r": 0.3}]
        >>> model = {"places": [1, 2], "own": [0.6, 0.3], "best": said}
        >>> car = {"name": "car", "shown": "A c", "hidden": "ar", "guessers": {"it": model}}
        >>> explore.next_letter([car], step=1).alt
        'A ca___ it needed 1 guesses for these letters.'
    """
    if not passages:
        raise ValueError("Expected at least one passage. Received: none.")
    for passage in passages:
        _check(passage)
    first, step = passages[0], min(step, len(passages[0]["hidden"]))
    name, model = next(iter(first["guessers"].items()))
    alt = ALT.format(
        shown=first["shown"],
        opened=first["hidden"][:step],
        name=name,
        places=", ".join(map(str, model["places"][:step])),
    )
    data = {"passages": [_packed(passage) for passage in passages], "step": step}
    return Explorable("next_letter", TITLE, data, _still(first, step), alt)


def _check(passage):
    """Raises an error unless a passage can be played."""
    name, hidden = passage["name"], passage["hidden"]
    if len(passage["shown"]) > LONGEST:
        raise ValueError(
            f"Expected at most {LONGEST} characters that are shown. "
            f"Received: {passage['shown']!r}, in {name!r}."
        )
    unknown = sorted(set(hidden.lower()) - set(KEYS))
    if not hidden or unknown:
        raise ValueError(
            f"Expected letters from a to z and spaces to guess. "
            f"Received: {''.join(unknown)!r} in {hidden!r}, in {name!r}."
        )
    if len(passage["guessers"]) not in (1, 2):
        raise ValueError(
            f"Expected one or two guessers. Received: {len(passage['guessers'])}, in {name!r}."
        )
    first, model = next(iter(passage["guessers"].items()))
    lists = {f"best of {first}": model["best"]}
    for who, guesser in passage["guessers"].items():
        lists |= {f"places of {who}": guesser["places"], f"own of {who}": guesser["own"]}
    for what, found in lists.items():
        if len(found) != len(hidden):
            raise ValueError(
                f"Expected one of {what} for each of the {len(hidden)} hidden letters. "
                f"Received: {len(found)}, in {name!r}."
            )


def _packed(passage):
    """A passage as the page reads it."""
    guessers = passage["guessers"]
    return {key: passage[key] for key in ("name", "shown", "hidden")} | {
        "guessers": [
            {"name": name, "places": guesser["places"], "own": guesser["own"]}
            for name, guesser in guessers.items()
        ],
        "best": [list(best.items()) for best in next(iter(guessers.values()))["best"]],
    }


def _still(passage, step):
    """The letters, how many guesses the model needed for them, and the hidden ones."""
    across, cell, pitch = 20, 18, 84
    drawing = Drawing(across * cell)
    drawing.text(0, 12, passage["shown"], size=17)
    places = next(iter(passage["guessers"].values()))["places"]
    unit = 38 / max(places)
    for number, letter in enumerate(passage["hidden"]):
        x, y = cell * (number % across), 30 + pitch * (number // across)
        if number >= step:
            drawing.cell(x, y, 0, "r", cell, 26, 1, hidden=True)
            continue
        space, middle = letter == " ", x + cell / 2
        drawing.text(
            middle, y + 13, "␣" if space else letter, anchor="middle", size=16, muted=space
        )
        high = unit * places[number]
        box = {"x": x + 2, "y": y + 27, "width": cell - 4, "height": high, "rx": 2}
        drawing.add("rect", **box, style="fill:var(--s3-line)")
        if places[number] > 1:
            drawing.text(middle, y + 35 + high, f"{places[number]}", anchor="middle", size=12)
    return drawing.svg(30 + pitch * -(-len(passage["hidden"]) // across))
