"""Views of operations: attributes of StableHLO as Python values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.dialects.operations import plain
from ttnn.compiler.ir.module import location_name
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    DictionaryAttr,
    FileLineColLoc,
    Operation,
    StringAttr,
    SymbolRefAttr,
)

__all__ = ["View", "fields", "place"]

_FIELD: Final = re.compile(r"(\w+) = (\[[^\]]*\]|[^,>\[]+)")


def fields(attribute: Attribute | None) -> dict[str, Any]:
    """Return the fields of `#stablehlo.x<name = value, ...>`: numbers, lists of numbers."""
    found: dict[str, Any] = {}
    for name, text in _FIELD.findall(attribute_text(attribute) if attribute is not None else ""):
        found[name] = [int(one) for one in re.findall(r"-?\d+", text)] if text.startswith("[") else int(text)
    return found


def place(operation: Operation) -> str:
    """Return the framework's name of an operation, or its place.

    The place is a line and a column.
    """
    name = location_name(operation)
    if name is not None:
        return f'"{name}"'
    location = operation.location
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}"
    return "an unknown place"


class View:
    """An operation of the program that is imported.

    Attributes:
        op: The operation.
        name: Its full name.
        types: Types of its results, as the program states them.
    """

    def __init__(self, op: Operation, name: str | None = None) -> None:
        self.op = op
        self.name = written_name(op) if name is None else name
        self.types: list[Attribute] = [one.type for one in op.results]

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute, or None."""
        found = self.op.properties.get(name)
        return self.op.attributes.get(name) if found is None else found

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute as a Python value: number, text, tuple of numbers."""
        found = self.attribute(name)
        return default if found is None else plain(found)

    def ints(self, name: str, default: Sequence[int] = ()) -> list[int]:
        """Return a list of numbers."""
        found = self.get(name)
        return list(default) if found is None else [int(one) for one in found]

    def pairs(self, name: str, count: int) -> list[tuple[int, int]]:
        """Return pairs of numbers, such as a padding.

        Zeros if it is missing.
        """
        flat = self.ints(name, [0] * (2 * count))
        return list(zip(flat[::2], flat[1::2], strict=True))

    def fields(self, name: str) -> dict[str, Any]:
        """Return the fields of an attribute of the dialect."""
        return fields(self.attribute(name))

    def word(self, name: str) -> str:
        """Return the last word of an enumeration, such as `GE`.

        Empty without one.
        """
        found = self.attribute(name)
        return "" if found is None else attribute_text(found).rstrip(">").rpartition(" ")[2]

    def symbol(self, name: str) -> str:
        """Return the name in a symbol or string attribute."""
        found = self.attribute(name)
        if isinstance(found, SymbolRefAttr):
            return str(found.string_value())
        return found.data if isinstance(found, StringAttr) else ""

    def entries(self, name: str) -> dict[str, Any]:
        """Return a dictionary attribute's values."""
        found = self.attribute(name)
        return {key: plain(value) for key, value in found.data.items()} if isinstance(found, DictionaryAttr) else {}

    @property
    def body(self) -> list[Operation]:
        """The operations of its first region."""
        return list(self.op.regions[0].blocks[0].ops)
