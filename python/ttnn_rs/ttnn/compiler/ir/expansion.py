"""The size of attributes with their aliases written out.

An alias that stands twice in the definition of the next one, twenty times over, is a million attributes. They are
shared objects here, but text, hashes and comparisons go through all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ttnn.compiler.ir.affine import affine_text
from ttnn.compiler.ir.xdsl_adapter import AffineMap, ArrayAttr, Attribute

__all__ = ["Expansion"]

#: Characters of an attribute in text, without those inside it.
_NODE: Final = 16


class Expansion:
    """Sizes and depths of attributes; each object is looked at once."""

    def __init__(self) -> None:
        # The attribute is kept, so that its id stays its own.
        self._known: dict[int, tuple[int, int, Attribute]] = {}

    def measure(self, attribute: Attribute) -> tuple[int, int]:
        """Return an attribute's characters and nesting depth."""
        found = self._known.get(id(attribute))
        if found is None:
            parts = tuple(vars(attribute).values())
            # A list of parameters is no level of its own.
            inside = (one.data if isinstance(one, ArrayAttr) else one for one in parts)
            size, depth = self._inside(tuple(inside))
            found = self._known[id(attribute)] = size + _NODE, depth + 1, attribute
        return found[:2]

    def _inside(self, value: Any) -> tuple[int, int]:
        if isinstance(value, Attribute):
            return self.measure(value)
        if isinstance(value, str | bytes):
            return len(value), 0
        if isinstance(value, Mapping):
            size, depth = self._inside(tuple(value.values()))
            return size + sum(len(key) for key in value), depth
        if isinstance(value, tuple | list):
            size = depth = 0
            for one in value:
                inner, levels = self._inside(one)
                size += inner
                depth = max(depth, levels)
            return size, depth
        return (len(affine_text(value)), 0) if isinstance(value, AffineMap) else (1, 0)
