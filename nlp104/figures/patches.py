"""What an encoder makes of an image, as drawings: patches as words, places, looks."""

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["looks", "places", "reading"]

INK = 16  # the darkest pixel of a digit
MOST = 0.3  # the weight of the strongest tint, unless there is a larger one
FRAMED = 2  # the patch that is shown on its way from the image to its word


def reading(image, answer):
    """An image, cut into 8 patches that become words; a class token collects the answer.

    Args:
        image: `[8, 8]`, from 0 to 16.
        answer: what it shows.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: The image has another shape.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures import patches
        >>> "it is a 3" in patches.reading(load_digits().images[3], 3).wide
        True
    """
    image = np.asarray(image)
    if image.shape != (8, 8):
        raise ValueError(f"Expected an image of shape (8, 8). Received: {image.shape}.")
    return Layouts(*(_reading(width, image, answer) for width in (WIDE, NARROW)))


def places(similarity, columns, title=""):
    """How alike the vectors of places are: for each place of a grid a map of all of them.

    Args:
        similarity: `[place, place]`, from −1 to 1, places row by row.
        columns: how many places a row has.
        title: what there is to see.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: The places fill no grid of so many columns.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures import patches
        >>> drawn = patches.places(np.eye(8), columns=2, title="Each is like itself only")
        >>> "place 8" in drawn.narrow
        True
    """
    similarity = np.asarray(similarity)
    places = len(similarity)
    if similarity.shape != (places, places) or places % columns:
        raise ValueError(
            f"Expected a square matrix of whole rows of {columns} places. "
            f"Received: shape {similarity.shape}."
        )
    sizes = (WIDE, 13), (NARROW, 14)
    return Layouts(*(_places(*size, similarity, columns, title) for size in sizes))


def looks(images, weights, titles):
    """Images side by side, and below each where the class token looked, all in one scale.

    Args:
        images: `[image, 8, 8]`, from 0 to 16.
        weights: `[image, row, column]`, the weights of the patches.
        titles: a text above each.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There are not as many of each.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures import patches
        >>> images = load_digits().images[:2]
        >>> drawn = patches.looks(images, images[:, ::2, ::4] / 16, ["zero", "one"])
        >>> ">one<" in drawn.narrow
        True
    """
    if not len(images) == len(weights) == len(titles):
        raise ValueError(
            "Expected as many images as weights and titles. "
            f"Received: {len(images)}, {len(weights)} and {len(titles)}."
        )
    return Layouts(*(_looks(*size, images, weights, titles) for size in ((WIDE, 6), (NARROW, 3))))


def _pixels(drawing, x, y, image, size):
    """Ink, in the colour of the letters: as strong on a dark page as on a light one."""
    pixels = Drawing(drawing.width)
    pixels.matrix(x, y, image, "ink", width=size, height=size, most=INK)
    # Nothing is written on them, so the strongest may be full.
    drawing.add("g", "".join(pixels.elements), style="--cap:1;--lift:0")


def _reading(width, image, answer):
    """From the bottom up: the image, its patches, the words, the encoder, the answer."""
    drawing, tokens, top = Drawing(width), 9, 150
    pitch = width / tokens
    cell = min(40, pitch - 8)
    middle = cell / 2 + 1
    drawing.text(0, 12, f"it is a {answer}", strong=True, size=15)
    drawing.wire([(middle, 54), (middle, 24)], "a", arrow=True, strong=True)
    drawing.box(1, 54, width - 2, 40, "encoder: all look at all", "a", lit=True)
    for token in range(tokens):
        x = token * pitch
        look = {"width": cell, "rx": 3}
        drawing.wire([(x + middle, top), (x + middle, 94)], arrow=True)
        word = {"class_": "f-r", "fill_opacity": 0.5} if token else {"class_": "outline s-ink"}
        drawing.add("rect", x=x + 1, y=top, height=14, **word, **look)
        drawing.add("rect", x=x + 1, y=top + 18, height=8, class_="f-p", **look)
        if token == 1 + FRAMED:
            _frame(drawing, x - 2, top - 3, cell + 6, 32)
    drawing.text(0, top + 42, "class token", size=13, strong=True)
    drawing.text(width, top + 42, "8 patches as words", anchor="end", muted=True, size=13)
    words = "+ a learned vector for each place"
    drawing.text(width, top + 61, words, anchor="end", concept="p", size=13)
    left, foot = (width - 304) / 2, top + 92
    for row in range(4):
        for column in range(2):
            patch = image[2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            place = left + 192 + 56 * column, foot + 34 * row
            _pixels(drawing, *place, patch, 12)
            if 2 * row + column == FRAMED:
                _frame(drawing, place[0] - 2, place[1] - 2, 52, 28)
    drawing.wire([(left + 244, foot - 4), (left + 244, top + 72)], arrow=True)
    drawing.wire([(left + 140, foot + 64), (left + 182, foot + 64)], arrow=True)
    _pixels(drawing, left, foot, image, 16)
    row, column = divmod(FRAMED, 2)
    _frame(drawing, left + 64 * column, foot + 32 * row, 64, 32)
    return drawing.svg(foot + 130)


def _frame(drawing, x, y, width, height):
    """What is framed is the same patch."""
    place = {"x": x, "y": y, "width": width, "height": height, "rx": 4}
    drawing.add("rect", **place, class_="outline s-a", stroke_width=2.25)


def _places(width, size, similarity, columns, title):
    """One map for each place, where the place is; below them what filled and outlined means."""
    drawing, rows = Drawing(width), len(similarity) // columns
    cell = {"width": 40, "height": 20}  # a patch is twice as wide as high
    wide, high = columns * cell["width"], rows * cell["height"]
    step = wide + 40, high + 40
    left, head = (width - columns * step[0] + 40) / 2, 34
    drawing.text(0, 12, title, strong=True, size=size + 2)
    for place, alike in enumerate(similarity):
        row, column = divmod(place, columns)
        x, y = left + step[0] * column, head + step[1] * row
        drawing.text(x, y + 8, f"place {place + 1}", muted=True, size=size)
        drawing.matrix(x, y + 20, alike.reshape(rows, columns), "p", most=1.0, **cell)
        own = {"x": x + cell["width"] * column, "y": y + 20 + cell["height"] * row}
        drawing.add("rect", **own, **cell, rx=4, class_="outline s-ink", stroke_width=1.5)
    foot = head + rows * step[1]
    for x, value, words in ((left, 1.0, "alike"), (left + step[0], -1.0, "opposed")):
        drawing.cell(x, foot, value, "p", **cell, most=1.0)
        drawing.text(x + cell["width"] + 6, foot + cell["height"] / 2, words, size=size)
    return drawing.svg(foot + cell["height"])


def _looks(width, across, images, weights, titles):
    """Rows of images, each above the weights of its patches; last, what the tints stand for."""
    drawing, pitch = Drawing(width), width / across
    size, even = min(88, pitch - 10), 1 / np.size(weights[0])
    most = max(MOST, np.max(weights))
    high = 2 * size + 54
    for number, (image, weight, title) in enumerate(zip(images, weights, titles, strict=True)):
        x, y = number % across * pitch, number // across * high
        drawing.text(x, y + 10, title, strong=True, size=13)
        _pixels(drawing, x, y + 24, image, size / 8)
        rows, columns = np.shape(weight)
        cell = {"width": size / columns, "height": size / rows}
        drawing.matrix(x, y + 30 + size, weight, "a", most=most, **cell)
    foot = -(-len(images) // across) * high - 6
    drawing.text(0, foot + 10, "weight", muted=True, size=13)
    for number, value in enumerate((0, even, most)):
        x = 66 + 88 * number
        drawing.cell(x, foot, value, "a", 24, 20, most)
        drawing.text(x + 30, foot + 10, f"{100 * value:.3g} %", size=13)
    return drawing.svg(foot + 22)
