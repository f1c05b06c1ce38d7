"""The tables of operations: what an operation has in each version.

A table (`DIALECT/ops.table`) has one line an operation, below a line `@ SPAN` that says in which versions it exists:

    conv2d(input, weight, bias?, >output [..2025-10]) {groups: i32, stride: i32|array<i32>, mode: str?} -> result

Operands come in groups: `name` is one, `name?` at most one, `name*` any number; `>` marks an output, which stands
among the operands of the older versions only because results alias it. Attributes have a kind, `?` if they may be
missing, and a default. Results are groups too. `regions *` is any number of regions. ` : a, b` at the end names traits,
which rules and passes ask for; ` : a` after the span names one of all lines below it. Passes know these:

    effects       does more than its results and written operands show: not erased if unused, not merged
    writes NAME   changes the operands of that group in place
    returns NAME  its result is the operand of that group, if there is one
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
brackets after an operand, attribute, result or trait it names the versions whose text has that field. A word after the
span is the name in the text of these versions: ` [2025-10 send_coord]`, also after the name of an operation, as in
`to_tensor_spec [2025-10 to_layout](input)`.

In versions with the trait `variadic` the operands are two groups that vary, `inputs` and `outputs`.

Inside, an operation has the fields of all versions of its line. An attribute that versions write in different kinds has
the kind of the newest one; a field that some version lacks is optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from ttnn.compiler.version import VERSIONS, Version, span

__all__ = ["DIALECTS", "AttributeSpec", "Group", "OpSpec", "TextSpec", "find", "find_written", "operations", "text_of"]

DIALECTS = {
    "tt": "2024-09",
    "ttcore": "2025-10..",
    "ttir": "..",
    "ttnn": "..",
    "ttmetal": "..",
    "ttkernel": "..",
    "d2m": "2025-10..",
    "emitc": "..",
    "emitpy": "2025-10..",
    "sfpi": "2026-08..",
    "debug": "2025-10..",
    "quant": "2025-10..",
    "sdy": "2025-10..",
}
"""Dialects of the compiler stack, and their versions.

Operations of dialects without a table are kept in generic form.
"""

_TABLES = Path(__file__).parent
_LINE = re.compile(
    r"(?P<name>[^(]+)\((?P<operands>[^)]*)\)(?: \{(?P<attributes>.*)\})?(?: -> (?P<results>[\w*?, .\[\]-]+?))?"
    r"(?: regions (?P<regions>\d+|\*))?(?: : (?P<traits>.+))?"
)
_ATTRIBUTE = re.compile(r"(\w+): ([^?=]+?)(\?)?(?: = (.*))?")
_FIELD_SPAN = re.compile(r" \[([\d.-]+)(?: (\w+))?\]$")


@dataclass(frozen=True)
class Group:
    """A group of operands or results.

    Attributes:
        name: Its name.
        kind: "" for one value, "?" for at most one, "*" for any number.
        out: Whether it is an output that results alias.
        written: Its name in text if that is another one.
    """

    name: str
    kind: str = ""
    out: bool = False
    written: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class AttributeSpec:
    """An attribute: name, kind, optional flag, default text, name in text."""

    name: str
    kind: str
    optional: bool = False
    default: str | None = None
    written: str | None = None


@dataclass(frozen=True, eq=False)
class TextSpec:
    """An operation in the text of a version.

    Attributes:
        name: `dialect.name` in that text.
        operands: Groups of operands, with outputs.
        inputs: Groups of operands that it has inside.
        attributes: Inherent attributes by name, in the kind that they have inside.
        kinds: Attributes that the text writes in another kind.
        repeated: Attributes that repeat what the result says.
        results: Groups of results.
        renamed: Attributes that the text writes with another name, by that name.
        traits: What rules ask for.
        first: Whether the version is 2024-09, which has other rules.
    """

    name: str = ""
    operands: tuple[Group, ...] = ()
    inputs: tuple[Group, ...] = ()
    attributes: dict[str, AttributeSpec] = field(default_factory=dict)
    kinds: dict[str, AttributeSpec] = field(default_factory=dict)
    repeated: dict[str, AttributeSpec] = field(default_factory=dict)
    results: tuple[Group, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    first: bool = False

    @cached_property
    def outs(self) -> tuple[Group, ...]:
        """The outputs."""
        return tuple(group for group in self.operands if group.out)


@dataclass(frozen=True, eq=False)
class OpSpec:
    """An operation, with the fields of all its versions.

    Attributes:
        name: `dialect.name`.
        operands: Groups of operands, without outputs.
        attributes: Inherent attributes by name.
        regions: Number of regions; -1 for any.
        texts: Its text in each version.
    """

    name: str
    operands: tuple[Group, ...]
    attributes: dict[str, AttributeSpec]
    regions: int
    texts: dict[Version, TextSpec]

    @cached_property
    def traits(self) -> frozenset[str]:
        """The traits that it has in all versions."""
        return frozenset.intersection(*(text.traits for text in self.texts.values()))


def _of(version: Version, fields: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the fields of a version and their names in text."""
    for field_text in fields:
        found = _FIELD_SPAN.search(field_text)
        if found is None:
            yield field_text, None
        elif version in span(found[1]):
            yield field_text[: found.start()], found[2]


def _named(text: str) -> tuple[str, tuple[Version, ...], str]:
    """Return an operation's name, and another one with its versions."""
    found = _FIELD_SPAN.search(text)
    return (text, (), text) if found is None else (text[: found.start()], span(found[1]), found[2])


def _groups(fields: Iterator[tuple[str, str | None]]) -> tuple[Group, ...]:
    groups = []
    for name, written in fields:
        if name:
            kind = name[-1] if name[-1] in "?*" else ""
            groups.append(Group(name.strip(">?*"), kind, name.startswith(">"), written))
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


def _attributes(fields: Iterator[tuple[str, str | None]]) -> dict[str, AttributeSpec]:
    entries = {}
    for text, written in fields:
        found = _ATTRIBUTE.fullmatch(text)
        assert found is not None, text
        name, kind, optional, default = found.groups()
        entries[name] = AttributeSpec(name, kind.strip(), bool(optional), default, written)
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


_KINDS = ("", "?", "*")
"""Kinds of groups; a later one allows more."""


_VARIADIC = (Group("inputs", "*"), Group("outputs", "*", out=True))


def _text(
    version: Version, name: str, operands: list[str], attributes: list[str], results: list[str], traits: list[str]
) -> TextSpec:
    entries = _attributes(_of(version, attributes))
    repeated = {name for name, entry in entries.items() if entry.kind.startswith("result.")}
    groups, names = _groups(_of(version, operands)), frozenset(one for one, _ in _of(version, traits) if one)
    variadic = "variadic" in names
    return TextSpec(
        name=name,
        operands=_VARIADIC if variadic else groups,
        inputs=tuple(group for group in groups if not group.out),
        attributes={name: entry for name, entry in entries.items() if name not in repeated},
        repeated={name: entries[name] for name in repeated},
        results=(Group("results", "*"),) if variadic else _groups(_of(version, results)),
        renamed={entry.written: name for name, entry in entries.items() if entry.written is not None},
        traits=names,
        first=version == VERSIONS[0],
    )


def _inputs(texts: Sequence[TextSpec], order: Sequence[str]) -> tuple[Group, ...]:
    """Return the inputs of all texts, in the order of the line."""
    found: dict[str, list[Group]] = {}
    for group in (group for text in texts for group in text.inputs):
        found.setdefault(group.name, []).append(group)
    return tuple(
        Group(
            name,
            max(
                *(group.kind for group in found[name]), "" if len(found[name]) == len(texts) else "?", key=_KINDS.index
            ),
        )
        for name in dict.fromkeys(order)
        if name in found
    )


@cache
def operations(dialect: str) -> dict[tuple[str, Version], OpSpec]:
    """Return a dialect's operations by name and version.

    The name is without the dialect.
    """
    found: dict[tuple[str, Version], OpSpec] = {}
    for name, versions, (operands, attributes, results, traits), regions in _rows(dialect):
        short, named_in, other = _named(name)
        texts = {
            version: _text(
                version, f"{dialect}.{other if version in named_in else short}", operands, attributes, results, traits
            )
            for version in sorted(versions)
        }
        # Later versions last: their kinds and defaults hold.
        inside: dict[str, AttributeSpec] = {}
        for text in texts.values():
            inside |= text.attributes
        for version, text in texts.items():
            kinds = {key: entry for key, entry in text.attributes.items() if entry.kind != inside[key].kind}
            fields = {key: replace(entry, kind=inside[key].kind) for key, entry in text.attributes.items()}
            texts[version] = replace(text, attributes=fields, kinds=kinds)
        order = [_FIELD_SPAN.sub("", one).strip("?*") for one in operands]
        spec = OpSpec(f"{dialect}.{short}", _inputs([*texts.values()], order), inside, regions, texts)
        found |= {(short, version): spec for version in versions}
    return found


def find(name: str, version: Version) -> OpSpec | None:
    """Return the operation of that full name in a version, or None."""
    dialect, _, short = name.partition(".")
    return operations(dialect).get((short, version))


@cache
def _written(dialect: str) -> dict[tuple[str, Version], OpSpec]:
    """Return a dialect's operations by name in text and version."""
    # A name that an operation has only in text hides the operation that has it inside.
    specs = sorted(operations(dialect).items(), key=lambda one: one[1].texts[one[0][1]].name != one[1].name)
    return {(spec.texts[version].name, version): spec for (_, version), spec in specs}


def find_written(name: str, version: Version) -> OpSpec | None:
    """Return the operation of a full name in text, or None."""
    return _written(name.partition(".")[0]).get((name, version))


def text_of(name: str, version: Version) -> TextSpec:
    """Return the text of an operation in a version; empty without one."""
    spec = find(name, version)
    return spec.texts[version] if spec is not None else TextSpec()
