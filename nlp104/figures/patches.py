"""What an encoder makes of an image, as drawings: patches as words, copies, places, looks."""

import textwrap

import numpy as np

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["copies", "looks", "mixtures", "places", "reading"]

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


def looks(images, weights, outlined, titles, below, heading):
    """Digits over the patches that the class token looks at, all in one scale.

    Args:
        images: `[image, 8, 8]`, from 0 to 16.
        weights: `[image, row, column]`, the weights of the patches.
        outlined: booleans of the same shape, the patches that are counted.
        titles: a text above each.
        below: two lines of text below each.
        heading: what there is to see, and a sentence.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There are not as many of each.

    Example:
        >>> import numpy as np
        >>> from nlp104.figures import patches
        >>> image, even, below = np.zeros((8, 8)), np.full((4, 2), 1 / 8), ("outlined: 0 %", "")
        >>> drawn = patches.looks([image], [even], [even > 1], ["a 1"], [below], ("None", ""))
        >>> "outlined: 0 %" in drawn.narrow
        True
    """
    parts = images, weights, outlined, titles, below
    if len(set(counts := [len(part) for part in parts])) > 1:
        raise ValueError(f"Expected as many of each. Received: {counts}.")
    return Layouts(*(_looks(width, parts, heading) for width in (WIDE, NARROW)))


def copies(images, title=""):
    """Images three by three, the middle one framed.

    Args:
        images: `[9, 8, 8]`, from 0 to 16.
        title: what there is to see.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: There are not nine.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures import patches
        >>> "Nine zeros" in patches.copies(load_digits().images[[0] * 9], "Nine zeros").wide
        True
    """
    if np.shape(images) != (9, 8, 8):
        raise ValueError(f"Expected images of shape (9, 8, 8). Received: {np.shape(images)}.")
    return Layouts(*(_copies(width, np.asarray(images), title) for width in (WIDE, NARROW)))


def mixtures(pictures, title=""):
    """Images cut into patches, each patch beside the number of the position that it is given.

    Args:
        pictures: of each what was done, `[8, 8]` from 0 to 16, its 8 positions counted from 1, its
            score, and a remark on it, of one line or two.
        title: what there is to see.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Example:
        >>> from nlp104.data import load_digits
        >>> from nlp104.figures import patches
        >>> image = load_digits().images[3]
        >>> drawn = patches.mixtures([("as it is", image, range(1, 9), "96 %", "")], "A three")
        >>> "as it is" in drawn.wide
        True
    """
    return Layouts(_mixtures(WIDE, 4, pictures, title), _mixtures(NARROW, 2, pictures, title))


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
    word = (1 + FRAMED) * pitch + middle
    left, foot = (width - 304) / 2, top + 132
    bend = left + 168
    drawing.text(0, top + 42, "class token", size=13, strong=True)
    drawing.text(word + 12, top + 42, "+ a vector for each place", concept="p", size=13)
    for row in range(4):
        for column in range(2):
            patch = image[2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            place = left + 192 + 56 * column, foot + 34 * row
            _pixels(drawing, *place, patch, 12)
            if 2 * row + column == FRAMED:
                _frame(drawing, place[0] - 2, place[1] - 2, 52, 28)
                side = place[1] + 12
                way = (place[0] - 2, side), (bend, side), (bend, top + 98)
                drawing.wire(way, arrow=True)
    drawing.wire([(word, top + 66), (word, top + 33)], arrow=True)
    drawing.box(word - 24, top + 66, bend - word + 48, 32, "one matrix", "r", lit=True)
    drawing.text(bend + 34, top + 82, "for all 8 patches", muted=True, size=13)
    drawing.wire([(left + 140, foot + 96), (left + 182, foot + 96)], arrow=True)
    _pixels(drawing, left, foot, image, 16)
    row, column = divmod(FRAMED, 2)
    _frame(drawing, left + 64 * column, foot + 32 * row, 64, 32)
    return drawing.svg(foot + 136)


def _frame(drawing, x, y, width, height):
    """What is framed is meant: on its way the same patch, or those that are counted."""
    place = {"x": x + 1, "y": y + 1, "width": width - 2, "height": height - 2, "rx": 4}
    drawing.add("rect", **place, class_="outline s-ink", stroke_width=2)


def _places(width, size, similarity, columns, title):
    """One map for each place, where the place is; below them what filled and outlined means."""
    drawing, rows = Drawing(width), len(similarity) // columns
    cell = {"width": 40, "height": 20}  # a patch is twice as wide as high
    gap, left = (70, 0) if width == WIDE else (40, 4)
    step = columns * cell["width"] + gap, rows * cell["height"] + 40
    across, head = int((width + gap) // step[0]), 34
    drawing.text(0, 12, title, strong=True, size=size + 2)
    for place, alike in enumerate(similarity):
        x, y = left + step[0] * (place % across), head + step[1] * (place // across)
        drawing.text(x, y + 8, f"place {place + 1}", muted=True, size=size)
        drawing.matrix(x, y + 20, alike.reshape(rows, columns), "p", most=1.0, **cell)
        row, column = divmod(place, columns)
        own = {"x": x + cell["width"] * column, "y": y + 20 + cell["height"] * row}
        drawing.add("rect", **own, **cell, rx=4, class_="outline s-ink", stroke_width=1.5)
    foot = head + -(-len(similarity) // across) * step[1]
    for x, value, words in ((left, 1.0, "alike"), (left + step[0], -1.0, "opposed")):
        drawing.cell(x, foot, value, "p", **cell, most=1.0)
        drawing.text(x + cell["width"] + 6, foot + cell["height"] / 2, words, size=size)
    return drawing.svg(foot + cell["height"])


def _copies(width, images, title):
    """Three rows of three; the middle one is the image itself."""
    drawing, size = Drawing(width), 8
    pitch = 8 * size + 24
    left, head = (0 if width == WIDE else (width - 3 * pitch + 24) / 2), 38
    drawing.text(0, 12, title, strong=True, size=15)
    for number, image in enumerate(images):
        row, column = divmod(number, 3)
        x, y = left + pitch * column, head + pitch * row
        _pixels(drawing, x, y, image, size)
        if number == 4:
            _frame(drawing, x - 6, y - 6, 8 * size + 12, 8 * size + 12)
    return drawing.svg(head + 3 * pitch - 14)


def _mixtures(width, across, pictures, title):
    """Under each image its score; beside each patch a number in the colour of positions."""
    drawing, pitch, cell, high = Drawing(width), width / across, 12, 218
    drawing.text(0, 12, title, strong=True, size=15)
    drawing.text(0, 34, "purple: the position that is added to a patch", concept="p", size=13)
    for number, (name, image, positions, score, remark) in enumerate(pictures):
        x, y = number % across * pitch, 64 + number // across * high
        drawing.text(x, y, name, strong=True, size=13)
        for place, position in enumerate(positions):
            row, column = divmod(place, 2)
            patch = np.asarray(image)[2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            corner = x + 14 + column * (4 * cell + 5), y + 16 + row * (2 * cell + 5)
            _pixels(drawing, *corner, patch, cell)
            beside = corner[0] + (4 * cell + 7 if column else -5)
            look = {"anchor": None if column else "end", "concept": "p", "size": 13}
            drawing.text(beside, corner[1] + cell, str(position), **look)
        drawing.text(x + 14, y + 148, score, strong=True, size=18)
        for line, words in enumerate(remark.split("\n")):
            drawing.text(x + 14, y + 169 + 16 * line, words, muted=True, size=12)
    return drawing.svg(64 + -(-len(pictures) // across) * high - 20)


def _looks(width, parts, heading):
    """Rows of four: dots of ink on tinted patches; last, what the tints stand for."""
    drawing, pitch = Drawing(width), width / 4
    size, weights = min(96, pitch - 10), np.asarray(parts[1])
    most = max(MOST, weights.max())
    letters = 84 if width == WIDE else 46
    drawing.heading(*heading, letters, 13)
    high, head = size + 78, 48 + 17 * len(textwrap.wrap(heading[1], letters))
    for number, (image, weight, frames, title, lines) in enumerate(zip(*parts, strict=True)):
        x, y = number % 4 * pitch, head + number // 4 * high
        drawing.text(x, y + 8, title, strong=True, size=13)
        rows, columns = np.shape(weight)
        cell = {"width": size / columns, "height": size / rows}
        drawing.matrix(x, y + 20, weight, "a", most=most, **cell)
        _dots(drawing, x, y + 20, image, size / 8)
        for row, column in np.argwhere(frames):
            _frame(drawing, x + column * cell["width"], y + 20 + row * cell["height"], **cell)
        for line, words in enumerate(lines):
            drawing.text(x, y + size + 32 + 17 * line, words, muted=line > 0, size=12)
    foot = head + -(-len(weights) // 4) * high - 4
    drawing.text(0, foot + 10, "weight", muted=True, size=13)
    for number, value in enumerate((0, 1 / weights[0].size, most)):
        x = 66 + 88 * number
        drawing.cell(x, foot, value, "a", 24, 20, most)
        drawing.text(x + 30, foot + 10, f"{100 * value:.3g} %", size=13)
    return drawing.svg(foot + 22)


def _dots(drawing, x, y, image, size):
    """Ink as dots, so that what is below can be seen: an area for an amount."""
    for (row, column), value in np.ndenumerate(image):
        if value:
            middle = {"cx": x + (column + 0.5) * size, "cy": y + (row + 0.5) * size}
            radius = 0.36 * size * np.sqrt(value / INK)
            drawing.add("circle", **middle, r=radius, class_="f-ink")
