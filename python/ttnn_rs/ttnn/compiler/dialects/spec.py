"""The tables of operations: what an operation has in each version.

A table (`DIALECT/ops.table`) has one line an operation, below a line `@ SPAN` that says in which versions it exists:

    conv2d(input, weight, bias?, >output [..2025-10]) {groups: i32, stride: i32|array<i32>, mode: str?} -> result

Operands come in groups: `name` is one, `name?` at most one, `name*` any number; `>` marks an output, which stands
among the operands of the older versions only because results alias it. Attributes have a kind, `?` if they may be
missing, and a default. Results are groups too. `regions *` is any number of regions. ` : a, b` at the end names traits,
which rules and passes ask for; ` : a` after the span names one of all lines below it. Passes know these:

    effects       does more than its results and written operands show: not erased if unused, not merged
    writes NAME   changes the operands of that group in place
    memory        each result is memory of its own: not merged
    creates       creates a tensor from its attributes
    aliases       results are parts of operands
    elementwise, comparison, logical, reduction
    signed        reads the sign of narrow integers
    terminator    ends its block
    symbols       its region defines names

Attributes of the kinds `result.dtype`, `result.layout` and `result.memory_config` repeat what the layout of the result
says: only text has them. With `?` they may be missing there; ` = result` writes them for operations that passes make.

A span is `2025-10` for one version, `2025-10..` or `..2025-10` for those from it on or up to it, `..` for all. In
brackets behind an operand, attribute or result it says in which versions there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ttnn.compiler.version import VERSIONS, Version, span

__all__ = ["DIALECTS", "AttributeSpec", "Group", "OpSpec", "TextSpec", "find", "operations", "text_of"]

DIALECTS = (
    "tt",
    "ttcore",
    "ttir",
    "ttnn",
    "ttmetal",
    "ttkernel",
    "d2m",
    "emitc",
    "emitpy",
    "sfpi",
    "debug",
    "quant",
    "sdy",
)
"""Dialects of the compiler stack.

Operations of dialects without a table are kept in generic form.
"""

_TABLES = Path(__file__).parent
_LINE = re.compile(
    r"(?P<name>[^(]+)\((?P<operands>[^)]*)\)(?: \{(?P<attributes>.*)\})?(?: -> (?P<results>[\w*?, .\[\]-]+?))?"
    r"(?: regions (?P<regions>\d+|\*))?(?: : (?P<traits>.+))?"
)
_ATTRIBUTE = re.compile(r"(\w+): ([^?=]+?)(\?)?(?: = (.*))?")
_FIELD_SPAN = re.compile(r" \[([\d.-]+)\]$")


@dataclass(frozen=True)
class Group:
    """A group of operands or results.

    Attributes:
        name: Its name.
        kind: "" for one value, "?" for at most one, "*" for any number.
        out: Whether it is an output that results alias.
    """

    name: str
    kind: str = ""
    out: bool = False


@dataclass(frozen=True)
class AttributeSpec:
    """An attribute: name, kind, optional flag, and default text."""

    name: str
    kind: str
    optional: bool = False
    default: str | None = None


@dataclass(frozen=True)
class OpSpec:
    """An operation of one or more versions.

    Attributes:
        name: `dialect.name`.
        versions: The versions in which it looks like this.
        operands: Groups of operands, without outputs.
        attributes: Inherent attributes by name.
        results: Groups of results.
        regions: Number of regions; -1 for any.
        traits: What rules ask for.
    """

    name: str
    versions: frozenset[Version]
    operands: tuple[Group, ...]
    attributes: dict[str, AttributeSpec] = field(hash=False)
    results: tuple[Group, ...] = ()
    regions: int = 0
    traits: frozenset[str] = frozenset()

    @property
    def first(self) -> bool:
        """Return True for an operation of 2024-09, which has other rules."""
        return VERSIONS[0] in self.versions


@dataclass(frozen=True)
class TextSpec:
    """Additions to an operation in the text of a version.

    Attributes:
        operands: All groups of operands, with outputs.
        repeated: Attributes that repeat what the result says.
    """

    operands: tuple[Group, ...] = ()
    repeated: dict[str, AttributeSpec] = field(default_factory=dict, hash=False)

    @property
    def outs(self) -> tuple[Group, ...]:
        """The outputs."""
        return tuple(group for group in self.operands if group.out)


def _of(version: Version, fields: list[str]) -> Iterator[str]:
    """Yield the fields that a version has, without their spans."""
    for field_text in fields:
        found = _FIELD_SPAN.search(field_text)
        if found is None:
            yield field_text
        elif version in span(found[1]):
            yield field_text[: found.start()]


def _groups(fields: Iterator[str]) -> tuple[Group, ...]:
    groups = []
    for name in filter(None, fields):
        kind = name[-1] if name[-1] in "?*" else ""
        groups.append(Group(name.strip(">?*"), kind, name.startswith(">")))
    return tuple(groups)


def _split(text: str) -> list[str]:
    parts, depth, last = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<[") - (char in ">]")
        if char == "," and not depth:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip()]


def _attributes(fields: Iterator[str]) -> dict[str, AttributeSpec]:
    entries = {}
    for text in fields:
        found = _ATTRIBUTE.fullmatch(text)
        assert found is not None, text
        name, kind, optional, default = found.groups()
        entries[name] = AttributeSpec(name, kind.strip(), bool(optional), default)
    return entries


def _rows(dialect: str) -> Iterator[tuple[str, frozenset[Version], tuple[list[str], ...], int]]:
    """Yield a table's lines.

    Name, versions, operands, attributes, results, traits, and how many regions.
    """
    path = _TABLES / dialect / "ops.table"
    known: frozenset[Version] = frozenset()
    shared = ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("@"):
            head, _, shared = line[1:].partition(" : ")
            known = frozenset(span(head.strip()))
        elif line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            assert match is not None, line
            regions = -1 if match["regions"] == "*" else int(match["regions"] or 0)
            operands, results, traits = ((match[name] or "").split(", ") for name in ("operands", "results", "traits"))
            parts = (operands, _split(match["attributes"] or ""), results, [*traits, shared])
            yield match["name"], known, parts, regions


@cache
def operations(dialect: str) -> dict[tuple[str, Version], OpSpec]:
    """Return a dialect's operations by name and version.

    The name is without the dialect.
    """
    found: dict[tuple[str, Version], OpSpec] = {}
    for name, known, parts, regions in _rows(dialect):
        alike: dict[tuple[tuple[str, ...], ...], list[Version]] = {}
        for version in sorted(known):
            operands, attributes, results, traits = (tuple(_of(version, part)) for part in parts)
            operands = tuple(text for text in operands if not text.startswith(">"))
            attributes = tuple(text for text in attributes if ": result." not in text)
            alike.setdefault((operands, attributes, results, traits), []).append(version)
        for (operands, attributes, results, traits), versions in alike.items():
            spec = OpSpec(
                f"{dialect}.{name}",
                frozenset(versions),
                _groups(iter(operands)),
                _attributes(iter(attributes)),
                _groups(iter(results)),
                regions,
                frozenset(filter(None, traits)),
            )
            found |= {(name, version): spec for version in versions}
    return found


@cache
def _texts(dialect: str) -> dict[tuple[str, Version], TextSpec]:
    return {
        (name, version): TextSpec(
            _groups(_of(version, operands)),
            _attributes(text for text in _of(version, attributes) if ": result." in text),
        )
        for name, known, (operands, attributes, _, _), _ in _rows(dialect)
        for version in known
    }


def text_of(name: str, version: Version) -> TextSpec:
    """Return a version's textual additions to an operation.

    It is the operation of that full name.
    """
    dialect, _, short = name.partition(".")
    return _texts(dialect).get((short, version)) or TextSpec()


def find(name: str, version: Version) -> OpSpec | None:
    """Return the operation of that full name in a version, or None."""
    dialect, _, short = name.partition(".")
    return operations(dialect).get((short, version))
