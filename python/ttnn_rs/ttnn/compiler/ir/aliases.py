"""Aliases of attributes, types and locations: choice, names, order.

Source: what `mlir-opt` prints: definitions in order of nesting, then of name; equal names are numbered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ttnn.compiler.ir.printing import LOCATIONS, AttributeText
from ttnn.compiler.ir.registry import Registry
from ttnn.compiler.ir.xdsl_adapter import AffineMapAttr, AffineSetAttr, Attribute, TypeAttribute, UnknownLoc

__all__ = ["AliasTable"]

_LONG: Final = 1_000


@dataclass
class _Entry:
    attribute: Attribute
    alias: str | None
    number: int
    deferred: bool
    depth: int = 0
    children: list[_Entry] = field(default_factory=list)
    name: str = ""


class AliasTable(AttributeText):
    """Collector of printed attributes, then printer by alias."""

    def __init__(self, registry: Registry, *, underscored: bool) -> None:
        super().__init__()
        # MLIR of 2024 puts `_` behind every alias that ends in a digit; later it does before a number only.
        self._underscored = underscored
        self._registry = registry
        self._entries: dict[int, _Entry] = {}
        # Texts in which attributes inside are numbers: no hash and no comparison goes through nested attributes.
        self._by_text: dict[tuple[str | None, str], _Entry] = {}
        self._keep: list[Attribute] = []
        self._stack: list[_Entry] = []
        self._deferring = True
        self._settled = False
        self._order: list[_Entry] = []
        self._in_location = False

    def attribute(self, attribute: Attribute) -> str:
        """Return the alias of an attribute, or its text."""
        if self._settled:
            return super().attribute(attribute)
        entry = self._entries.get(id(attribute))
        if entry is None:
            entry = self._collect(attribute)
        elif not self._deferring:
            self._not_deferred(entry)
        if self._stack:
            parent = self._stack[-1]
            parent.children.append(entry)
            if entry.depth:
                parent.depth = max(parent.depth, entry.depth + 1)
        return f"\0{entry.number}\0"

    def _collect(self, attribute: Attribute) -> _Entry:
        alias = self._alias(attribute)
        location = isinstance(attribute, LOCATIONS)
        number = len(self._entries)
        entry = _Entry(attribute, alias, number, location and self._deferring, depth=1 if alias else 0)
        # The entry keeps the object alive, so that its id stays its own.
        self._entries[id(attribute)] = entry
        self._stack.append(entry)
        text = self.full(attribute)
        self._stack.pop()
        if len(text) > _LONG:
            text = sha256(text.encode()).hexdigest()
        known = self._by_text.setdefault((alias, text), entry)
        if known is not entry:
            self._keep.append(attribute)
            self._entries[id(attribute)] = known
            if not entry.deferred:
                self._not_deferred(known)
        return known

    def _entry(self, attribute: Attribute) -> _Entry:
        """Return an attribute's entry, even of late objects.

        They were made after the aliases were settled.
        """
        entry = self._entries.get(id(attribute))
        if entry is None:
            stack, self._stack, self._settled = self._stack, [], False
            entry = self._collect(attribute)
            self._stack, self._settled = stack, True
        return entry

    def _not_deferred(self, entry: _Entry) -> None:
        if entry.deferred:
            entry.deferred = False
            for child in entry.children:
                self._not_deferred(child)

    def now(self, location: Attribute) -> str:
        """Return a location's text with its alias before use."""
        outer, self._deferring = self._deferring, False
        try:
            return self.attribute(location)
        finally:
            self._deferring = outer

    def nested_location(self, location: Attribute) -> str:
        """Return a location inside another one: by its alias."""
        if not self._settled:
            return self.attribute(location)
        entry = self._entry(location)
        return f"#{entry.name}" if entry.name else self.location(location)

    def _alias(self, attribute: Attribute) -> str | None:
        if isinstance(attribute, LOCATIONS):
            return "loc"
        if isinstance(attribute, AffineMapAttr):
            return "map"
        if isinstance(attribute, AffineSetAttr):
            return "set"
        return self._registry.alias(attribute)

    def settle(self) -> None:
        """Assign numbers to the aliases."""
        ordered = [entry for entry in self._by_text.values() if entry.alias]
        ordered.sort(key=lambda entry: (entry.depth, isinstance(entry.attribute, TypeAttribute), entry.alias))
        counts: dict[str, int] = {}
        for entry in ordered:
            assert entry.alias is not None
            name = entry.alias
            number = counts.get(name, 0)
            counts[name] = number + 1
            if name[-1].isdigit() and (number or self._underscored):
                name += "_"
            entry.name = f"{name}{number}" if number else name
        self._order = ordered
        self._settled = True

    def visit(self, attribute: Attribute) -> str:
        """Return the alias of an attribute if it has one."""
        entry = self._entry(attribute)
        if not entry.name:
            return self.full(attribute)
        if isinstance(attribute, LOCATIONS):
            return f"loc(#{entry.name})"
        return ("!" if isinstance(attribute, TypeAttribute) else "#") + entry.name

    def _definition(self, entry: _Entry) -> str:
        sigil = "!" if isinstance(entry.attribute, TypeAttribute) else "#"
        return f"{sigil}{entry.name} = {self.full(entry.attribute)}\n"

    def head(self) -> str:
        """Return the definitions that stand before the module."""
        return "".join(self._definition(entry) for entry in self._order if not entry.deferred)

    def tail(self) -> str:
        """Return the definitions that stand after it."""
        return "".join(self._definition(entry) for entry in self._order if entry.deferred)


UNKNOWN = UnknownLoc()
