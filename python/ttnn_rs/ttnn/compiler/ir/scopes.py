"""Names visible in a region, removed when it ends.

The cost is proportional to their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["Scope", "ValueScopes"]


class ValueScopes(dict[str, Any]):
    """Values by name, with cheap region copies.

    A copy is a mark in the list of names, so that a region costs what is in it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._order: list[str] = []

    def __setitem__(self, name: str, values: Any) -> None:
        self._order.append(name)
        super().__setitem__(name, values)

    def copy(self) -> int:  # type: ignore[override]
        """Return the number of names."""
        return len(self._order)

    def forget(self, length: int) -> None:
        """Leave the names that were there when there were so many."""
        while len(self._order) > length:
            self.pop(self._order.pop(), None)


class Scope:
    """Defined values; a region's are forgotten at its end."""

    def __init__(self) -> None:
        self._values: set[SSAValue] = set()
        self._order: list[SSAValue] = []

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._values

    def __len__(self) -> int:
        return len(self._order)

    def update(self, values: Iterable[SSAValue]) -> None:
        """Add values."""
        for value in values:
            if value not in self._values:
                self._values.add(value)
                self._order.append(value)

    def forget(self, length: int) -> None:
        """Leave the values that were there when there were so many."""
        while len(self._order) > length:
            self._values.discard(self._order.pop())
