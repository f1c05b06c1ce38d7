"""Largest errors of binary operators, in ULP, measured over the pairs of `python -m ttnn sweep`.

The figures are data: a test fails when an operator exceeds its figure.
"""

from __future__ import annotations

from typing import Final

from ttnn.ops.accuracy import Accuracy, bit_exact, max_ulp
from ttnn.types import DataType

LARGEST_ULP: Final[dict[str, tuple[float, float]]] = {}
"""(bfloat16, float32)"""


def accuracy_of(name: str, *, exact: bool) -> Accuracy | None:
    """Return the stated bound of an operator: exact, measured, or none."""
    if exact:
        return bit_exact()
    if name not in LARGEST_ULP:
        return None
    bfloat16, float32 = LARGEST_ULP[name]
    return max_ulp((DataType.BFLOAT16, bfloat16), (DataType.FLOAT32, float32))
