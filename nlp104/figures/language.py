"""The visual language: one colour for each concept, for light pages and for dark ones.

Stills, plots and explorables draw with the variables that `sheet` defines. A concept has three:
`--q` fills (its strength says how much), `--q-line` strokes (at least 3:1 on the ground), `--q-ink`
writes (at least 4.5:1). A cell with a positive number is filled, with a negative one outlined;
hatching means "must not be seen". What a chart compares (runs, languages, sizes) is no concept:
`SERIES` are six colours that no concept wears. The rest of the language is in `language.css`.
"""

import re

from nlp104.utils.scripts import style_sheet

# Concept: fill, line and ink on a light ground, and on a dark one.
CONCEPTS = {
    "q": ("#1470cc", "#0a66c2", "#0a589f", "#1a76da", "#4a9ff5", "#82bffa"),  # query
    "k": ("#ffb32b", "#b98200", "#805600", "#cd8a0c", "#e6b33c", "#f3c862"),  # key
    "v": ("#33a87f", "#12936e", "#006a4c", "#37a67e", "#4fd8a4", "#6fe0b6"),  # value
    "a": ("#cc4a0e", "#b23c0a", "#a23408", "#cb4a0e", "#f0692f", "#ff9a6b"),  # attention weight
    "p": ("#bd7fd6", "#8a3ba6", "#7a2f94", "#8e3fa6", "#eba9f5", "#efb9f7"),  # position
    "r": ("#4a545f", "#5a636d", "#48525d", "#69737d", "#939ea9", "#b7c0ca"),  # residual, plain
}
# Of charts: line and ink on a light ground, and on a dark one. All stay apart for every kind of
# colour blindness, the first three the most: few charts compare more.
SERIES = {
    "s1": ("#3b1c95", "#3b1c94", "#7f74f6", "#a99fff"),  # indigo
    "s2": ("#e5559a", "#b02f6f", "#f8638f", "#ff8db3"),  # rose
    "s3": ("#7d740a", "#655d05", "#e5d94c", "#e9dc4b"),  # olive
    "s4": ("#105e63", "#105e62", "#28c1e2", "#4fcbe8"),  # teal
    "s5": ("#6f290d", "#6f290c", "#a9674f", "#d18e76"),  # brown
    "s6": ("#501d5f", "#501d5e", "#825d99", "#b493c9"),  # plum
}
GROUND = {  # light and dark
    "bg": ("#ffffff", "#14181e"),
    "soft": ("#f5f7f9", "#1a2027"),
    "cell": ("#f1f3f6", "#20272f"),  # of a matrix, where no number is shown
    "line": ("#d7dde4", "#343d48"),
    "edge": ("#838d99", "#76818d"),  # of what can be pressed
    "ink": ("#1b2430", "#edf1f5"),
    "muted": ("#57616e", "#a3adb9"),
    "focus": ("#0a66c1", "#82bffb"),
    "hatch": ("#c9d0d8", "#434e59"),
    "hide": ("#f6f7f9", "#181d23"),
    "cap": ("0.6", "0.66"),  # the strongest tint that ink can still be read on
    "lift": ("0", "0.4"),  # of weaker ones, which a dark ground would swallow
}
LETTERS = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
# Hatching: what must not be seen, and what is seen all the same. One copy stands in every figure.
PATTERNS = (
    '<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>'
    + "".join(
        f'<pattern id="nlp104-{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path class="{look}" d="M0 0V6"/></pattern>'
        for name, look in (("hatch", "hatching"), ("leak", "hatching s-a"))
    )
    + "</defs></svg>"
)
ROLES = ("", "-line", "-ink")


def _by_role(palette, roles):
    """From the name of each colour in each role to it, on a light ground and on a dark one."""
    return {
        name + role: (colours[place], colours[place + len(roles)])
        for name, colours in palette.items()
        for place, role in enumerate(roles)
    }


TOKENS = GROUND | _by_role(CONCEPTS, ROLES) | _by_role(SERIES, ROLES[1:])
# Who says that the page is dark: the book, Colab, JupyterLab, VS Code; without them the system.
DARK = (
    'html[data-theme="dark"] .nlp104',
    'html[theme="dark"] .nlp104',
    'body[data-jp-theme-light="false"] .nlp104',
    ".vscode-dark .nlp104",
)
SYSTEM = (
    'html:not([data-theme="light"], [theme="light"]) '
    'body:not([data-jp-theme-light="true"], .vscode-light) .nlp104'
)


def colour(token):
    """A token as a style sheet writes it, with the light colour where no sheet is."""
    return f"var(--{token}, {TOKENS[token][0]})"


def sheet():
    """The style sheet of every drawing: the colours, light and dark, and the parts."""
    light, dark = (
        ";".join(f"--{name}:{values[theme]}" for name, values in TOKENS.items())
        for theme in range(2)
    )
    concepts = "".join(
        f".nlp104 .f-{name} {{fill:var(--{name})}}.nlp104 .s-{name} {{stroke:var(--{name}-line)}}"
        f".nlp104 .t-{name} {{color:var(--{name}-ink)}}"
        f".nlp104 svg .f-t-{name} {{fill:var(--{name}-ink)}}"
        for name in CONCEPTS
    )
    return (
        f".nlp104{{{light};color-scheme:light}}\n"
        f"{','.join(DARK)}{{{dark};color-scheme:dark}}\n"
        f"@media (prefers-color-scheme:dark){{{SYSTEM}{{{dark};color-scheme:dark}}}}\n"
        f"{concepts}\n{style_sheet('figures/language.css')}\n"
    )


def still(content):
    """HTML that needs nothing else: a picture or a table, with the style sheet before it."""
    return f'<figure class="nlp104 still"><style>{sheet()}</style>{content}</figure>'


def with_tokens(svg):
    """A drawing in light colours, with the token in the place of every colour that is one."""
    names = {values[0]: name for name, values in TOKENS.items() if values[0].startswith("#")}
    names["#000000"] = "ink"  # what matplotlib draws where nobody has chosen a colour

    def token(match):
        found = names.get(match[0].lower())
        return colour(found) if found else match[0]

    return re.sub(r"#[0-9a-fA-F]{6}\b", token, svg)
