"""Promotion of 32-bit integers in products and quotients with floats.

They are converted first.

Source: TT-NN docs of `multiply` and `div`; recorded calls of the gradients that multiply integers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.base.enums import DataType
from ttnn.ops._programs.common import FLOATS
from ttnn.ops._programs.typecast import cast
from ttnn.tensor.tensor import Tensor

_32_BITS: Final = (DataType.INT32, DataType.UINT32)


def promoted(operator: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the operands with integers as floats, if one is float.

    The integers are int32 and uint32.

    With float32 or a `float` they become float32, with bfloat16 and block floats bfloat16; not a Python int.
    """
    return _beside(operator, a, b), _beside(operator, b, a)


def _beside(operator: str, x: Any, other: Any) -> Any:
    if not isinstance(x, Tensor) or x.spec.dtype not in _32_BITS:
        return x
    if isinstance(other, Tensor):
        if other.spec.dtype not in FLOATS:
            return x
        single = other.spec.dtype is DataType.FLOAT32
    else:
        if not isinstance(other, float | np.floating):
            return x
        single = True
    return cast(operator, x, DataType.FLOAT32 if single else DataType.BFLOAT16)
