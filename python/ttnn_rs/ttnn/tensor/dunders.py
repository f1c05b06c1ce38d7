"""Python's arithmetic and comparison signs on tensors: each calls the operator of the same meaning.

Operators need tensors, so they are looked up when a sign is used, not imported here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttnn.base.exceptions import UnsupportedError

if TYPE_CHECKING:
    from ttnn.tensor.tensor import Tensor


def operation(name: str) -> Any:
    """Return the operator `ttnn.<name>`.

    Raises:
        UnsupportedError: it is not built yet.
    """
    found = getattr(sys.modules["ttnn"], name, None)
    if found is None:
        raise UnsupportedError(f"ttnn.{name}: this operator is not built yet", "unimplemented")
    return found


class TensorOperators:
    """The signs. As in the official package there is no `**`, no unary minus and no `len()`, and `bool()` is True."""

    __slots__ = ()

    def _binary(self, name: str, other: Any) -> Tensor:
        if not isinstance(other, TensorOperators | int | float | np.generic):
            # What Python's protocol wants is not of the declared type; type checkers know it in signs only.
            return cast("Tensor", NotImplemented)
        operand = other.item() if isinstance(other, np.generic) else other
        return cast("Tensor", operation(name)(self, operand))

    def __add__(self, other: Any) -> Tensor:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> Tensor:
        return self._binary("add", other)

    def __sub__(self, other: Any) -> Tensor:
        return self._binary("subtract", other)

    def __rsub__(self, other: Any) -> Tensor:
        return self._binary("rsub", other)

    def __mul__(self, other: Any) -> Tensor:
        return self._binary("multiply", other)

    def __rmul__(self, other: Any) -> Tensor:
        return self._binary("multiply", other)

    def __truediv__(self, other: Any) -> Tensor:
        return self._binary("div", other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self._binary("rdiv", other)

    def __matmul__(self, other: Any) -> Tensor:
        return self._binary("matmul", other)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self._binary("eq", other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return self._binary("ne", other)

    def __lt__(self, other: Any) -> Tensor:
        return self._binary("lt", other)

    def __le__(self, other: Any) -> Tensor:
        return self._binary("le", other)

    def __gt__(self, other: Any) -> Tensor:
        return self._binary("gt", other)

    def __ge__(self, other: Any) -> Tensor:
        return self._binary("ge", other)

    def __bool__(self) -> bool:
        return True

    # Comparisons make tensors, so equality cannot tell keys apart; identity does.
    __hash__ = object.__hash__
