"""Python's arithmetic and comparison operators on tensors.

Each calls the operator of the same meaning.

Tensors are below operators, so operators are not imported here: each registers itself in `OPERATORS` by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np

from ttnn.base.call import type_text
from ttnn.base.exceptions import ArgumentError, UnsupportedError

OPERATORS: Final[dict[str, Callable[..., Any]]] = {}
"""The registered operators by name, for example "ttnn.add". `ttnn.operation.registry` fills it."""

_T = TypeVar("_T", bound="TensorOperators")


def operation(name: str) -> Callable[..., Any]:
    """Return the operator `ttnn.<name>`.

    Raises:
        UnsupportedError: no such operator is registered.
    """
    found = OPERATORS.get(f"ttnn.{name}")
    if found is None:
        raise UnsupportedError(f"ttnn.{name}: this operator is not implemented", "unimplemented")
    return found


class TensorOperators:
    """The operators.

    As in the official package there is no `**`, no unary minus and no `len()`, and `bool()` is True.
    """

    __slots__ = ()

    def _binary(self: _T, name: str, other: Any) -> _T:
        if not isinstance(other, TensorOperators | int | float | np.generic):
            if hasattr(other, "__array__"):
                raise ArgumentError(
                    f"ttnn.{name}: expected a ttnn.Tensor or a scalar as second operand, got {type_text(other)}; "
                    "convert it with ttnn.from_torch."
                )
            # What Python's protocol wants is not of the declared type; type checkers know it in signs only.
            return cast("_T", NotImplemented)
        operand = other.item() if isinstance(other, np.generic) else other
        return cast("_T", operation(name)(self, operand))

    def __add__(self: _T, other: Any) -> _T:
        return self._binary("add", other)

    def __radd__(self: _T, other: Any) -> _T:
        return self._binary("add", other)

    def __sub__(self: _T, other: Any) -> _T:
        return self._binary("subtract", other)

    def __rsub__(self: _T, other: Any) -> _T:
        return self._binary("rsub", other)

    def __mul__(self: _T, other: Any) -> _T:
        return self._binary("multiply", other)

    def __rmul__(self: _T, other: Any) -> _T:
        return self._binary("multiply", other)

    def __truediv__(self: _T, other: Any) -> _T:
        return self._binary("div", other)

    def __rtruediv__(self: _T, other: Any) -> _T:
        return self._binary("rdiv", other)

    def __matmul__(self: _T, other: Any) -> _T:
        return self._binary("matmul", other)

    def __eq__(self: _T, other: Any) -> _T:  # type: ignore[override]
        return self._binary("eq", other)

    def __ne__(self: _T, other: Any) -> _T:  # type: ignore[override]
        return self._binary("ne", other)

    def __lt__(self: _T, other: Any) -> _T:
        return self._binary("lt", other)

    def __le__(self: _T, other: Any) -> _T:
        return self._binary("le", other)

    def __gt__(self: _T, other: Any) -> _T:
        return self._binary("gt", other)

    def __ge__(self: _T, other: Any) -> _T:
        return self._binary("ge", other)

    def __bool__(self) -> bool:
        return True

    # Comparisons make tensors, so equality cannot tell keys apart; identity does.
    __hash__ = object.__hash__
