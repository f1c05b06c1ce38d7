"""The tables of operations: what an operation of an epoch has.

A table (`DIALECT/ops.table`) has one line an operation, below a line `@ EPOCH...` that names the epochs it is in:

    conv2d(input, weight, bias?, >output) {groups: i32, stride: i32|array<i32>, mode: str? = zeros} -> result

Operands come in groups: `name` is one, `name?` at most one, `name*` any number; `>` marks an output, which stands
among the operands of the older epochs only because results alias it. Attributes have a kind, `?` if they may be
missing, and a default. Results are groups too. `regions *` is any number of regions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ttnn.compiler.ir.epochs import Epoch

__all__ = ["DIALECTS", "AttributeSpec", "Group", "OpSpec", "find", "operations"]

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
"""The dialects of the compiler stack. Operations of dialects without a table are kept in generic form."""

_TABLES = Path(__file__).parent
_LINE = re.compile(
    r"(?P<name>[^(]+)\((?P<operands>[^)]*)\)(?: \{(?P<attributes>.*)\})?(?: -> (?P<results>[\w*?, ]+?))?"
    r"(?: regions (?P<regions>\d+|\*))?"
)
_ATTRIBUTE = re.compile(r"(\w+): ([^?=]+?)(\?)?(?: = (.*))?")


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
    """An attribute: its name, kind, whether it may be missing, and the text of its default."""

    name: str
    kind: str
    optional: bool = False
    default: str | None = None


@dataclass(frozen=True)
class OpSpec:
    """An operation of one or more epochs.

    Attributes:
        name: `dialect.name`.
        epochs: The epochs in which it looks like this.
        written: All groups of operands, in the order of the text.
        attributes: Inherent attributes by name.
        results: Groups of results.
        regions: Number of regions; -1 for any.
    """

    name: str
    epochs: frozenset[Epoch]
    written: tuple[Group, ...]
    attributes: dict[str, AttributeSpec] = field(hash=False)
    results: tuple[Group, ...] = ()
    regions: int = 0

    @property
    def operands(self) -> tuple[Group, ...]:
        """The groups without the outputs: the functional form."""
        return tuple(group for group in self.written if not group.out)

    @property
    def outs(self) -> tuple[Group, ...]:
        """The outputs."""
        return tuple(group for group in self.written if group.out)


def _groups(text: str | None) -> tuple[Group, ...]:
    groups = []
    for part in (text or "").split(","):
        name = part.strip()
        if name:
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


def _attributes(text: str | None) -> dict[str, AttributeSpec]:
    entries = {}
    for part in _split(text or ""):
        found = _ATTRIBUTE.fullmatch(part)
        assert found is not None, part
        name, kind, optional, default = found.groups()
        entries[name] = AttributeSpec(name, kind.strip(), bool(optional), default)
    return entries


@cache
def operations(dialect: str) -> dict[tuple[str, Epoch], OpSpec]:
    """Return the operations of a dialect by name, without the dialect, and epoch."""
    path = _TABLES / dialect / "ops.table"
    found: dict[tuple[str, Epoch], OpSpec] = {}
    if not path.exists():
        return found
    epochs: frozenset[Epoch] = frozenset()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            epochs = frozenset(Epoch(word) for word in line[1:].split())
        elif line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            assert match is not None, line
            regions = match["regions"]
            spec = OpSpec(
                f"{dialect}.{match['name']}",
                epochs,
                _groups(match["operands"]),
                _attributes(match["attributes"]),
                _groups(match["results"]),
                -1 if regions == "*" else int(regions or 0),
            )
            for epoch in epochs:
                found[match["name"], epoch] = spec
    return found


def find(name: str, epoch: Epoch) -> OpSpec | None:
    """Return the operation of that full name in an epoch, or None."""
    dialect, _, short = name.partition(".")
    return operations(dialect).get((short, epoch))
