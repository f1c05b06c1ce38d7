"""Golden values that comparison mode carries from the start.

They are what tensors would hold without rounding.

The result of an operator has the golden function's value of what its operands carry. A tensor that no operator has
made begins with its own elements.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ttnn.tensor.tensor import Tensor

Values = np.ndarray[Any, np.dtype[Any]]

TRANSFERS: Final = frozenset(
    f"ttnn.{name}" for name in ("to_device", "from_device", "reallocate", "to_dtype", "experimental.quasar.to_device")
)
"""Operators without a golden function that keep the operand's elements."""


class LostError(Exception):
    """Observe a tensor from an operator of unknown golden value."""


_carried: Final[dict[int, tuple[weakref.ref[Tensor], Values | None]]] = {}
"""By `id`. The value is None where it is not known."""


def keep(tensor: Tensor, values: Values | None) -> None:
    """Attach golden values to a tensor's lifetime; None if unknown."""
    number = id(tensor)

    def forget(gone: weakref.ref[Tensor]) -> None:
        if number in _carried and _carried[number][0] is gone:
            del _carried[number]

    _carried[number] = (weakref.ref(tensor, forget), values)


def carried_by(tensor: Tensor, own: Callable[[Tensor], Values]) -> Values:
    """Return a tensor's golden values, or its own elements.

    The latter if no operator has made it.

    Raises:
        LostError: an operator has made it, and its golden value is not known.
    """
    found = _carried.get(id(tensor))
    if found is None or found[0]() is not tensor:
        return own(tensor)
    if found[1] is None:
        raise LostError
    return found[1]


def is_carried(tensor: Tensor) -> bool:
    """Return whether an operator has made a tensor.

    Its golden value may then be another than its elements.
    """
    found = _carried.get(id(tensor))
    return found is not None and found[0]() is tensor


def forget_all() -> None:
    """Restart the program: all tensors start with their own elements."""
    _carried.clear()
