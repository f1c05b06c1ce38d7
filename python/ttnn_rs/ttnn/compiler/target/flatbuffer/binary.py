"""Binaries of all kinds and languages: loading, storing, JSON."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import open_file
from ttnn.compiler.limits import VALUES, VALUES_FACTOR
from ttnn.compiler.target.flatbuffer.reader import Reader, read_identifier
from ttnn.compiler.target.flatbuffer.schema import Root, Schema
from ttnn.compiler.target.flatbuffer.writer import write
from ttnn.compiler.version import VERSIONS, Version

__all__ = ["SUFFIXES", "Binary"]

#: What the identifiers of the three kinds are called, and the suffixes of their files.
SUFFIXES: Final = {"TTSY": (".ttsys",), "TTNN": (".ttnn",), "TTM0": (".ttm", ".ttb")}
_JSON_VALUES: Final = 20_000_000
_BYTES: Final = 1 << 31


@dataclass(frozen=True, eq=False)
class Binary:
    """The content of a binary.

    Attributes:
        identifier: "TTNN", "TTM0" or "TTSY".
        language: "2024-09", "2025-10" or "2026-08".
        values: The root table: dictionaries for tables and structs, names for enumerations; for a union `x` the name of
            its member is at `x_type`. Tables that the file has once are one dictionary, wherever they appear.
    """

    identifier: str
    language: Version
    values: dict[str, Any]

    @staticmethod
    def parse(data: bytes, name: str = "<data>") -> Binary:
        """Return what a size-prefixed FlatBuffer contains.

        Args:
            data: The whole file.
            name: What to call it in an error.

        Raises:
            FileFormatError: It is damaged, no binary of a known kind, or has tables that name each other so often that
                they would never be gone through.
        """
        identifier = read_identifier(data, name)
        if identifier not in SUFFIXES:
            raise FileFormatError(f"{name}: file identifier {identifier!r}; there are {', '.join(SUFFIXES)}.")
        language = _language(data, name, identifier)
        values = Reader(data, name).root(Schema.load(language).roots[identifier])
        most = VALUES + VALUES_FACTOR * len(data)
        if _expanded(values, {}) > most:
            raise FileFormatError(
                f"{name}: with its shared tables written out, the binary of {len(data):,} bytes has more than {most:,} "
                "values. The file is damaged."
            )
        return Binary(identifier, language, values)

    @staticmethod
    def load(path: str | Path) -> Binary:
        """Return the content of a file.

        Raises:
            FileFormatError: The file cannot be read, is damaged, or no binary of a known kind.
        """
        try:
            with open_file(path, where="Binary.load") as file:
                head = file.read(12)
                # The size stands at the beginning: a file without end is not read to see how long it is.
                size = int.from_bytes(head[:4], "little")
                length = os.fstat(file.fileno()).st_size or size + 4
                whole = len(head) < 12 or (length == size + 4 and size < _BYTES)
                data = head + file.read(max(size + 5 - len(head), 0)) if whole else head
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileFormatError(f"{path}: {reason}. Give the path of a binary.") from None
        if not whole:
            raise FileFormatError(
                f"{path}: the size prefix promises {size} bytes after it, the file has {length - 4}. "
                "The file is truncated, or no size-prefixed FlatBuffer."
            )
        return Binary.parse(data, str(path))

    @property
    def root(self) -> Root:
        """Type of the root table."""
        return Schema.load(self.language).roots[self.identifier]

    @property
    def version(self) -> str:
        """Version of the compiler that wrote it: "major.minor.patch"."""
        version = self.values.get("version") or {"major": 0, "minor": 0, "patch": 0}
        return f"{version['major']}.{version['minor']}.{version['patch']}"

    def to_bytes(self) -> bytes:
        """Return the file's content.

        Raises:
            FileFormatError: A value does not fit its type, or the file would be larger than 2 GiB.
        """
        return write(self.root, self.values)

    def as_json(self) -> str:
        """Return the content as JSON, with enumeration names and defaults.

        Defaults are those of absent numbers.

        Raises:
            FileFormatError: The text would be unreasonably long: tables that the file has once are written wherever
                they appear.
        """
        if _expanded(self.values, {}) > _JSON_VALUES:
            raise FileFormatError(f"as JSON the binary has more than {_JSON_VALUES} values. Read its parts instead.")
        return json.dumps(self.values, default=list)


def _language(data: bytes, name: str, identifier: str) -> Version:
    """A binary's language, by its root or schema hash.

    The root of the first one has fewer fields, the later ones name their schema's hash.
    """
    reader = Reader(data, name)
    if reader.root_width() <= Schema.load("2024-09").roots[identifier].table.width:
        return "2024-09"
    later = VERSIONS[:0:-1]
    digest = reader.first_string(Schema.load("2026-08").roots[identifier], "schema_hash")
    for language in later:
        if Schema.load(language).digest == digest:
            return language
    # Written by another package: the newest schema that reads it.
    for language in later[:-1]:
        try:
            Reader(data, name).root(Schema.load(language).roots[identifier])
        except FileFormatError:
            continue
        return language
    return later[-1]


def _expanded(value: Any, sizes: dict[int, int]) -> int:
    """Number of values with shared ones repeated.

    Texts are counted by their length.
    """
    if isinstance(value, str | bytes):
        return 1 + len(value) // 8
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in sizes:
        inner = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_expanded(one, sizes) for one in inner)
    return sizes[id(value)]
