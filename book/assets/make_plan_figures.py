"""Draw the three pictures of the page *A thousand devices, on paper* as SVG, light and dark.

    python book/assets/make_plan_figures.py

From `experiments.plan`: one simulated step of eight devices, and what failures and saving cost; and
the grid of groups and slices.
Letters are as large as they must be on a phone.
"""

import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]  # wherever it is run from

from make_figures import box, palette, svg, text  # noqa: E402

from experiments import plan  # noqa: E402

WIDTH = 480
WAITING_HEIGHT, LOSS_HEIGHT, GRID_HEIGHT = 434, 360, 428
LETTER = 17
DEVICES = 8


def hatch(colors):
    """Padding, as everywhere in the book: stripes."""
    return (
        '<defs><pattern id="padding" width="7" height="7" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0V7" stroke="{colors["quiet"]}" '
        'stroke-width="2.5"/></pattern></defs>'
    )


def typical_step(way, share):
    """Of the simulated steps the one with the share of real tokens that all have on average."""
    return min(
        plan.steps(plan.english_lengths(), way, DEVICES, plan.STEPS),
        key=lambda step: abs(step[1].sum() / DEVICES / step[0].max() - share),
    )


def waiting(colors, panels):
    """A bar for each device: for real tokens, for padding, and waiting.

    Each panel has a title, the share of real tokens, and a step of `experiments.plan.steps`.
    """
    left, right, thick = 66, WIDTH - 14, 13
    ink, quiet = colors["ink"], colors["quiet"]
    parts = [hatch(colors)]
    for x, fill, stroke, word in (
        (14, quiet, "none", "real tokens"),
        (174, "url(#padding)", quiet, "padding"),
        (304, "none", quiet, "waiting"),
    ):
        parts.append(box(x, 8, 24, thick + 2, fill, stroke, 1))
        parts.append(text(x + 32, 22, word, ink, LETTER, "start"))
    for panel, (title, share, (costs, real)) in enumerate(panels):
        top = 62 + 188 * panel
        parts.append(
            text(
                14,
                top,
                f"{title}: {100 * share:.0f} % is for real tokens",
                ink,
                LETTER,
                "start",
                700,
            )
        )
        for device, (cost, served) in enumerate(zip(costs, real, strict=True)):
            y = top + 14 + 18 * device
            unit = (right - left) / costs.max()
            done, busy = left + unit * served, left + unit * cost
            parts.append(text(left - 12, y + 12, device + 1, quiet, 15, "end"))
            parts.append(bar(left, done, y, thick, quiet, "none"))
            parts.append(bar(done, busy, y, thick, "url(#padding)", quiet))
            if busy < right - 1:
                parts.append(bar(busy, right, y, thick, "none", quiet))
    parts.append(
        text(left, WAITING_HEIGHT - 8, "the step begins", quiet, 15, "start")
    )
    parts.append(text(right, WAITING_HEIGHT - 8, "and ends", quiet, 15, "end"))
    return svg(WIDTH, WAITING_HEIGHT, "".join(parts))


def bar(left, right, y, height, fill, stroke):
    """A piece of a bar, with straight corners so that pieces join."""
    return (
        f'<rect x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="{height}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="1"/>'
    )


def loss(colors, record):
    """A curve for each number of devices, over the minutes between two states."""
    ink, quiet = colors["ink"], colors["quiet"]
    left, right, top, bottom = 62, WIDTH - 66, 52, LOSS_HEIGHT - 58

    def place(minutes, share):
        x = left + (right - left) * math.log(minutes) / math.log(600)
        y = bottom - (bottom - top) * math.log(share / 0.001) / math.log(
            0.25 / 0.001
        )
        return x, y

    parts = [
        text(
            14,
            24,
            "time lost",
            ink,
            LETTER,
            "start",
            700,
        )
    ]
    for share in (0.001, 0.01, 0.1):
        _, y = place(1, share)
        parts.append(
            f'<path d="M{left} {y:.1f}H{right}" stroke="{colors["line"]}" stroke-width="1"/>'
        )
        parts.append(
            text(
                left - 8,
                round(y + 5, 1),
                f"{100 * share:g} %",
                quiet,
                15,
                "end",
            )
        )
    for minutes, word in (
        (1, "1 min"),
        (10, "10 min"),
        (60, "1 hour"),
        (600, "10 hours"),
    ):
        x, _ = place(minutes, 0.01)
        parts.append(text(round(x, 1), bottom + 24, word, quiet, 15))
    parts.append(
        text(
            (left + right) / 2,
            LOSS_HEIGHT - 10,
            "from one saved state to the next",
            quiet,
            LETTER,
        )
    )
    for devices, dashes in ((8, "2 5"), (64, "9 5"), (1000, "none")):
        points = [
            place(minutes, plan.lost(minutes / 60, plan.SAVE, devices))
            for minutes in (600 ** (step / 60) for step in range(61))
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colors["ink"]}" stroke-width="2.5" '
            f'stroke-dasharray="{dashes}"/>'
        )
        best = record["best interval, minutes"][str(devices)]
        x, y = place(best, plan.lost(best / 60, plan.SAVE, devices))
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colors["box"]}" '
            f'stroke="{colors["ink"]}" stroke-width="2.5"/>'
        )
        x, y = points[-1]
        word = f"{devices:,}"
        parts.append(
            text(right + 10, round(y + 5, 1), word, ink, LETTER, "start")
        )
    parts.append(text(WIDTH - 6, 24, "devices", ink, LETTER, "end"))
    return svg(WIDTH, LOSS_HEIGHT, "".join(parts))


def grid(colors):
    """A thousand devices as groups and slices: a row, a column and where they cross."""
    ink, quiet = colors["ink"], colors["quiet"]
    left, top, wide, high = 104, 66, 44, 30
    rows = ("1", "2", "3", "", "125")  # the empty one stands for all others
    at_row, at_column = 1, 4
    parts = [
        text(
            left + 4 * wide, 24, "slices of the model", ink, LETTER, weight=700
        )
    ]
    for column in range(DEVICES):
        parts.append(
            text(left + wide * (column + 0.5), 52, column + 1, quiet, 15)
        )
    for row, name in enumerate(rows):
        middle = top + high * row + 20
        if not name:
            dots = (
                text(left + wide * (c + 0.5), middle, "⋮", quiet, 15)
                for c in range(DEVICES)
            )
            parts += dots
            continue
        parts.append(text(left - 12, middle, f"group {name}", quiet, 15, "end"))
        for column in range(DEVICES):
            here = (row, column) == (at_row, at_column)
            x, y = left + wide * column + 4, top + high * row + 4
            fill = ink if here else "none"
            parts.append(box(x, y, wide - 8, high - 8, fill, quiet, 1.5))
    x, y = left + wide * at_column, top + high * at_row
    parts.append(
        box(left - 3, y - 1, DEVICES * wide + 6, high + 2, "none", ink, 2)
    )
    column = x - 1, top - 3, wide + 2, len(rows) * high + 6
    parts.append(box(*column, "none", ink, 2, "6 4"))
    for line, (key, first, second) in enumerate(
        (
            (
                box(14, 0, 26, 16, "none", ink, 2),
                "one copy of the model:",
                "vectors go along it in every layer",
            ),
            (
                box(14, 0, 26, 16, "none", ink, 2, "6 4"),
                "the same slice of every copy:",
                "its gradients are added up, 10 GB a step",
            ),
            (
                box(14, 0, 26, 16, ink, ink, 1.5),
                "one device:",
                "1/8 of the weights, 1/125 of the rows",
            ),
        )
    ):
        y = 250 + 60 * line
        parts.append(f'<g transform="translate(0 {y - 14})">{key}</g>')
        parts.append(text(54, y, first, ink, LETTER, "start", 700))
        parts.append(text(54, y + 24, second, ink, LETTER, "start"))
    return svg(WIDTH, GRID_HEIGHT, "".join(parts))


def pictures():
    """All of them, by file name."""
    record = json.loads(plan.PATH.read_text(encoding="utf-8"))
    panels = []
    for way, title in zip(
        plan.WAYS[:2], ("sentences at random", "batches by length"), strict=True
    ):
        share = record["used"][way][str(DEVICES)]
        panels.append((title, share, typical_step(way, share)))
    made = {}
    for theme, name in enumerate(("light", "dark")):
        made[f"plan-waiting-{name}.svg"] = waiting(palette(theme), panels)
        made[f"plan-loss-{name}.svg"] = loss(palette(theme), record)
        made[f"plan-devices-{name}.svg"] = grid(palette(theme))
    return made


if __name__ == "__main__":
    for name, content in pictures().items():
        (HERE / name).write_text(content, encoding="utf-8")
