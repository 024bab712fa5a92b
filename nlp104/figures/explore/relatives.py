"""The family of the Transformer: who keeps which of its parts, by the papers that introduced it."""

from typing import NamedTuple


class Relative(NamedTuple):
    """A network in which attention works.

    Attributes:
        name: Its own name.
        year: Of the first version of its paper.
        lane: 0: an encoder alone; 1: both stacks, or another kind of network; 2: a decoder alone.
        row: Its place from the top.
        parent: The relative that it starts from, if it is one of these.
        keeps: Keys of `PARTS`.
        places: How it is told where a token stands.
        size: Its parameters as its authors count them; empty where none are quoted here.
        task: What it is trained to do.
        note: What it does with the parts.
        source: The name of its entry in the bibliography.
    """

    name: str
    year: int
    lane: int
    row: int
    parent: str | None
    keeps: str
    places: str
    size: str
    task: str
    note: str
    source: str


class Part(NamedTuple):
    """Something of the Transformer that others keep or change."""

    tab: str
    concept: str
    name: str
    says: str


# s: attention to both sides, m: masked, c: cross-attention, w: positions as waves, b: blanks.
PARTS = {
    "s": Part(
        "both sides",
        "a",
        "self-attention to both sides",
        "What comes later is seen, too. Good for reading; but nobody can write like that, word by "
        "word.",
    ),
    "m": Part(
        "mask",
        "a",
        "masked self-attention",
        "Each token sees what came before it, and the next one is the task. So all of them can "
        "write.",
    ),
    "c": Part(
        "cross",
        "a",
        "cross-attention",
        "It needs two stacks: one that writes, and one to be asked.",
    ),
    "w": Part(
        "waves",
        "p",
        "positions as waves",
        "Most learn one vector for each place instead; T5 learns one number for each distance.",
    ),
    "b": Part(
        "blanks",
        "r",
        "blanks to fill in",
        "Not a part of the Transformer of 2017: BERT brought it in, and others took it over.",
    ),
}
WAVES, LEARNED = "waves", "learned vectors"

FAMILY = (
    Relative(
        "DRAW", 2015, 1, 0, None, "", "in the filters", "", "rebuild an image",
        "A recurrent network that draws an image in many strokes. At each it chooses, softly, "
        "where to look and where to draw. An ancestor: attention without a Transformer.",
        "gregor2015",
    ),
    Relative(
        "Transformer", 2017, 1, 1, None, "smcw", WAVES, "65 M and 213 M", "translate",
        "Two stacks made of attention and little else. The left one reads, the right one writes "
        "and asks.",
        "vaswani2017",
    ),
    Relative(
        "BERT", 2018, 0, 2, "Transformer", "sb", LEARNED, "110 M and 340 M", "fill in blanks",
        "The encoder alone. Some words are hidden, and both sides help to guess them. A first "
        "token, [CLS], collects what the whole says.",
        "devlin2019",
    ),
    Relative(
        "SAGAN", 2018, 1, 2, None, "s", "in the convolutions", "", "paint photographs",
        "Two convolutional networks, a painter and a critic, each with a layer of self-attention: "
        "a place can look at every other place.",
        "zhang2019",
    ),
    Relative(
        "GPT", 2018, 2, 2, "Transformer", "m", LEARNED, "117 M", "next token",
        "The decoder alone: without a source there is nothing to cross to. It reads books first, "
        "and is then tuned for each task.",
        "radford2018",
    ),
    Relative(
        "VideoBERT", 2019, 0, 3, "BERT", "sb", LEARNED, "as BERT, large", "fill in blanks",
        "BERT on speech and film. Short clips are sorted into groups, and the number of the group "
        "is a token like a word.",
        "sun2019",
    ),
    Relative(
        "RoBERTa", 2019, 0, 4, "BERT", "sb", LEARNED, "355 M", "fill in blanks",
        "BERT, trained longer, on more text, in larger batches, with new blanks in each round. No "
        "part is new, and it is much better.",
        "liu2019",
    ),
    Relative(
        "VisualBERT", 2019, 0, 5, "BERT", "sb", LEARNED, "as BERT, base", "fill in blanks",
        "BERT on a caption and the regions that a detector found in its picture. Words and regions "
        "look at each other.",
        "li2019",
    ),
    Relative(
        "DistilBERT", 2019, 0, 6, "BERT", "sb", LEARNED, "66 M", "answer as BERT does",
        "Half as many layers, with BERT as their teacher: it fills in blanks, and its guesses "
        "should be BERT's.",
        "sanh2019",
    ),
    Relative(
        "BART", 2019, 1, 5, "Transformer", "smcb", LEARNED, "10 % more than BERT", "repair a text",
        "Both stacks. The encoder reads a text with holes and disorder, and the decoder writes the "
        "whole one.",
        "lewis2020",
    ),
    Relative(
        "T5", 2019, 1, 6, "Transformer", "smcb", "distances", "60 M to 11 B", "fill in blanks",
        "Both stacks. Every task is put as text, and answered as text. A blank may stand for "
        "several words.",
        "raffel2020",
    ),
    Relative(
        "GPT-2", 2019, 2, 3, "GPT", "m", LEARNED, "1.5 B", "next token",
        "GPT, more than ten times as large, on pages from the web. It tries tasks that nobody "
        "trained it for.",
        "radford2019",
    ),
    Relative(
        "Transformer-XL", 2019, 2, 4, "Transformer", "mw", "distances, as waves", "257 M",
        "next token",
        "The states of the text before are kept and looked at, too. So places are counted back "
        "from the one who looks.",
        "dai2019",
    ),
    Relative(
        "XLNet", 2019, 2, 5, "Transformer-XL", "mw", "distances, as waves", "as BERT, large",
        "next token, shuffled",
        "The words are predicted in random orders, and the mask follows the order. Over many "
        "orders each word sees both sides.",
        "yang2019",
    ),
    Relative(
        "ViT", 2020, 0, 7, "Transformer", "s", LEARNED, "86 M to 632 M", "name what is shown",
        "The encoder alone, on an image: 16 × 16 pixels are a word, and a class token collects "
        "what the whole shows.",
        "dosovitskiy2021",
    ),
    Relative(
        "DETR", 2020, 1, 7, "Transformer", "scw", WAVES, "41 M", "find all objects",
        "Both stacks behind a convolutional network. The decoder's 100 queries are learned; each "
        "asks for one object. All answer at once, so nothing is masked.",
        "carion2020",
    ),
    Relative(
        "GPT-3", 2020, 2, 7, "GPT-2", "m", LEARNED, "175 B", "next token",
        "GPT-2, a hundred times as large; every other layer looks at a band only. Examples in the "
        "text take the place of training.",
        "brown2020",
    ),
)  # fmt: skip
