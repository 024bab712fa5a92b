"""What the package puts into a page: its scripts and styles, and data that stand in a script."""

import json
from importlib.resources import files

ELEMENTS = "utils/elements.js"  # what the scripts of all pages make elements with
LOOKS = "utils/elements.css"  # and how those look


def packaged(path):
    """The text of a script or style sheet of the package.

    Args:
        path: such as ``"utils/elements.js"``.

    Example:
        >>> from nlp104.utils.scripts import ELEMENTS, packaged
        >>> packaged(ELEMENTS).splitlines()[1]
        'globalThis.nlp104elements ??= (() => {'
    """
    return files("nlp104").joinpath(*path.split("/")).read_text(encoding="utf-8").strip()


def style_sheet(*paths):
    """Some style sheets of the package as one, without their indentation.

    Args:
        *paths: such as ``"utils/elements.css"``; in a page a later one prevails.

    Example:
        >>> from nlp104.utils.scripts import LOOKS, style_sheet
        >>> style_sheet(LOOKS)[56:74]
        '.nlp104 [hidden] {'
    """
    return " ".join(line.strip() for path in paths for line in packaged(path).splitlines())


def script_json(value, **options):
    r"""JSON that may stand in a script: there "</script" and "<!--" would mean something to HTML.

    Args:
        value: whatever JSON can hold.
        **options: of `json.dumps`.

    Example:
        >>> from nlp104.utils.scripts import script_json
        >>> script_json(["</script>", "é"], ensure_ascii=False)
        '["\\u003c/script>", "é"]'
    """
    return json.dumps(value, **options).replace("<", "\\u003c")
