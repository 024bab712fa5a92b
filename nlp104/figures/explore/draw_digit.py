"""A digit that the reader draws, and a small Vision Transformer that reads it meanwhile."""

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.digit_reader import Reader, weights
from nlp104.figures.explore.explorable import Explorable

TITLE = "It reads while you draw"
ALT = (
    "A 7 drawn by hand becomes an image of 8 by 8 pixels, cut into 8 patches. The class token "
    "looks at them with {looks} %. It reads a {best}, {share} sure."
)
MIXED = (5, 2, 7, 0, 3, 6, 1, 4)  # the order of the patches in the chapter on images
FINE = 511  # the largest coordinate of a point
ROW = 13  # pixels of the still, for the bar of a digit
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# Strokes of a pen on a sheet of 100 × 100.
SEVEN = [[(30, 20), (50, 18), (72, 19), (64, 36), (56, 52), (49, 70), (45, 86)]]
SEVEN_IMAGE = (  # that becomes of them in the page
    (0, 5, 13, 16, 16, 16, 5, 0),
    (0, 5, 16, 12, 15, 16, 6, 0),
    (0, 0, 0, 0, 15, 15, 0, 0),
    (0, 0, 0, 6, 16, 9, 0, 0),
    (0, 0, 0, 11, 16, 2, 0, 0),
    (0, 0, 0, 16, 13, 0, 0, 0),
    (0, 0, 4, 16, 9, 0, 0, 0),
    (0, 0, 3, 16, 5, 0, 0, 0),
)
FOUR = [
    [(34, 16), (32, 34), (32, 50), (48, 52), (66, 50)],
    [(66, 14), (65, 40), (64, 64), (63, 86)],
]
SCRIBBLE = [
    [(20, 40), (34, 24), (46, 60), (58, 22), (70, 66), (78, 30), (84, 50)],
    [(24, 70), (50, 78), (76, 68)],
]


def draw_digit(images=()):
    """A digit that the reader draws, read while it is drawn by a Vision Transformer.

    What is drawn becomes an image as those of the data set are: 32 × 32 dots, so stretched and so
    thick that it fills them as they do, of which each of 8 × 8 pixels counts its inked ones
    (Alpaydin and Kaynak, 1998). The model, Dosovitskiy et al. (2021) in small, is the chapter's;
    `python -m experiments.images --reader` trained it.

    Args:
        images: images of the data set that are offered beside what is drawn: for each a label,
            from 0 to 9, and `[8, 8]` whole numbers from 0 to 16. They have no strokes.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: An image has another shape or other numbers, or a label is no digit.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures import explore
        >>> images, labels = load_digits()
        >>> it = explore.draw_digit([(labels[3], images[3])])
        >>> [example["title"] for example in it.data["examples"]]
        ['a 7', 'a 4', 'a scribble', 'test: 3']
    """
    drawn = [
        ("seven", "a 7", 7, SEVEN),
        ("four", "a 4", 4, FOUR),
        ("scribble", "a scribble", None, SCRIBBLE),
    ]
    examples = [
        {"name": name, "title": title, "label": label, "strokes": _code(strokes)}
        for name, title, label, strokes in drawn
    ]
    for number, (label, image) in enumerate(images):
        label, image = _checked(label, image)
        examples.append(
            {"name": f"test{number}", "title": f"test: {label}", "label": label, "image": image}
        )
    model = weights()
    logits, looks = Reader(model)(SEVEN_IMAGE)
    shares = np.exp(logits - logits.max())
    looks, shares = looks.round(3), (shares / shares.sum()).round(3)  # alike on any machine
    alt = ALT.format(
        looks=", ".join(f"{100 * look:.0f}" for look in looks),
        best=shares.argmax(),
        share=f"{shares.max():.0%}",
    )
    data = {"examples": examples, "mixed": MIXED, "model": model}
    return Explorable("draw_digit", TITLE, data, _still(looks, shares), alt)


def _checked(label, image):
    """A label and an image as JSON holds them."""
    found = np.asarray(image)
    if found.shape != (8, 8):
        raise ValueError(f"Expected an image of shape (8, 8). Received: shape {found.shape}.")
    if (wrong := ~np.isin(found, range(17))).any():
        raise ValueError(
            f"Expected whole numbers from 0 to 16 in an image. Received: {found[wrong][0]}."
        )
    if label not in range(10):
        raise ValueError(f"Expected a label from 0 to 9. Received: {label!r}.")
    return int(label), found.astype(int).reshape(-1).tolist()


def _code(strokes):
    """Strokes as an address holds them: three letters for a point, a dot before each stroke."""

    def letters(x, y):
        x, y = (round(part / 100 * FINE) for part in (x, y))
        return "".join(LETTERS[i] for i in (x >> 3, (x & 7) << 3 | y >> 6, y & 63))

    return "".join("." + "".join(letters(*point) for point in stroke) for stroke in strokes)


def _still(looks, shares):
    """The drawn 7, the image in eight tinted patches, and ten bars."""
    drawing, top = Drawing(360), 24
    _sheet(drawing, 1, top)
    _words(drawing, 130, top, looks)
    _answer(drawing, 262, top, shares)
    return drawing.svg(top + 10 * ROW + 4)


def _sheet(drawing, left, top, side=112):
    """A frame, and the 7 as a pen draws it."""
    drawing.text(0, 8, "a drawing")
    drawing.add("rect", x=left, y=top, width=side, height=side, rx=8, class_="box")
    points = " ".join(f"{left + side * x / 100:g} {top + side * y / 100:g}" for x, y in SEVEN[0])
    pen = {"stroke_width": 0.15 * side, "stroke_linecap": "round", "stroke_linejoin": "round"}
    drawing.add("path", d=f"M{points}", class_="s-ink", style="fill:none", **pen)


def _words(drawing, left, top, looks, pixel=14):
    """The pixels, and behind them the patches, the darker the more the class token looks there."""
    drawing.text(left, 8, "8 words")
    most = max(0.3, looks.max())
    size = {"width": 4 * pixel, "height": 2 * pixel}
    drawing.matrix(left, top, looks.reshape(4, 2), "a", most=most, **size)
    for (row, column), ink in np.ndenumerate(SEVEN_IMAGE):
        if ink:
            middle = {"cx": left + (column + 0.5) * pixel, "cy": top + (row + 0.5) * pixel}
            drawing.add("circle", **middle, r=pixel / 2 * np.sqrt(ink / 16), class_="f-ink")


def _answer(drawing, left, top, shares):
    """A bar for each digit."""
    best = shares.argmax()
    drawing.text(left, 8, "an answer")
    for digit, share in enumerate(shares):
        y = top + (digit + 0.5) * ROW
        drawing.text(left + 8, y, str(digit), anchor="end", size=12, strong=digit == best)
        bar = {"x": left + 14, "y": y - 4, "width": max(1, 46 * share), "height": 8, "rx": 2}
        drawing.add("rect", **bar, class_="f-v")
    drawing.text(left + 64, top + (best + 0.5) * ROW, f"{shares.max():.0%}", size=12, strong=True)
