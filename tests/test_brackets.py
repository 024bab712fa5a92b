"""Trees as sequences of brackets: they lose nothing, and each way to be no tree is seen."""

import pytest

from nlp104.data.grammar import brackets, generate
from nlp104.data.grammar import write as example_of
from nlp104.data.grammar.chance import Draw
from nlp104.data.grammar.patterns import draw_sentence

SLEEPS = "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"
TOKENS = ["(S", "(NP", "DT", "NN", ")NP", "(VP", "VBZ", ")VP", ".", ")S"]
WORDS = ("The", "cat", "sleeps", ".")


@pytest.fixture(scope="module")
def examples():
    return [e for split in ("train", "test") for e in generate(300, seed=5, split=split)]


def test_a_sequence_by_hand():
    tree = brackets.parse(SLEEPS)
    assert tree == (
        "S",
        ("NP", ("DT", "The"), ("NN", "cat")),
        ("VP", ("VBZ", "sleeps")),
        (".", "."),
    )
    assert brackets.write(tree) == TOKENS
    assert brackets.read(TOKENS, WORDS) == tree


def test_there_and_back(examples):
    """With the words that the sentence has, a sequence is the whole tree."""
    for example in examples:
        tree = brackets.parse(example.tree)
        tokens = brackets.write(tree)
        assert brackets.read(tokens, example.source_words) == tree
        # Told apart by counting alone: what the text of the tree says in its own brackets.
        opened = [token[1:] for token in tokens if token.startswith("(")]
        closed = [token[1:] for token in tokens if token.startswith(")")]
        assert sorted(opened) == sorted(closed)
        assert len(opened) + len(example.source_words) == example.tree.count("(")
        assert all(f"({label} (" in example.tree for label in opened)


def test_words_below_a_phrase(examples):
    """Spans are found a second time, by what the brackets hold."""
    assert brackets.spans(TOKENS) == [
        *[(0, 3), (0, 1), (0, 0), (1, 1), (0, 1)],
        *[(2, 2), (2, 2), (2, 2), (3, 3), (0, 3)],
    ]
    for example in examples[::20]:
        tokens = brackets.write(brackets.parse(example.tree))
        for place, (token, (first, last)) in enumerate(
            zip(tokens, brackets.spans(tokens), strict=True)
        ):
            if token.startswith("("):
                before = sum(not brackets.is_bracket(other) for other in tokens[:place])
                depth, inside = 1, 0
                for other in tokens[place + 1 :]:
                    depth += other.startswith("(") - other.startswith(")")
                    if depth == 0:
                        break
                    inside += not brackets.is_bracket(other)
                assert (first, last) == (before, before + inside - 1)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("(S NN )NP", "Expected \\)S at place 3. Received: \\)NP"),
        ("(S (NP NN )S )NP", "Expected \\)NP at place 4. Received: \\)S"),
        ("(S NN", "Expected \\)S at the end. Received: nothing"),
        ("(S NN )S )S", "Expected the end at place 4. Received: \\)S"),
        ("(S NN )S (S NN )S", "Expected the end at place 4. Received: \\(S"),
        (")S (S NN )S", "Expected an opening bracket at place 1. Received: \\)S"),
        ("NN", "Expected an opening bracket at place 1. Received: NN"),
        ("(S NN (NP )NP )S", "Expected something in the phrase at place 4. Received: \\)NP"),
        ("", "Expected a tree at the end. Received: nothing"),
        (")S", "Expected an opening bracket at place 1. Received: \\)S"),
    ],
)
def test_what_is_no_tree(tokens, message):
    tokens = tokens.split()
    with pytest.raises(ValueError, match=message):
        brackets.read(tokens, ["word"] * tokens.count("NN"))
    with pytest.raises(ValueError, match=message):
        brackets.spans(tokens)
    assert brackets.mistake(tokens, ["(S", "NN", ")S"]) == "brackets"


def test_a_part_of_speech_for_each_word():
    with pytest.raises(ValueError, match=r"Expected 3 parts of speech\. Received: 4"):
        brackets.read(TOKENS, WORDS[:3])


def change(at, *new, until=None):
    return [*TOKENS[:at], *new, *TOKENS[at + 1 if until is None else until :]]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (TOKENS, ""),
        (TOKENS[:-1], "brackets"),
        (change(4, ")VP"), "brackets"),
        (change(3, "NN", "NN"), "words"),
        (change(3, "NNS"), "labels"),
        (["(SQ", *TOKENS[1:-1], ")SQ"], "labels"),
        (["(S", "DT", "NN", "(VP", "VBZ", ")VP", ".", ")S"], "shape"),
        (["(S", "(NP", "DT", "NN", ")NP", "(VP", "VBZ", ".", ")VP", ")S"], "shape"),
    ],
)
def test_kinds_of_mistakes(said, kind):
    assert brackets.mistake(said, TOKENS) == kind


@pytest.mark.parametrize(
    "text",
    [
        *["", "cat", "()", "(NN)", "(NP (NN cat)", "(NN cat))", "(NN a b)", "((NN cat))"],
        *["(NN cat) (NN cat)", "(NP (NN cat) cat)", ")(NN cat)"],
    ],
)
def test_a_text_that_is_no_tree(text):
    with pytest.raises(ValueError, match="Expected one tree in brackets"):
        brackets.parse(text)


def test_the_grammar_gives_a_sentence_one_tree():
    """However it was put together: what the chapter says of sentences with two readings."""
    draw, seen = Draw(3), {}
    for _ in range(4_000):
        example = example_of(draw_sentence(draw)[1])
        assert seen.setdefault(example.source, example.tree) == example.tree
    assert len(seen) < 4_000  # some came twice
