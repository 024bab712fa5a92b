"""Colours as eyes see them: their light, and the contrast of two (WCAG 2.2)."""

import numpy as np


def linear(v):
    """Amounts of light from shares of sRGB."""
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    """WCAG 2.2, relative luminance of "#rrggbb", or of three shares."""
    colour = shares(colour) if isinstance(colour, str) else colour
    return float(np.dot(linear(colour), (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    """Of two colours, from 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def shares(colour):
    """Red, green and blue of "#rrggbb", from 0 to 1."""
    return np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
