"""The map at the top of every chapter: the Transformer, small, and the part that is meant lit.

Every part is a link to the chapter that teaches it.
"""

import html
import sys
from contextlib import contextmanager
from importlib.metadata import metadata
from typing import NamedTuple

from nlp104.figures.drawing import Drawing
from nlp104.figures.language import sheet
from nlp104.utils.scripts import style_sheet

# What the drawing shows: name → its chapter, and the concept whose colour it takes when it is lit.
PARTS = {
    "English": ("part3/data-and-batches", "r"),
    "French so far": ("part3/data-and-batches", "r"),
    "embedding": ("part1/words-as-vectors", "r"),
    "positions": ("part2/positions", "p"),
    "self-attention": ("part1/multi-head-attention", "a"),
    "masked self-attention": ("part2/masks", "a"),
    "cross-attention": ("part2/projections-and-the-pipeline", "a"),
    "feed-forward": ("part2/feed-forward", "r"),
    "skip": ("part2/skip-connections-and-normalisation", "r"),
    "normalise": ("part2/skip-connections-and-normalisation", "r"),
    "layers": ("part2/the-blocks-assembled", "r"),
    "linear, softmax": ("part3/the-model", "r"),
    "next word": ("part3/translating", "r"),
}
SPOKEN = {  # names of links hold the words that are seen
    "positions": "+ positions",
    "masked self-attention": "masked attention",
    "layers": "N × layers",
    "next word": "next French word",
}
ATTENTIONS = ("self-attention", "masked self-attention", "cross-attention")
STACK = ("embedding", "positions", "layers", "feed-forward", "skip", "normalise")
EVERYTHING = tuple(PARTS)


class Topic(NamedTuple):
    """What a chapter may be about."""

    parts: tuple  # those that are lit
    sentence: str  # what they do
    side: str = ""  # "left" or "right": lit in this stack alone
    words: tuple = ()  # what stands at an end where no French is written: pairs


TOPICS = {
    "the whole": Topic(
        EVERYTHING,
        "English words go in on the left, French words come out on the right.",
    ),
    "your own sentences": Topic(
        EVERYTHING,
        "Other sentences go in and come out; nothing in between has to be changed.",
        words=(
            ("English", "your sentences"),
            ("French so far", "written so far"),
            ("next word", "next word"),
        ),
    ),
    "words": Topic(
        ("embedding",), "Every word is looked up in a table, and becomes a row of numbers."
    ),
    "attention": Topic(
        ATTENTIONS,
        "In three places words look at other words and take over what they find.",
    ),
    "heads": Topic(ATTENTIONS, "Each attention looks in several ways at once, one for each head."),
    "projections": Topic(
        ATTENTIONS,
        "Before words look at each other, each is turned into a query, a key and a value.",
    ),
    "masks": Topic(
        ATTENTIONS,
        "Nobody may look at padding, and the decoder not at words still to come.",
    ),
    "skip connections": Topic(
        ("skip", "normalise"),
        "A wire leads the input around each part, and adds it to what comes out; then the sum "
        "is brought to one scale.",
    ),
    "feed-forward": Topic(
        ("feed-forward",), "After looking around, each word is worked on by itself."
    ),
    "positions": Topic(
        ("positions",),
        "Attention does not know in which order words stand, so each is told its place.",
    ),
    "layers": Topic(
        ("layers", *ATTENTIONS, "feed-forward", "skip", "normalise"),
        "The same few parts make a layer, and layers make a stack.",
    ),
    "data": Topic(
        ("English", "French so far"), "Sentences become numbers, and numbers become batches."
    ),
    "training": Topic(
        ("linear, softmax", "next word"),
        "At the top stands a guess of the next word; training makes it a better one.",
    ),
    "decoding": Topic(
        ("next word", "French so far"),
        "One word comes out at the top, goes in again at the bottom, and the next one follows.",
    ),
    "trees": Topic(
        ("next word", "French so far"),
        "What comes out is no French, but a tree: brackets and words, one after another.",
        words=(("French so far", "tree so far"), ("next word", "next token")),
    ),
    "drafts": Topic(
        ("next word", "French so far"),
        "What comes out goes in again; here several letters come out at once, and are checked.",
        words=(("French so far", "text so far"), ("next word", "next letters")),
    ),
    "judging": Topic(
        ("next word",),
        "What came out at the top is compared with what a person wrote.",
    ),
    "the left stack alone": Topic(
        (*STACK, "self-attention"),
        "What is only to be read needs no decoder: the answer is taken from the encoder's top.",
        "left",
        (("English", "what is read"),),
    ),
    "the right stack alone": Topic(
        (*STACK, "masked self-attention", "linear, softmax", "next word"),
        "A language model has one stack and no encoder, so nothing to look across to.",
        "right",
        (("French so far", "text so far"), ("next word", "next token")),
    ),
}
WIDTH, LEFT, RIGHT = 320, 78, 236
LETTERS = 12.5  # pixels: more than 11 where the page is 320 wide
BOX = 130
END = 138  # where words go in or come out: they are bold when they are lit


class ChapterMap:
    """What `chapter_map` returns; a notebook displays it."""

    def __init__(self, topic, folder):
        self.topic, self.folder = topic, folder

    @property
    def html(self):
        """The map as HTML that needs nothing else."""
        sentence = TOPICS[self.topic].sentence
        title = f"You are here: {self.topic}"
        return (
            f'<figure class="nlp104 map"><style>{sheet()}{style_sheet("figures/chapter_map.css")}'
            f"</style>{_draw(self.topic, self.folder)}"
            f'<figcaption><p class="title">{html.escape(title)}</p>'
            f'<p class="lead">{html.escape(sentence)}</p></figcaption></figure>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": f"The map: {self.topic}"}


def chapter_map(topic, folder=".."):
    """The Transformer, small, with the parts lit that a chapter is about.

    Args:
        topic: one of `TOPICS`: ``"the whole"``, ``"attention"``, ``"masks"``, …
        folder: where the folders of the parts lie, seen from the page that shows the map.

    Returns:
        An object that a notebook displays. Its parts are links to their chapters.

    Raises:
        ValueError: There is no such topic.

    Example:
        >>> from nlp104.figures.chapter_map import chapter_map
        >>> "You are here: masks" in chapter_map("masks").html
        True
    """
    if topic not in TOPICS:
        raise ValueError(f"Expected one of {', '.join(TOPICS)}. Received: {topic!r}.")
    return ChapterMap(topic, folder)


def _address(chapter, folder):
    """Where a chapter is: in the book; on Colab, where nothing is, in the repository."""
    if "google.colab" not in sys.modules:
        return f"{folder}/{chapter}.ipynb"
    urls = dict(url.split(", ", 1) for url in metadata("nlp104").get_all("Project-URL"))
    place = urls["Repository"].removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{place}/blob/main/book/{chapter}.ipynb"


def _draw(topic, folder):
    """Both stacks, from the bottom up; every lit part in the colour of its concept."""
    lit, _, lit_side, words_here = TOPICS[topic]
    spoken_here = SPOKEN | dict(words_here)
    drawing = Drawing(WIDTH)

    @contextmanager
    def part(name, x, of=None):
        """A link, lit where it is meant; where one stack is, only there and in what it has."""
        chapter, concept = PARTS[name]
        spoken = spoken_here.get(name, name)
        here = not lit_side or (
            x == {"left": LEFT, "right": RIGHT}[lit_side] and of in (None, *lit)
        )
        drawing.elements.append(f'<a href="{_address(chapter, folder)}" aria-label="{spoken}">')
        yield {"concept": concept, "lit": name in lit and here}
        drawing.elements.append("</a>")

    def block(name, x, y, height=22, of=None):
        with part(name, x, of) as look:
            said = spoken_here.get(name, name)
            drawing.box(x - BOX / 2, y, BOX, height, said, size=LETTERS, **look)

    def words(name, x, y):
        text = spoken_here.get(name, name)
        with part(name, x) as look:
            if look["lit"]:
                drawing.box(x - END / 2, y - 9, END, 18, text, size=LETTERS, **look)
            else:
                drawing.text(x, y, text, anchor="middle", size=LETTERS, muted=True)

    def sub_layer(name, x, y, side):
        """One sub-layer from its upper edge down: normalise, add, the part, the wire past it."""
        out = x + side * (BOX / 2 + 9)
        with part("skip", x, of=name) as look:
            concept = look["concept"] if look["lit"] else None
            path = [(x, y + 67), (out, y + 67), (out, y + 27), (x + side * 7, y + 27)]
            drawing.wire(path, concept, strong=look["lit"])
        block("normalise", x, y, 18, of=name)
        with part("skip", x, of=name) as look:
            drawing.plus(x, y + 27, look["concept"] if look["lit"] else None)
        block(name, x, y + 36)

    decoder = ["masked self-attention", "cross-attention", "feed-forward"]
    encoder = ["self-attention", "feed-forward"]
    high, step = 56, 72
    foot = high + 3 * step  # below the first layer of both
    drawing.wire([(RIGHT, 20), (RIGHT, foot + 64)])
    drawing.wire([(LEFT, high + step - 14), (LEFT, foot + 64)])
    for x, top, side in ((LEFT, high + step, -8), (RIGHT, high, -32)):
        size = {
            "x": x - BOX / 2 - 11,
            "y": top - 6,
            "width": BOX + 22,
            "height": foot - top + 2,
            "rx": 10,
        }
        with part("layers", x) as look:
            drawing.add("rect", **size, class_="frame" + " lit" * look["lit"])
            drawing.text(x - BOX / 2 + side, top - 16, "N ×", size=LETTERS, muted=True)
    cross = high + step + 47  # the height of the decoder's cross-attention
    bend = (LEFT + RIGHT) / 2
    for shift, concept in ((-3, "k"), (3, "v")):
        top = high + step - 14 + shift
        path = [
            (LEFT + shift, high + step),
            (LEFT + shift, top),
            (bend - shift, top),
            (bend - shift, cross + shift),
            (RIGHT - BOX / 2, cross + shift),
        ]
        concept = None if lit_side else concept  # one stack alone hands nothing over
        drawing.wire(path, concept, strong="cross-attention" in lit)
    for number, name in enumerate(reversed(decoder)):
        sub_layer(name, RIGHT, high + number * step, 1)
    for number, name in enumerate(reversed(encoder)):
        sub_layer(name, LEFT, high + (number + 1) * step, -1)
    block("linear, softmax", RIGHT, 22)
    for x in (LEFT, RIGHT):
        block("positions", x, foot + 8)
        block("embedding", x, foot + 38)
    words("next word", RIGHT, 10)
    words("English", LEFT, foot + 74)
    words("French so far", RIGHT, foot + 74)
    if topic == "decoding":  # what comes out goes in again
        end, beside = RIGHT + END / 2, WIDTH - 3
        loop = [(end, 10), (beside, 10), (beside, foot + 74), (end, foot + 74)]
        drawing.wire(loop, "r", strong=True)
    named = [dict(words_here).get(name, name) for name in lit]
    label = f"The Transformer. Lit: {', '.join(named)}."
    return drawing.svg(foot + 84, label, role="group")  # it holds links
