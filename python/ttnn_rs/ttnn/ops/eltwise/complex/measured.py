"""Largest errors of the operators on one complex tensor against complex128, in ULP of the real and imaginary parts.

The angle is `atan2`. That of `angle_bw` adds up the steps: two squares and their sum, a reciprocal, two products. Those
of `polar` and its gradient are measured over magnitudes and gradients around 1 and angles of every size, rounded up; an
error of the angle's reduction grows with the angle. All hold where no square of a part overflows or becomes 0.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType
from ttnn.golden.eltwise import complex as g
from ttnn.operation.accuracy import Accuracy, max_ulp
from ttnn.ops.eltwise.binary.measured import LARGEST_ULP

_BFLOAT16, _FLOAT32 = DataType.BFLOAT16, DataType.FLOAT32
_LARGEST: Final = 2.0**20
"""Beyond, angles lose their fraction."""

ANGLE: Final[Accuracy] = max_ulp(*zip((_BFLOAT16, _FLOAT32), LARGEST_ULP["atan2"], strict=True))
ANGLE_GRADIENT: Final[Accuracy] = max_ulp((_BFLOAT16, 5.1), (_FLOAT32, 5.4))
POLAR: Final[Accuracy] = max_ulp(
    (_BFLOAT16, 1.1), (_FLOAT32, 2.2), magnitude=g.magnitude_times_the_angle_or_1, largest=_LARGEST
)
POLAR_GRADIENT: Final[Accuracy] = max_ulp(
    (_BFLOAT16, 3.3), (_FLOAT32, 3.7), magnitude=g.size_of_terms, largest=_LARGEST
)
