"""Schemas of binary formats, from `schemas/<language>.txt`.

They are the types of one language.

A schema is data, so that one generic reader and one generic writer serve all formats, and nothing is generated when the
package is built. Sources: tt-mlir, `include/ttmlir/Target/{Common,TTNN,TTMetal}/*.fbs`; the FlatBuffers documents
"Schema" and "Internals".
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final, TypeAlias

__all__ = [
    "BYTE",
    "Enum",
    "Field",
    "Root",
    "Scalar",
    "Schema",
    "String",
    "Struct",
    "Table",
    "Type",
    "Union",
    "Vector",
    "union_of",
]


@dataclass(frozen=True)
class Scalar:
    """A number or a truth value, little endian."""

    name: str
    code: str

    @property
    def size(self) -> int:
        """Bytes, which is the alignment too."""
        return struct.calcsize("<" + self.code)


_SCALARS: Final = {
    name: Scalar(name, code)
    for name, code in {
        "bool": "?",
        "int8": "b",
        "uint8": "B",
        "int16": "h",
        "uint16": "H",
        "int32": "i",
        "uint32": "I",
        "int64": "q",
        "uint64": "Q",
        "float32": "f",
        "float64": "d",
    }.items()
}
#: What numbers of members of unions are.
BYTE: Final = _SCALARS["uint8"]


@dataclass(frozen=True)
class String:
    """UTF-8 text."""


@dataclass(eq=False)
class Enum:
    """Names of numbers; with `flags`, of bits to add."""

    name: str
    scalar: Scalar
    flags: bool
    values: dict[str, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)


@dataclass(eq=False)
class Struct:
    """Fields without offsets, stored inside of what has the struct."""

    name: str
    fields: list[tuple[str, Type]] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    size: int = 0
    align: int = 1


@dataclass(frozen=True)
class Field:
    """A table field.

    A union occupies two ids: the number of its member at `id - 1`, the member at `id`.
    """

    name: str
    type: Type
    id: int
    default: int | float | bool = 0
    optional: bool = False


@dataclass(eq=False)
class Table:
    """Fields that may be absent."""

    name: str
    fields: list[Field] = field(default_factory=list)
    width: int = 0
    by_name: dict[str, Field] = field(default_factory=dict)


@dataclass(eq=False)
class Union:
    """One of several tables; the first has number 1."""

    name: str
    members: list[tuple[str, Type]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Vector:
    """Elements of one type."""

    element: Type


Type: TypeAlias = Scalar | String | Enum | Struct | Table | Union | Vector


def union_of(kind: Type) -> Union | None:
    """A field's or its elements' union.

    The field before it has the numbers of the members.
    """
    element = kind.element if isinstance(kind, Vector) else kind
    return element if isinstance(element, Union) else None


@dataclass(frozen=True)
class Root:
    """A file's root table, four-letter identifier and suffix."""

    table: Table
    identifier: str
    suffix: str


@dataclass
class Schema:
    """All types of one language.

    Attributes:
        language: "2024-09", "2025-10" or "2026-08".
        types: Type of each qualified name.
        roots: Root of each file identifier.
        digest: SHA-256 of the types, in hexadecimal: the field `schema_hash` of later binaries.
    """

    language: str
    types: dict[str, Enum | Struct | Table | Union]
    roots: dict[str, Root]
    digest: str

    @staticmethod
    @cache
    def load(language: str) -> Schema:
        """Return the schema of a language."""
        text = resources.files(__package__).joinpath("schemas").joinpath(f"{language}.txt").read_text("utf-8")
        return _parse(language, text)


def _parse(language: str, text: str) -> Schema:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    types: dict[str, Enum | Struct | Table | Union] = {}
    for line in lines:
        if line.startswith(" "):
            continue
        kind, name, *rest = line.split()
        if kind in ("enum", "flags"):
            types[name] = Enum(name, _SCALARS[rest[0]], kind == "flags")
        elif kind == "struct":
            types[name] = Struct(name)
        elif kind == "table":
            types[name] = Table(name)
        elif kind == "union":
            types[name] = Union(name)

    def named(word: str) -> Type:
        if word.startswith("["):
            return Vector(named(word[1:-1]))
        if word == "string":
            return String()
        return _SCALARS.get(word) or types[word]

    roots: dict[str, Root] = {}
    owner: Enum | Struct | Table | Union | None = None
    for line in lines:
        words = line.split()
        if not line.startswith(" "):
            if words[0] == "root":
                table = types[words[1]]
                assert isinstance(table, Table)
                roots[words[2]] = Root(table, words[2], "." + words[3])
            else:
                owner = types[words[1]]
        elif isinstance(owner, Enum):
            owner.values[words[0]] = int(words[1])
            owner.names[int(words[1])] = words[0]
        elif isinstance(owner, Union):
            owner.members.append((words[0], named(words[1])))
            owner.numbers[words[0]] = len(owner.members)
        elif isinstance(owner, Struct):
            owner.fields.append((words[0], named(words[1])))
        elif isinstance(owner, Table):
            _add_field(owner, words[0], named(words[1]), words[2:])
    for one in types.values():
        if isinstance(one, Struct):
            _lay_out(one)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return Schema(language, types, roots, digest)


def _add_field(table: Table, name: str, kind: Type, options: list[str]) -> None:
    table.width += 1 if union_of(kind) is None else 2
    default: int | float | bool = 0
    if options[:1] == ["="]:
        if isinstance(kind, Enum):
            default = kind.values.get(options[1]) if options[1] in kind.values else int(options[1])  # type: ignore[assignment]
        elif isinstance(kind, Scalar) and kind.code == "?":
            default = options[1] == "true"
        elif isinstance(kind, Scalar) and kind.code in "fd":
            default = float(options[1])
        else:
            default = int(options[1])
    made = Field(name, kind, table.width - 1, default, "optional" in options)
    table.fields.append(made)
    table.by_name[name] = made


def _lay_out(one: Struct) -> None:
    """Set offsets, size and alignment by the rules of C."""
    if one.size:
        return
    offset = 0
    for _, kind in one.fields:
        if isinstance(kind, Struct):
            _lay_out(kind)
            size, align = kind.size, kind.align
        else:
            assert isinstance(kind, Scalar | Enum)
            size = align = (kind.scalar if isinstance(kind, Enum) else kind).size
        offset += -offset % align
        one.offsets.append(offset)
        offset += size
        one.align = max(one.align, align)
    one.size = offset + -offset % one.align
