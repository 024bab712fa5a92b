"""Drawings of trees: they can be read off, what differs is framed, the bars are the stack."""

import re

import pytest
from test_schematics import texts, tree

from nlp104.data.grammar import brackets, generate
from nlp104.figures import trees

BOY, CAT = "(NP (DT The) (NN boy))", "(NP (DT the) (NN cat))"
GARDEN = "(PP (IN in) (NP (DT the) (NN garden)))"
SAW_IT_THERE = brackets.parse(f"(S {BOY} (VP (VBZ sees) {CAT} {GARDEN}) (. .))")
CAT_OF_THERE = brackets.parse(f"(S {BOY} (VP (VBZ sees) (NP {CAT} {GARDEN})) (. .))")
SEES_IT = brackets.parse(f"(S {BOY} (VP (VBZ sees) (NP (PRP it))))")
SHORT = [brackets.parse(e.tree) for e in generate(40, seed=8) if len(e.source) < 40]
LONG = brackets.parse(
    "(S (NP (DT The) (NN horse)) (VP (VBZ does) (RB not) (VP (VB cross) (NP (DT the) (JJ beautiful)"
    " (NN meadow)) (SBAR (IN because) (S (NP (PRP it)) (VP (VBZ is) (ADJP (RB too) (JJ nervous)))))"
    ")) (. .))"
)


def written(svg):
    """What is written, by the place of its middle."""
    places = [(float(text.get("x")), float(text.get("y"))) for text in svg.iter("text")]
    return dict(zip(places, texts(svg), strict=True))


def wires(svg):
    """Where each begins and where it ends."""
    found = []
    for path in svg.iter("path"):
        numbers = list(map(float, re.findall(r"-?\d+(?:\.\d+)?", path.get("d"))))
        found.append((tuple(numbers[:2]), tuple(numbers[-2:])))
    return found


def read_off(svg, foot):
    """The tree that stands on its words, from its wires alone."""
    labels, below = written(svg), {}
    for (x, y), (end_x, end_y) in wires(svg):
        below.setdefault((x, y - 9), []).append((end_x, end_y + 9))
    (root,) = set(below) - {end for ends in below.values() for end in ends}

    def grown(place):
        if place not in below:
            return labels[place], labels[place[0], foot]
        return labels[place], *map(grown, sorted(below[place]))

    return grown(root)


def listed(svg):
    """The tree that a list shows, from its wires alone."""
    rows, below = {}, {}
    for (x, y), words in sorted(written(svg).items()):
        rows.setdefault(y, []).append((x, words))
    rows = {y: [words for _, words in row] for y, row in rows.items()}
    for (_, y), (_, end) in wires(svg):
        below.setdefault(y - 10, []).append(end)

    def grown(y):
        *alone, inner = rows[y]
        if y in below:
            node = (inner, *map(grown, sorted(below[y])))
        else:
            node = (alone.pop() if alone else inner, inner)  # a full stop is written once
        for label in reversed(alone):
            node = (label, node)
        return node

    return grown(min(rows))


@pytest.mark.parametrize("node", [SAW_IT_THERE, CAT_OF_THERE, *SHORT[:8]])
def test_the_tree_can_be_read_off(node):
    drawn = trees.tree(node)
    wide = tree(drawn, "wide")
    (ground,) = {float(pill.get("y")) for pill in wide.iter("rect")}
    assert read_off(wide, ground - 2 + 15) == node
    assert listed(tree(drawn, "narrow")) == node


def test_where_words_do_not_fit_side_by_side_the_page_shows_a_list_too(layout):
    assert listed(tree(trees.tree(LONG), layout)) == LONG
    both = texts(tree(trees.tree(LONG, LONG), layout))
    assert both.count("right") == both.count("written") == 1
    assert len(both) == 2 + 2 * len(texts(tree(trees.tree(LONG), layout)))


def framed(svg):
    """The framed labels, and whether each belongs to the second tree: only there it is dashed."""
    frames = [rect for rect in svg.iter("rect") if "s-ink" in rect.get("class").split()]
    found = []
    for frame in frames:
        x, y, width, height = (float(frame.get(n)) for n in ("x", "y", "width", "height"))
        label = written(svg)[x + width / 2, y + height / 2]
        found.append((label, y > float(svg.get("viewBox").split()[3]) / 2))
        assert bool(frame.get("stroke-dasharray")) == found[-1][1]
    return found


@pytest.mark.parametrize(
    ("gold", "said", "expected"),
    [
        (SAW_IT_THERE, CAT_OF_THERE, [("NP", True)]),
        (CAT_OF_THERE, SAW_IT_THERE, [("NP", False)]),
        (SAW_IT_THERE, SAW_IT_THERE, []),
    ],
)
def test_what_differs_is_framed(layout, gold, said, expected):
    assert framed(tree(trees.tree(gold, said), layout)) == expected


def test_where_only_names_differ_a_phone_shows_one_list():
    gold, said = ("S", ("NP", ("NN", "a"))), ("S", ("NP", ("JJ", "a")))
    drawn = trees.tree(gold, said)
    assert framed(tree(drawn, "wide")) == [("NN", False), ("JJ", True)]
    svg = tree(drawn, "narrow")
    assert texts(svg) == ["right; dashed: written", "S", "NP", "NN", "JJ", "a"]
    frames = [rect for rect in svg.iter("rect") if "s-ink" in rect.get("class").split()]
    assert [bool(frame.get("stroke-dasharray")) for frame in frames] == [False, True]


def test_the_second_tree_hangs_below_the_words():
    svg = tree(trees.tree(SAW_IT_THERE, CAT_OF_THERE, ("one", "two")), "wide")
    at = {words: y for (_, y), words in written(svg).items()}
    roots = [y for (_, y), words in written(svg).items() if words == "S"]
    assert at["one"] < min(roots) - 20 < at["boy"] < max(roots) + 20 < at["two (upside down)"]
    assert texts(svg).count("boy") == 1
    assert texts(svg).count("PP") == 2


@pytest.mark.parametrize(
    "drawn",
    [
        trees.tree(SAW_IT_THERE, CAT_OF_THERE),
        trees.tree(LONG, LONG),
    ],
    ids=["two trees", "long"],
)
def test_nothing_leaves_the_picture(drawn, layout):
    svg = tree(drawn, layout)
    _, _, width, height = map(float, svg.get("viewBox").split())
    for rect in svg.iter("rect"):
        x, y, wide, high = (float(rect.get(n)) for n in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
    for text in svg.iter("text"):
        assert float(text.get("font-size")) >= (13 if layout == "wide" else 14)
        assert 0 <= float(text.get("x")) <= width
        assert 0 < float(text.get("y")) < height


def test_two_trees_have_the_same_words():
    with pytest.raises(ValueError, match="Expected two trees of the same words"):
        trees.tree(SAW_IT_THERE, SHORT[0])
