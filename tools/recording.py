"""Record the released translator at work, as a picture that moves by itself.

    python -m tools.recording

asks the model for one sentence, and writes ``book/assets/translating-light.svg`` and ``-dark.svg``.
Of every word they show what the model looked at, what it found likely, and what it wrote. There is
no script inside, only a style sheet, so the picture moves where a page may run nothing, as in a
README. The end of it, for readers who want no motion, is ``translating-still-light.svg`` and
``-dark.svg``: a media query inside a picture does not hear of that wish in every browser.
"""

import argparse
import sys
from html import escape
from pathlib import Path

import numpy as np
from keras import ops

from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.figures.language import LETTERS, TOKENS
from nlp104.translation.pretrained import load_pretrained

ASSETS = Path(__file__).resolve().parents[1] / "book" / "assets"
THEMES = ("light", "dark")
MODEL, SENTENCE = "eng-fra", "The little girl is reading a red book."
TOP = 3  # words that were likely
LEAST = 0.08  # a look with less weight is not drawn
WIDTH, HEIGHT = 640, 340
READ, WRITTEN, LIKELY = 26, 178, 240  # where the rows begin, from above
CHIP, GAP, SIZE = 42, 6, 22
THICK = 26  # of the band of a look with weight 1
TIMES = 8  # that it is shown, then it rests
STEP, LOOK, HOLD, FADE = 1.3, 0.5, 3.5, 0.25  # seconds; a word appears LOOK after its bands
NOT_SEEN, EMPTY = 'opacity="0"', 'stroke-dasharray="4 4"'
CLOSING = ("The bands: where the model looked", "while it wrote the French word.")
TRACE = 0.4  # how strong the bands of the words before are, at the end


def record(translator, sentence):
    """What a model reads, writes, looks at and finds likely.

    Args:
        translator: `nlp104.translation.Translator`.
        sentence: What it translates, greedily.

    Returns:
        A dictionary: ``source`` and ``target``, the pieces without special tokens; ``looks``, for
        each written piece the weights of the pieces read, the mean of the last layer's heads;
        ``likely``, for each the likeliest pieces and their probabilities.
    """
    seen = translator.attention(sentence)
    tokenizer = translator.target_tokenizer
    source = [*translator.source_tokenizer.encode(sentence), END_ID]
    target = tokenizer.encode(seen.translation)
    inputs = {"encoder_token_ids": [source], "decoder_token_ids": [[START_ID, *target]]}
    logits = translator.model({name: np.array(ids) for name, ids in inputs.items()})
    chances = ops.convert_to_numpy(ops.softmax(logits))[0, :-1]
    weights = seen.cross[-1].mean(axis=0)[:-1, :-1]  # without [END] on both sides
    likely = [
        [(tokenizer.id_to_token(int(i)), float(row[i])) for i in np.argsort(-row)[:TOP]]
        for row in chances
    ]
    return {
        "source": seen.source_tokens[:-1],
        "target": seen.target_tokens[:-1],
        "looks": weights.tolist(),
        "likely": likely,
    }


def draw(recorded, theme, moving=True):
    """The picture.

    Args:
        recorded: What `record` returns.
        theme: 0 for light pages, 1 for dark ones.
        moving: Whether it moves, or is its own end.

    Returns:
        The text of an SVG file.
    """
    film = Film(len(recorded["target"]))
    colours = {name: values[theme] for name, values in TOKENS.items()}
    read, written = row(recorded["source"]), row(recorded["target"])
    layers = {name: [] for name in ("frames", "bands", "glows", "words")}
    for (x, width), piece in zip(read, recorded["source"], strict=True):
        layers["frames"].append(frame(x, READ, width, colours["bg"], colours["edge"]))
        layers["words"].append(word(x, READ, width, piece, colours["ink"]))
    for step, piece in enumerate(recorded["target"]):
        x, width = written[step]
        now = []
        for (left, wide), weight in zip(read, recorded["looks"][step], strict=True):
            if weight >= LEAST:
                places = left + wide / 2, READ + CHIP, x + width / 2, WRITTEN
                layers["bands"].append(band(*places, weight, colours["a"], film.look(step)))
                glow = frame(left, READ, wide, colours["a"])
                now.append(f'<g opacity="{0.55 * weight:.2f}">{glow}</g>')
        now.append(frame(x, WRITTEN, width, "none", colours["edge"], 1.5, EMPTY))
        now.append(chances(x + width / 2, recorded["likely"][step], colours))
        chip = frame(x, WRITTEN, width, colours["bg"], colours["edge"])
        chip += word(x, WRITTEN, width, piece, colours["ink"])
        layers["words"].append(part(film.word(step), chip))
        if moving:
            layers["glows"].append(part(film.during(step), "".join(now), NOT_SEEN))
            lit = frame(x, WRITTEN, width, "none", colours["a-line"], 3)
            layers["words"].append(part(film.lit(step), lit, NOT_SEEN))
    said = [
        text(WIDTH / 2, LIKELY + 28 + 28 * line, words, colours["muted"], 20, "middle")
        for line, words in enumerate(CLOSING)
    ]
    parts = [rect(1, 1, WIDTH - 2, HEIGHT - 2, colours["soft"], colours["line"], 1.5, 8)]
    parts += [
        part(film.end(), "".join(said)),
        *(mark for layer in layers.values() for mark in layer),
    ]
    sheet = f"<style>{film.sheet()}</style>" if moving else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="{LETTERS}">'
        f"{sheet}{''.join(parts)}</svg>\n"
    )


class Film:
    """When which part of the picture is seen.

    Args:
        steps: How many words are written.
    """

    def __init__(self, steps):
        self.steps, self.seconds = steps, STEP * steps + HOLD
        self.frames = {}

    def during(self, step):
        """Seen while a word is being written."""
        start, end = step * STEP, (step + 1) * STEP
        return self._add("n", step, (start, 0), (start + FADE, 1), (end, 1), (end + FADE, 0))

    def look(self, step):
        """A band: comes down while its word is sought, is faint then, and a trace at the end."""
        start, end, last = step * STEP, (step + 1) * STEP, self.steps * STEP
        down = (start, 0, 1), (start + 0.05, 0.85, 1), (start + LOOK, 0.85, 0), (end, 0.85, 0)
        after = (end + FADE, 0.14, 0), (last + FADE, 0.14, 0), (last + 3 * FADE, TRACE, 0)
        return self._add("b", step, *down, *after)

    def word(self, step):
        """A written word: from then on."""
        start = step * STEP + LOOK
        return self._add("w", step, (start, 0), (start + FADE, 1))

    def lit(self, step):
        """The frame of the word that has just been written."""
        start, end = step * STEP + LOOK, (step + 1) * STEP
        return self._add("l", step, (start, 0), (start + FADE, 1), (end, 1), (end + FADE, 0))

    def end(self):
        """Seen when all is written."""
        start = self.steps * STEP + FADE
        return self._add("e", 0, (start, 0), (start + FADE, 1))

    def _add(self, kind, step, *points):
        """Keeps points of time, each with an opacity and how much is still hidden of a line."""
        first, last = points[0], points[-1]
        ends = (self.seconds - 0.5, *last[1:]), (self.seconds, 0, *last[2:])
        self.frames[f"{kind}{step}"] = [(0, *first[1:]), *points, *ends]
        return f"{kind}{step}"

    def sheet(self):
        """The style sheet."""
        rules = []
        for name, points in self.frames.items():
            stops = "".join(
                f"{100 * time / self.seconds:.4g}%{{opacity:{opacity}"
                + "".join(f";stroke-dashoffset:{rest}" for rest in hidden)
                + "}"
                for time, opacity, *hidden in points
            )
            rules.append(f"@keyframes {name}{{{stops}}}")
            rules.append(f".{name}{{animation:{name} {self.seconds:.4g}s linear {TIMES}}}")
        return "".join(rules)


def row(pieces):
    """Left ends and widths of a row of pieces, which stands in the middle of the picture."""
    widths = [12.4 * len(shown(piece)) + 20 for piece in pieces]
    x, places = (WIDTH - sum(widths) - GAP * (len(widths) - 1)) / 2, []
    for width in widths:
        places.append((x, width))
        x += width + GAP
    return places


def shown(piece):
    """As one reads it: a dot says that a piece goes on with the word before."""
    word = piece.lstrip("▁")
    return word if piece.startswith("▁") or not piece.isalpha() else f"·{word}"


def chances(x, likely, colours):
    """The likeliest pieces below a place, each with a bar and a number."""
    x, marks = min(max(x - 20, 110), WIDTH - 160), []
    for number, (piece, chance) in enumerate(likely):
        y, wide = LIKELY + 28 * number, max(2, 84 * chance)
        ink, opacity = ("muted", 0.6) if number else ("ink", 1)
        marks.append(text(x - 8, y + 17, shown(piece), colours[ink], 20, "end"))
        bar = rect(x, y + 2, wide, 18, colours["r"], radius=3)
        marks.append(f'<g opacity="{opacity}">{bar}</g>')
        per_cent = f"{chance:.0%}" if chance >= 0.01 else "< 1%"
        marks.append(text(x + wide + 8, y + 17, per_cent, colours["muted"], 18, "start"))
    return "".join(marks)


def part(name, content, more=""):
    """What comes and goes together."""
    return f'<g class="{name}" {more}>{content}</g>'


def frame(x, y, width, fill, stroke="none", thickness=1.5, more=""):
    """That of a piece."""
    return rect(x, y, width, CHIP, fill, stroke, thickness, more=more)


def word(x, y, width, piece, colour):
    """The piece itself."""
    return text(x + width / 2, y + 28, shown(piece), colour, SIZE, "middle")


def band(x1, y1, x2, y2, weight, colour, name):
    """A look: the more weight, the thicker."""
    middle = (y1 + y2) / 2
    return (
        f'<path class="{name}" pathLength="1" stroke-dasharray="1" opacity="{TRACE}" '
        f'd="M{x1:.1f} {y1}C{x1:.1f} {middle} {x2:.1f} {middle} {x2:.1f} {y2}" fill="none" '
        f'stroke="{colour}" stroke-width="{THICK * weight:.1f}"/>'
    )


def rect(x, y, width, height, fill, stroke="none", thickness=0.0, radius=7, more=""):
    """A rounded rectangle."""
    line = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{thickness}"'
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="{radius}" '
        f'fill="{fill}"{line} {more}/>'
    )


def text(x, y, words, fill, size, anchor):
    """Words at a place."""
    return (
        f'<text x="{x:.1f}" y="{y}" fill="{fill}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def pictures(recorded):
    """All of them, by file name."""
    return {
        f"translating-{kind}{name}.svg": draw(recorded, theme, moving)
        for theme, name in enumerate(THEMES)
        for kind, moving in (("", True), ("still-", False))
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.recording", description=__doc__)
    parser.add_argument("sentence", nargs="?", default=SENTENCE, help=f"default: {SENTENCE}")
    options = parser.parse_args(arguments)
    recorded = record(load_pretrained(MODEL), options.sentence)
    for name, content in pictures(recorded).items():
        (ASSETS / name).write_text(content, encoding="utf-8")
        print(ASSETS / name)


if __name__ == "__main__":
    sys.exit(main())
