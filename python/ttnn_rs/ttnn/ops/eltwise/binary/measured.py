"""Largest errors of binary operators against float64, in ULP, as bfloat16 and as float32.

Measured over 65,536 pairs of normally distributed numbers, and as many whose exponents lie within 8 of each other, of
magnitudes from 2^-20 to 2^20; rounded up. `ldexp` with exponents of magnitude up to 16, `pow` with bases from 1/16 to
16 and exponents of magnitude up to 16, `xlogy` with positive second operands. Where terms cancel or the result jumps by
a divisor, the unit is that of a magnitude of the operands. The float32 figure of `div` is that of int32 operands; those
of float32 keep 0.84. The figures are data: a test fails when an operator exceeds its figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.base.enums import DataType
from ttnn.golden.eltwise import binary as pairs
from ttnn.operation.accuracy import Accuracy, bit_exact, max_ulp

LARGEST_ULP: Final[dict[str, tuple[float, float]]] = {
    "atan2": (0.65, 2.9),
    "bias_gelu": (256, 4.3e7),
    "div": (0.5, 3),
    "div_no_nan": (0.5, 1.8),
    "floor_div": (64, 0),
    "fmod": (0.0001, 0.5),
    "ldexp": (2.3, 1.9),
    "logaddexp": (1.2, 1.4),
    "logaddexp2": (1.4, 1.6),
    "nextafter": (1, 0),
    "pow": (5.5, 9.2),
    "remainder": (60, 0.5),
    "squared_difference": (2.1, 2),
    "xlogy": (3, 7500),
}
"""(bfloat16, float32)"""

_MAGNITUDES: Final[dict[str, Callable[..., Any]]] = {
    "floor_div": pairs.quotient_or_1,
    "fmod": pairs.sum_of_magnitudes,
    "logaddexp": pairs.largest_magnitude_or_1,
    "logaddexp2": pairs.largest_magnitude_or_1,
    "remainder": pairs.sum_of_magnitudes,
    "xlogy": pairs.factors_of_xlogy,
}


def accuracy_of(name: str, *, exact: bool) -> Accuracy | None:
    """Return the stated bound of an operator: exact, measured, or none."""
    if exact:
        return bit_exact()
    if name not in LARGEST_ULP:
        return None
    bfloat16, float32 = LARGEST_ULP[name]
    return max_ulp((DataType.BFLOAT16, bfloat16), (DataType.FLOAT32, float32), magnitude=_MAGNITUDES.get(name))
