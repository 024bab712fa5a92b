"""Explorables: figures that a reader can play with, in the book, in Jupyter and in Colab.

`evolution` walks through the seven versions of attention. What it returns is displayed as the
output of a cell. Everything is inside that output: the numbers, which the package's own layers
computed, and a little JavaScript that shows them. Nothing is loaded, so it works offline, too, and
where scripts are off a still picture takes its place.
"""

from nlp104.figures.explore.evolution import evolution

__all__ = ["evolution"]
