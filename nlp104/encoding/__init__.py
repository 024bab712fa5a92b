"""Token ids to vectors that know where they stand: positions, and embeddings with positions."""

from nlp104.encoding.embedding import TokenAndPositionEmbedding
from nlp104.encoding.positions import (
    POSITIONS,
    LearnedPositions,
    SinusoidalPositions,
    binary_positions,
    rotate,
    sinusoidal_positions,
)

__all__ = [
    "POSITIONS",
    "LearnedPositions",
    "SinusoidalPositions",
    "TokenAndPositionEmbedding",
    "binary_positions",
    "rotate",
    "sinusoidal_positions",
]
