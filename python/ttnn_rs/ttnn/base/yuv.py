"""Coefficients of conversions from RGB to YUV.

Source: ITU-R BT.601 and BT.709.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["YUVCoefficients", "yuv_bt601_coefficients", "yuv_bt709_coefficients"]

Row = tuple[float, float, float]


@dataclass
class YUVCoefficients:
    """Weights of red, green and blue in luma and chroma."""

    y: Sequence[float] = (0.0, 0.0, 0.0)
    cb: Sequence[float] = (0.0, 0.0, 0.0)
    cr: Sequence[float] = (0.0, 0.0, 0.0)


def _of(red: float, blue: float) -> YUVCoefficients:
    """Return a standard's coefficients from its red and blue weights."""
    green = 1.0 - red - blue
    of_blue, of_red = 2.0 * (1.0 - blue), 2.0 * (1.0 - red)
    return YUVCoefficients(
        (red, green, blue),
        (-red / of_blue, -green / of_blue, 0.5),
        (0.5, -green / of_red, -blue / of_red),
    )


def yuv_bt601_coefficients() -> YUVCoefficients:
    """Return the coefficients of ITU-R BT.601."""
    return _of(0.299, 0.114)


def yuv_bt709_coefficients() -> YUVCoefficients:
    """Return the coefficients of ITU-R BT.709."""
    return _of(0.2126, 0.0722)
