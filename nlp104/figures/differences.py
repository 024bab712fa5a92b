"""Two versions of a sentence, one below the other: the words in which they differ are outlined."""

import html
from difflib import SequenceMatcher

from nlp104.figures.language import still

__all__ = ["differences", "word_runs"]

ROW = "display:grid;gap:0 .6rem;grid-template-columns:{}em minmax(0,1fr);padding:.2rem 0"
LETTER = 0.66  # em: width of a letter, generously
SMALL = 0.85  # em: the size of a remark
PILL = (
    "background:none;color:var(--ink);border-radius:9px;padding:0 .35em;"
    "-webkit-box-decoration-break:clone;box-decoration-break:clone;border:1.5px "
)
MARK = PILL + "solid var(--ink)"
GAP = PILL + "dashed var(--edge)"  # words that the other version has, and this one has not
NOTHING = "\u2002\u2002\u2002"


def differences(title, examples, note=""):
    """Display pairs of sentences, word by word.

    Args:
        title: what there is to see.
        examples: rows of a name, the sentence that was translated, and its two versions: from the
            name of each to its text, or to its text and a remark, which stands below the name.
        note: a line below the title, of what this is a part.
    """
    from IPython.display import display  # the package itself also works where there is no notebook

    said = [part for *_, versions in examples for part in versions.items()]
    longest = max(max(len(name), SMALL * len(_with_remark(text)[1])) for name, text in said)
    page = f'<p style="font-weight:650;margin:0 0 .5rem">{html.escape(title)}</p>'
    if note:
        page += f'<p style="color:var(--muted);margin:-.3rem 0 .5rem">{html.escape(note)}</p>'
    plain = [title, note] if note else [title]
    for name, source, versions in examples:
        told = f'<span style="color:var(--muted)">{html.escape(source)}</span>'
        look = "margin:.9rem 0 0;padding:.4rem 0 .2rem;border-top:1px solid var(--line)"
        page += f'<div style="{look}"><strong>{html.escape(name)}:</strong> {told}</div>'
        plain.append(f"{name}: {source}".rstrip(": "))
        pairs = [_with_remark(text) for text in versions.values()]
        marked = word_runs(*(text for text, _ in pairs))
        for version, (_, remark), run in zip(versions, pairs, marked, strict=True):
            page += _row(version, run, remark, LETTER * longest)
            words = " ".join(f"[{text or ' '}]" if odd else text for text, odd in run)
            plain.append(f"  {version}: {_closed(words)}" + f" ({remark})" * bool(remark))
    look = "font-size:.94rem;line-height:1.65;text-align:left;overflow-wrap:anywhere"
    page = still(f'<div style="{look}">{page}</div>')
    display({"text/html": page, "text/plain": "\n".join(plain)}, raw=True)


def word_runs(first, second):
    """Both sentences in runs of words: (words, whether they differ). A gap is a run of no words.

    Example:
        >>> from nlp104.figures.differences import word_runs
        >>> word_runs("Le chat dort.", "Le chat noir dort.")[0]
        [('Le chat', False), ('', True), ('dort .', False)]
    """
    words = [_cut(text) for text in (first, second)]
    blocks = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
    return [
        [(" ".join(row[block[at] : block[at + 1]]), block[0] != "equal") for block in blocks]
        for row, at in zip(words, (1, 3), strict=True)
    ]


def _cut(text):
    """Words; a full stop is one of its own."""
    return [*text.removesuffix(".").split(), *["."] * text.endswith(".")]


def _closed(text):
    """Without the space before a full stop."""
    return text[:-2] + "." if text.endswith(" .") else text


def _with_remark(text):
    """A text and its remark, which may be empty."""
    return (text, "") if isinstance(text, str) else text


def _row(name, run, remark, width):
    """One version beside its name, which has a width in em."""
    said = []
    for text, odd in run:
        if odd:
            look, shown = (MARK, html.escape(text)) if text else (GAP, NOTHING)
            said.append(f'<mark style="{look}">{shown}</mark>')
        else:
            said.append(html.escape(text, quote=False))
    words = _closed(" ".join(said))
    look = f"color:var(--muted);font-size:{SMALL}em"
    note = f'<div style="{look}">{html.escape(remark)}</div>' if remark else ""
    label = f'<div style="white-space:nowrap">{html.escape(name)}{note}</div>'
    return (
        f'<div style="{ROW.format(round(width, 1))}">{label}'
        f'<div style="color:var(--muted)">{words}</div></div>'
    )
