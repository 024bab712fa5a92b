"""A translator in a web page: weights packed as text, and the forward pass in plain JavaScript.

The page needs no server and no network; it works from a disk.
"""

from nlp104.translation.web.packing import BITS, engine, pack, rounded
from nlp104.translation.web.page import ELSEWHERE, code, figure, page, parts, style

__all__ = [
    "BITS",
    "ELSEWHERE",
    "code",
    "engine",
    "figure",
    "pack",
    "page",
    "parts",
    "rounded",
    "style",
]
