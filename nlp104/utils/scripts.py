"""Data that stand in a script of a page."""

import json


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
