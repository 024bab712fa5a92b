"""The assembled machine: every wire, its job, and what the machine is without it."""

from difflib import SequenceMatcher

import numpy as np

from nlp104.figures.drawing import Drawing
from nlp104.figures.explore.explorable import Explorable
from nlp104.figures.explore.numbers import short
from nlp104.figures.explore.wires_texts import COLUMNS, KINDS, jobs, results, rows

# The sub-layers of both stacks, from the bottom up: whose wire each is, its name, its mask.
SELF, MASKED, CROSS = ("self-", "attention"), ("masked ", "attention"), ("cross-", "attention")
THINK = "ffn", ("feed-forward",), None
STACKS = (
    (("heads", SELF, "pad"), THINK),
    (("heads", MASKED, "causal"), ("bridge", CROSS, "pad"), THINK),
)
BOX = 126  # pixels, of the still
LONGEST, WORD = 72, 24  # letters of a translation that are shown, and of a word


def wires(record):
    """Both stacks with every wire: what each is for, and how a model does that lacks it.

    The reader taps a wire, sees all of its kind light up, pulls them out, and sees what models that
    were trained without them score, and how they translate. Vaswani et al. (2017), figure 1.

    Args:
        record: what ``python -m experiments.wires`` stores: ``results/wires/losses.json``.

    Returns:
        An object that a notebook displays; ``save(path)`` writes a page of its own.

    Raises:
        ValueError: A variant, a seed or a score is missing.

    Example:
        >>> import json
        >>> from nlp104.figures import explore, results
        >>> record = json.loads(results.read("wires/losses.json"))
        >>> rows = explore.wires(record).data["rows"]
        >>> rows[5]["mean"]  # no causal mask: right, words, next word, loss
        [0, 0, 99.98, 0.000767]
    """
    scores = _scores(record)
    model, seeds = record["model"], record["seeds"]
    full, layers = scores["full"], model["num_layers"]
    variants = ["full", *(kind.variant for kind in KINDS.values())]
    kinds = [
        {
            "key": key,
            "name": kind.name,
            "concept": kind.concept,
            "pulled": kind.pulled,
            "short": [
                *(line.format(heads=model["num_heads"]) for line in kind.job),
                f"chapter: {kind.chapter}",
            ],
            "score": [
                f"{full['mean'][0]:.1f} → **{scores[kind.variant]['mean'][0]:.1f} %** right",
                f"loss {full['mean'][3]:.3f} → **{scores[kind.variant]['mean'][3]:.3f}**",
                f"(means of {len(seeds)} runs)",
            ],
            "job": job,
            "result": result,
        }
        for (key, kind), job, result in zip(
            KINDS.items(), jobs(model), results(record, scores), strict=True
        )
    ]
    data = {
        "stacks": [
            [
                {"kind": kind, "lines": lines, "says": "".join(lines), "mask": mask}
                for kind, lines, mask in stack
            ]
            for stack in STACKS
        ],
        "below": "layer 1" if layers == 2 else f"layers 1–{layers - 1}",
        "kinds": kinds,
        "columns": list(COLUMNS),
        "caption": (
            f"All wires in: **{full['mean'][0]:.0f} of 100** sentences come out right. "
            "Tap a wire to see its job."
        ),
        "notes": [f"{layers} + {layers} layers, the upper", "two are shown"],
        "rows": [
            {
                "title": title,
                "says": says,
                "right": short(scores[name]["right"], 4),
                "mean": short(scores[name]["mean"]),
            }
            for name, title, says in zip(variants, *rows(model), strict=True)
        ],
        "legend": f"dots: {len(seeds)} runs; tick: right words, any order",
        "sources": record["example_sources"],
        "said": [
            [
                [
                    _compared(text, right)
                    for text, right in zip(
                        record["runs"][name][seed]["examples"],
                        record["runs"]["full"][seed]["examples"],
                        strict=True,
                    )
                ]
                for seed in map(str, seeds)
            ]
            for name in variants
        ],
    }
    right = ", ".join(f"{row['says']} {row['mean'][0]:.1f}" for row in data["rows"])
    alt = (
        f"Scores of the Transformer with one kind of wire pulled out, means of {len(seeds)} runs. "
        f"Translations right, in percent: {right}. The loss is {full['mean'][3]:.3f} with all "
        f"wires in, and {scores['no causal mask']['mean'][3]:.3f} without the causal mask."
    )
    return Explorable("wires", "Pull a wire", data, _still(data), alt)


def _scores(record):
    """For each variant the scores of all runs, and their means.

    ``"right"`` are percents, one for each run; ``"mean"`` belongs to `COLUMNS`.
    """
    names = {"full", "pre-norm", *(kind.variant for kind in KINDS.values())}
    seeds = {str(seed) for seed in record.get("seeds", ())}
    if not seeds or not names <= set(record.get("runs", ())):
        raise ValueError(
            f"Expected seeds and runs of {', '.join(sorted(names))}. "
            f"Received: {', '.join(sorted(record.get('runs', ()))) or 'none'}."
        )
    keys = {*COLUMNS.values(), "exact_match_padded", "examples"}
    scores = {}
    for name in sorted(names):
        runs = record["runs"][name]
        missing = (seeds ^ set(runs)) or {key for run in runs.values() for key in keys - set(run)}
        if missing:
            raise ValueError(
                f"Expected for {name} the seeds {', '.join(sorted(seeds))}, each with "
                f"{', '.join(sorted(keys))}. Missing or too much: {', '.join(sorted(missing))}."
            )
        if {len(run["examples"]) for run in runs.values()} != {len(record["example_sources"])}:
            raise ValueError(
                f"Expected {len(record['example_sources'])} examples in each run of {name}."
            )
        columns = {
            key: np.array([np.ravel(run[key])[-1] for run in runs.values()], "float64")
            * (1 if key == "losses" else 100)
            for key in (*COLUMNS.values(), "exact_match_padded")
        }
        scores[name] = {
            "right": columns["exact_match"],
            "mean": [columns[key].mean() for key in COLUMNS.values()],
            "padded": columns["exact_match_padded"].mean(),
        }
    return scores


def _compared(text, right):
    """A translation, shortened, with the words strong that another one does not have there."""
    words, others = text.split(), right.split()
    same = {
        block.a + number
        for block in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
        for number in range(block.size)
    }
    shown, letters = [], 0
    for number, word in enumerate(words):
        letters += min(len(word), WORD) + 1
        if letters > LONGEST:
            shown.append("…")
            break
        cut = word if len(word) <= WORD else f"{word[:WORD]}…"
        shown.append(cut if number in same else f"**{cut}**")
    return " ".join(shown) or "(not a word)"


def _still(data):
    """The machine with all its wires, and below it the scores of all variants."""
    drawing = Drawing(360)
    top = _machine(drawing, data["below"]) + 22
    row, left, width = 26, 98, 150
    for x, words in ((0, "pulled"), (360, "loss")):
        drawing.text(x, top, words, muted=True, size=12, anchor="end" if x else None)
    drawing.text(310, top, "right, %", muted=True, size=12, anchor="end")
    for number, scored in enumerate(data["rows"]):
        y, mean = top + 24 + row * number, scored["mean"]
        drawing.text(0, y, scored["title"], strong=not number)
        bar = {"x": left, "y": y - 9, "height": 18, "rx": 3, "class_": "f-r"}
        drawing.add("rect", **bar, width=width, fill_opacity=0.09)
        drawing.add("rect", **bar, width=max(1, width * mean[0] / 100), fill_opacity=0.35)
        for place, right in enumerate(scored["right"]):
            x, shift = left + width * right / 100, place - (len(scored["right"]) - 1) / 2
            drawing.add("circle", cx=x, cy=y + 6 * shift, r=2.5, class_="f-ink")
        drawing.text(310, y, f"{mean[0]:.1f}", anchor="end")
        drawing.text(360, y, f"{mean[3]:.3f}", anchor="end")
    return drawing.svg(top + 38 + row * (len(data["rows"]) - 1))


def _machine(drawing, below):
    """Both stacks from the bottom up, 360 wide; returns the height."""
    height = 400
    _, memory, _ = _stack(drawing, STACKS[0], -1, below, height)
    top, _, cross = _stack(drawing, STACKS[1], 1, below, height)
    drawing.text(276, top - 16, "next word", anchor="middle", size=12)
    left, right = 84 + BOX / 2, 276 - BOX / 2
    middle = (left + right) / 2
    for concept, shift in (("k", -3), ("v", 3)):
        start, end = memory + shift, cross + shift
        path = [(left, start), (middle - shift, start), (middle - shift, end), (right, end)]
        drawing.wire(path, concept, strong=True)
    return height


def _stack(drawing, stack, way, below, foot):
    """One stack: the height of its top, of the middle of its last box and of cross-attention."""
    x, y, cross = 180 + 96 * way, foot - 20, None
    out, boxes, pluses = x + way * (BOX / 2 + 14), [], []

    def block(words, high=20, gap=7, concept="r", lit=True):
        nonlocal y
        y -= high + gap
        boxes.append((x - BOX / 2, y, BOX, high, words, concept, lit))
        return y + high / 2

    block("embedding", gap=2, lit=False)
    block("+ position", concept="p")
    block(below, lit=False)
    low, y = y - 6, y - 9
    for _, lines, mask in stack:
        branch = y - 3
        middle = block("".join(lines), 22, 10, "a" if mask else "r")
        cross = middle if lines is CROSS else cross
        y -= 12
        drawing.wire([(x, branch), (out, branch), (out, y), (x + way * 7, y)], "r")
        pluses.append(y)
        y -= 6
        block("normalise", 17, 4)
        y -= 4
    frame = {"x": x - BOX / 2 - 20, "y": y - 2, "width": BOX + 40, "height": low - y + 2}
    drawing.add("rect", **frame, rx=10, class_="frame")
    last = block("memory" if way < 0 else "linear, softmax", gap=9, lit=False)
    drawing.wire([(x, foot - 18), (x, y - 8 * (way > 0))])
    for *place, concept, lit in boxes:
        drawing.box(*place, concept, lit, size=12)
    for plus in pluses:
        drawing.plus(x, plus, "r")
    words = "English" if way < 0 else "French so far"
    drawing.text(x, foot - 8, words, anchor="middle", size=12)
    return y, last, cross
