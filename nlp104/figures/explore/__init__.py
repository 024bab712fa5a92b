"""Explorables: figures that a reader can play with, in the book, in Jupyter and in Colab.

What each function returns is displayed as the output of a cell. Everything is inside that output:
the numbers, and a little JavaScript that shows them and computes on. Nothing is loaded, so it works
offline, too, and where scripts are off a still picture takes its place. Every state of a figure has
an address: ``#projection:step=3``.

A scene is a folder of `scenes`, such as `scenes/projection`: a pure function of its state. What all
of them draw with, their frame and their player are in the folder `player`.
"""

from nlp104.figures.explore.blanks import blanks
from nlp104.figures.explore.bleu import bleu
from nlp104.figures.explore.brackets import brackets
from nlp104.figures.explore.cross_entropy import cross_entropy
from nlp104.figures.explore.decoding import decoding
from nlp104.figures.explore.descent import descent
from nlp104.figures.explore.devices import devices
from nlp104.figures.explore.draw_digit import draw_digit
from nlp104.figures.explore.evolution import evolution
from nlp104.figures.explore.family_tree import family_tree
from nlp104.figures.explore.heads import heads
from nlp104.figures.explore.machine import machine
from nlp104.figures.explore.masked_attention import masked_attention
from nlp104.figures.explore.merges import merges
from nlp104.figures.explore.next_letter import next_letter
from nlp104.figures.explore.patching import patching
from nlp104.figures.explore.paths import paths
from nlp104.figures.explore.pipeline import pipeline
from nlp104.figures.explore.positions import positions
from nlp104.figures.explore.projection import projection
from nlp104.figures.explore.residual import residual
from nlp104.figures.explore.shapes import shapes
from nlp104.figures.explore.softmax_lab import softmax_lab
from nlp104.figures.explore.speculative_sampling import speculative_sampling
from nlp104.figures.explore.trained_heads import trained_heads
from nlp104.figures.explore.translator import translator
from nlp104.figures.explore.wires import wires
from nlp104.figures.explore.word_map import word_map

__all__ = [
    "blanks",
    "bleu",
    "brackets",
    "cross_entropy",
    "decoding",
    "descent",
    "devices",
    "draw_digit",
    "evolution",
    "family_tree",
    "heads",
    "machine",
    "masked_attention",
    "merges",
    "next_letter",
    "patching",
    "paths",
    "pipeline",
    "positions",
    "projection",
    "residual",
    "shapes",
    "softmax_lab",
    "speculative_sampling",
    "trained_heads",
    "translator",
    "wires",
    "word_map",
]
