"""Sentences and what was made of them: a sheet of two columns, one on a phone."""

import html
import re

from nlp104.figures.language import still

__all__ = ["two_columns"]

SENTENCES = "repeat(auto-fit,minmax(min(100%,15rem),1fr))"  # two on a page, one on a phone
LABELS = "5.5rem minmax(0,1fr)"  # everywhere two
BOLD = re.compile(r"\*\*(.+?)\*\*")
CLINGING = re.compile(r" (?=[?!:;»])")  # in French a space stands there, which must not break


def two_columns(groups, *, labels=False):
    """Display pairs in rows, below the names of their groups.

    What stands between two pairs of asterisks is bold, the rest on the right is muted.

    Args:
        groups: from a name, which may be empty, to rows. A row is what stands on the left, and the
            lines on the right: several, or one.
        labels: what is on the left are short labels, not sentences: they stand beside the right
            on a phone, too.
    """
    from IPython.display import display  # the package itself also works where there is no notebook

    page, plain = "", []
    for name, rows in groups.items():
        if name:
            look = "margin:1.1rem 0 .3rem;font-weight:650"
            page += f'<p style="{look}">{html.escape(name)}</p>'
            plain.append(name)
        for left, right in rows:
            lines = [right] if isinstance(right, str) else list(right)
            page += _row(left, lines, labels)
            first, *said = (BOLD.sub(r"\1", line) for line in (left, *lines))
            plain += [first, "  → " + "\n    ".join(said)]
    look = "font-size:.94rem;line-height:1.45;text-align:left;overflow-wrap:anywhere"
    page = still(f'<div style="{look}">{page}</div>')
    display({"text/html": page, "text/plain": "\n".join(plain)}, raw=True)


def _row(left, lines, labels):
    """One pair as a grid of its own, below a thin line."""
    look = f"display:grid;gap:0 1rem;grid-template-columns:{LABELS if labels else SENTENCES}"
    look += ";padding:.4rem 0;border-top:1px solid var(--line)"
    muted = ' style="color:var(--muted)"'
    told = "<br>".join(map(_marked, lines))
    first = f"<div{muted if labels else ''}>{_marked(left)}</div>"
    return f'<div style="{look}">{first}<div{muted}>{told}</div></div>'


def _marked(text):
    """A line as HTML."""
    text = CLINGING.sub("\u00a0", html.escape(text, quote=False))
    return BOLD.sub(r'<strong style="color:var(--ink)">\1</strong>', text)
