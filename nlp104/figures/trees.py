"""Parse trees as drawings: one tree, and a tree beside another one.

Trees are nested tuples, as `nlp104.data.grammar.brackets` makes them.
"""

from collections import Counter
from typing import NamedTuple

from nlp104.figures.drawing import NARROW, WIDE, Drawing, Layouts

__all__ = ["tree"]

LETTER, CAPITAL = 7.1, 9.2  # pixels: how wide letters of 13 pixels are, on average
LEVEL, ROW, INDENT = 34, 24, 17  # of a tree that grows up, of a list, and within a list


class _Node(NamedTuple):
    label: str
    span: tuple  # places of the first and of the last word
    children: tuple
    word: str = ""


def tree(gold, said=None, names=("right", "written"), dashed=True):
    """A parse tree; with a second one of the same words what differs is framed.

    On a page the tree stands on its words, and the second one hangs below them, upside down. On a
    phone, and where a sentence is too long for its words to stand side by side, trees are lists.
    The frames of the second tree are dashed. Where only names differ, a phone shows one list: the
    second name stands after the first.

    Args:
        gold: The tree.
        said: Another tree of the same words.
        names: What the two are called, if there are two.
        dashed: Whether the frames of the second tree are; not where neither of the two is wrong.

    Returns:
        Its two `nlp104.figures.drawing.Layouts`, for `nlp104.figures.plots.show`.

    Raises:
        ValueError: The trees do not have the same words.

    Example:
        >>> from nlp104.data.grammar import brackets
        >>> from nlp104.figures import trees
        >>> cat = brackets.parse("(S (NP (PRP It)) (VP (VBZ sleeps)) (. .))")
        >>> ">sleeps<" in trees.tree(cat).wide
        True
    """
    nodes = [_numbered(one) for one in (gold, said) if one is not None]
    words = [[leaf.word for leaf in _leaves(node)] for node in nodes]
    if words[0] != words[-1]:
        raise ValueError(f"Expected two trees of the same words. Received: {words}.")
    lit = [_differing(node, other) for node, other in zip(nodes, nodes[::-1], strict=True)]
    dashes = None, "4 3" if dashed else None
    lit = [dict.fromkeys(found, dash) for found, dash in zip(lit, dashes, strict=False)]
    names = names if said is not None else [""]
    widths = [max(map(_room, nodes, [place] * 2)) for place in range(len(words[0]))]
    wide = Drawing(WIDE)
    if sum(widths) <= WIDE:
        height = _across(wide, nodes, lit, names, words[0], widths)
    else:
        beside = zip((0, WIDE / 2), nodes, lit, names, strict=False)
        height = max(_list(wide, x, 0, *one) for x, *one in beside)
    narrow, y = Drawing(NARROW), 0
    twins = _twins(*nodes) if said is not None and lit[0] else None
    if twins:
        other = {place: (node, lit[1]) for place, node in twins.items()}
        y = _list(narrow, 0, y, nodes[0], lit[0], f"{names[0]}; dashed: {names[1]}", other) + 24
    else:
        for one in zip(nodes, lit, names, strict=True):
            y = _list(narrow, 0, y, *one) + 24
    return Layouts(wide.svg(height), narrow.svg(y - 24))


def _numbered(tree, first=0):
    """The same tree, with the places of its words."""
    label, *children = tree
    if isinstance(children[0], str):
        return _Node(label, (first, first), (), children[0])
    nodes, place = [], first
    for child in children:
        nodes.append(_numbered(child, place))
        place = nodes[-1].span[1] + 1
    return _Node(label, (first, place - 1), tuple(nodes))


def _leaves(node):
    return [leaf for child in node.children for leaf in _leaves(child)] or [node]


def _every(node):
    return [node, *(below for child in node.children for below in _every(child))]


def _room(node, place):
    """The width that a word, and what stands on it alone, takes in a tree."""
    alone = [part for part in _every(node) if part.span == (place, place)]
    return 13 + max(max(CAPITAL * len(p.label), LETTER * len(p.word)) for p in alone)


def _differing(node, other):
    """The labels and places of what one tree has and the other one has not."""
    one, two = (Counter((n.label, n.span) for n in _every(root)) for root in (node, other))
    return set(one - two)


def _across(drawing, nodes, lit, names, words, widths):
    """Words side by side, one tree on them and the other below; returns the height of all."""
    gap = (WIDE - sum(widths)) / len(words)
    edges = [sum(widths[:i]) + gap * (i + 0.5) for i in range(len(words))]
    middles = [left + width / 2 for left, width in zip(edges, widths, strict=True)]
    lift = 26 * (len(nodes) > 1)  # the names stand above and below the roots
    ground = lift + LEVEL * _height(nodes[0]) + 18
    for word, left, width in zip(words, edges, widths, strict=True):
        drawing.tokens(left, ground + 8, [word], width=width, height=30, size=13)
    for node, marked, up in zip(nodes, lit, (1, -1), strict=False):
        foot = ground if up == 1 else ground + 46
        _grow(drawing, node, middles, foot, up, marked)
    if len(nodes) == 1:
        return ground + 40
    foot = ground + 46 + LEVEL * _height(nodes[-1])
    for name, y in zip((names[0], f"{names[1]} (upside down)"), (12, foot + lift), strict=True):
        drawing.text(0, y, name, strong=True)
    return foot + lift + 12


def _height(node):
    return 1 + max(map(_height, node.children)) if node.children else 0


def _grow(drawing, node, middles, foot, up, lit):
    """Draws a tree up from its words, or down; returns the place of its root."""
    y = foot - up * LEVEL * _height(node)
    places = [_grow(drawing, child, middles, foot, up, lit) for child in node.children]
    x = (places[0][0] + places[-1][0]) / 2 if places else middles[node.span[0]]
    for child_x, child_y in places:
        rail = y + up * LEVEL / 2
        bend = [(x, rail), (child_x, rail)] if child_x != x else []
        drawing.wire([(x, y + up * 9), *bend, (child_x, child_y - up * 9)])
    _label(drawing, x, y, node, lit, size=13)
    return x, y


def _label(drawing, x, y, node, lit, size):
    """The name of a phrase or a part of speech, around a middle."""
    framed = (node.label, node.span) in lit
    if framed:
        width = CAPITAL * size / 13 * len(node.label) + 10
        place = {"x": x - width / 2, "y": y - 11, "width": width, "height": 22, "rx": 8}
        look = {"stroke_width": 1.75, "stroke_dasharray": lit[node.label, node.span]}
        drawing.add("rect", **place, class_="outline s-ink", **look)
    muted = not node.children and " " not in node.word and not framed  # a part of speech
    drawing.text(x, y, node.label, anchor="middle", size=size, muted=muted, strong=not muted)


def _twins(one, other):
    """From the nodes of a tree, by their identities, to those of another one that differ in name.

    Nothing if the two have different shapes.
    """
    nodes, others = _every(one), _every(other)
    shapes = [[(node.span, len(node.children)) for node in some] for some in (nodes, others)]
    if shapes[0] != shapes[1]:
        return {}
    pairs = zip(nodes, others, strict=True)
    return {id(node): twin for node, twin in pairs if node.label != twin.label}


def _list(drawing, x, y, node, lit, name, twins=None):
    """A tree as a list from a height on, a row for each word; returns where it ends."""
    if name:
        drawing.text(x, y + 12, name, strong=True, size=14)
        y += 32
    return _rows(drawing, x, y, node, lit, twins or {})


def _rows(drawing, x, y, node, lit, twins):
    """The rows of one phrase; a phrase of a single part stands in the row of its part."""
    left = x
    while True:
        if node.label != node.word:  # a full stop is its own part of speech
            width = CAPITAL * 14 / 13 * len(node.label) + 10
            _label(drawing, left + width / 2, y + ROW / 2, node, lit, size=14)
            left += width
            if id(node) in twins:
                twin, marked = twins[id(node)]
                width = CAPITAL * 14 / 13 * len(twin.label) + 10
                _label(drawing, left + 4 + width / 2, y + ROW / 2, twin, marked, size=14)
                left += width + 4
        if len(node.children) != 1:
            break
        (node,) = node.children
    if not node.children:
        drawing.text(left + 4, y + ROW / 2, node.word, size=14)
        return y + ROW
    end = y + ROW
    for child in node.children:
        middle = end + ROW / 2
        drawing.wire([(x + 10, y + ROW - 2), (x + 10, middle), (x + INDENT, middle)])
        end = _rows(drawing, x + INDENT, end, child, lit, twins)
    return end
