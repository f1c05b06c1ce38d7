"""Values of a binary, as dictionaries, lists, numbers and text.

A binary may come from a stranger: each offset is checked against the length of the data, no byte is read as two
different vectors more often than the data is long, and what is wrong is one `FileFormatError` that names the place.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

from ttnn.base.exceptions import FileFormatError
from ttnn.compiler.target.flatbuffer.schema import (
    BYTE,
    Enum,
    Field,
    Root,
    Scalar,
    String,
    Struct,
    Table,
    Type,
    Union,
    Vector,
    union_of,
)

__all__ = ["Reader", "read_identifier"]

_DEPTH: Final = 64
_U16: Final = struct.Struct("<H")
_I32: Final = struct.Struct("<i")
_U32: Final = struct.Struct("<I")


def read_identifier(data: bytes, name: str) -> str:
    """Return the four letters that say what kind of binary `data` is.

    Args:
        data: The whole file.
        name: What to call it in an error.

    Raises:
        FileFormatError: The data is too short, or its length is not what its first four bytes say.
    """
    if len(data) < 12:
        raise FileFormatError(f"{name}: a binary has at least 12 bytes, this file has {len(data)}. Build it again.")
    (size,) = _U32.unpack_from(data, 0)
    if size != len(data) - 4:
        raise FileFormatError(
            f"{name}: the size prefix promises {size} bytes after it, the file has {len(data) - 4}. "
            "The file is truncated, or no size-prefixed FlatBuffer."
        )
    try:
        return data[8:12].decode("ascii")
    except UnicodeDecodeError:
        raise FileFormatError(f"{name}: byte 8: the file identifier {data[8:12]!r} is not text.") from None


class _Header(NamedTuple):
    """Field offsets of a table."""

    position: int
    vtable: int
    width: int
    """Number of ids that the vtable has room for."""
    size: int
    """Bytes of the table."""


class Reader:
    """Reads a size-prefixed FlatBuffer.

    Args:
        data: The whole file.
        name: What to call it in an error.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self._seen: dict[tuple[int, int], Any] = {}
        self._left = 2 * len(data) + 1024

    def root_position(self) -> int:
        """Return the position of the root table."""
        return self._follow(4, "root")

    def root_width(self) -> int:
        """Return the number of ids that the root table has room for."""
        return self._header(self.root_position(), "root").width

    def root(self, root: Root) -> dict[str, Any]:
        """Return the root table; equal tables of the file are one dictionary."""
        return self._table(self.root_position(), root.table, root.table.name.rpartition(".")[2], 0)

    def first_string(self, root: Root, name: str) -> str:
        """Return one text of the root table, or an empty one."""
        found = root.table.by_name[name]
        header = self._header(self.root_position(), "root")
        place = self._place(header, found.id, 4, name)
        return self._string(self._follow(place, name), name) if place else ""

    def _error(self, where: str, position: int, sentence: str) -> FileFormatError:
        return FileFormatError(f"{self._name}: byte {position}: {where}: {sentence} The file is damaged.")

    def _number(self, code: struct.Struct, position: int, where: str) -> int:
        if position < 0 or position + code.size > len(self._data):
            raise self._error(
                where, position, f"a value of {code.size} bytes is outside of the {len(self._data)} bytes."
            )
        value: int = code.unpack_from(self._data, position)[0]
        return value

    def _follow(self, position: int, where: str) -> int:
        target = position + self._number(_U32, position, where)
        if target == position or target + 4 > len(self._data):
            raise self._error(where, position, f"an offset leads to byte {target} of {len(self._data)}.")
        return target

    def _header(self, position: int, where: str) -> _Header:
        vtable = position - self._number(_I32, position, where)
        bytes_ = self._number(_U16, vtable, where)
        size = self._number(_U16, vtable + 2, where)
        if bytes_ < 4 or bytes_ % 2 or vtable + bytes_ > len(self._data):
            raise self._error(where, vtable, f"a vtable of {bytes_} bytes.")
        if size < 4 or position + size > len(self._data):
            raise self._error(where, position, f"a table of {size} bytes.")
        return _Header(position, vtable, (bytes_ - 4) // 2, size)

    def _place(self, header: _Header, number: int, size: int, where: str) -> int:
        """Return this field id's position, or 0 if absent."""
        if number >= header.width:
            return 0
        offset = self._number(_U16, header.vtable + 4 + 2 * number, where)
        if offset == 0:
            return 0
        if offset < 4 or offset + size > header.size:
            raise self._error(where, header.vtable, f"a field at {offset} of a table of {header.size} bytes.")
        return header.position + offset

    def _count(self, amount: int, where: str, position: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise self._error(where, position, "more values than the file has bytes.")

    def _table(self, position: int, table: Table, where: str, depth: int) -> dict[str, Any]:
        key = (position, id(table))
        if key in self._seen:
            found: dict[str, Any] = self._seen[key]
            return found
        if depth > _DEPTH:
            raise self._error(where, position, f"tables nested more than {_DEPTH} deep.")
        header = self._header(position, where)
        values: dict[str, Any] = {}
        for field in table.fields:
            if isinstance(field.type, Union):
                self._union(values, header, field, field.type, f"{where}.{field.name}", depth)
                continue
            union = union_of(field.type)
            if union is not None:
                self._unions(values, header, field, union, f"{where}.{field.name}", depth)
                continue
            place = self._place(header, field.id, _inline_size(field.type), where)
            if place:
                self._count(1, where, position)
                values[field.name] = self._value(place, field.type, f"{where}.{field.name}", depth)
            elif isinstance(field.type, Scalar) and not field.optional:
                values[field.name] = field.default if field.type.code != "?" else bool(field.default)
            elif isinstance(field.type, Enum) and not field.optional:
                values[field.name] = _enum_name(field.type, int(field.default))
        self._seen[key] = values
        return values

    def _union(
        self, values: dict[str, Any], header: _Header, field: Field, union: Union, where: str, depth: int
    ) -> None:
        at = self._place(header, field.id - 1, 1, where)
        number = self._data[at] if at else 0
        if number == 0:
            values[f"{field.name}_type"] = "NONE"
            return
        if number > len(union.members):
            raise self._error(where, at, f"member {number} of {len(union.members)}.")
        name, kind = union.members[number - 1]
        place = self._place(header, field.id, 4, where)
        if not place:
            raise self._error(where, header.position, f"a union of type {name} has no value.")
        self._count(1, where, header.position)
        assert isinstance(kind, Table)
        values[f"{field.name}_type"] = name
        values[field.name] = self._table(self._follow(place, where), kind, where, depth + 1)

    def _unions(
        self, values: dict[str, Any], header: _Header, field: Field, union: Union, where: str, depth: int
    ) -> None:
        """Read a vector of unions: member numbers, and tables."""
        places = [self._place(header, number, 4, where) for number in (field.id - 1, field.id)]
        if not any(places):
            return
        if not all(places):
            raise self._error(where, header.position, "a vector of unions has their members or their values only.")
        members, tables = (self._follow(place, where) for place in places)
        numbers = self._vector(members, BYTE, where, depth)
        length = self._number(_U32, tables, where)
        if length != len(numbers) or tables + 4 + 4 * length > len(self._data):
            raise self._error(where, tables, f"{len(numbers)} members of unions and {length} values.")
        self._count(length, where, tables)
        names, found = [], []
        for index, number in enumerate(numbers):
            if not 0 < number <= len(union.members):
                raise self._error(where, members + 4 + index, f"member {number} of {len(union.members)}.")
            name, kind = union.members[number - 1]
            assert isinstance(kind, Table)
            names.append(name)
            inner = f"{where}[{index}]"
            found.append(self._table(self._follow(tables + 4 + 4 * index, inner), kind, inner, depth + 1))
        values[f"{field.name}_type"] = names
        values[field.name] = found

    def _value(self, position: int, kind: Type, where: str, depth: int) -> Any:
        if isinstance(kind, Scalar):
            return struct.unpack_from("<" + kind.code, self._data, position)[0]
        if isinstance(kind, Enum):
            return _enum_name(kind, struct.unpack_from("<" + kind.scalar.code, self._data, position)[0])
        if isinstance(kind, Struct):
            return self._struct(position, kind)
        target = self._follow(position, where)
        if isinstance(kind, String):
            return self._string(target, where)
        if isinstance(kind, Table):
            return self._table(target, kind, where, depth + 1)
        assert isinstance(kind, Vector)
        return self._vector(target, kind.element, where, depth + 1)

    def _struct(self, position: int, kind: Struct) -> dict[str, Any]:
        return {
            name: self._value(position + offset, inner, name, 0)
            for (name, inner), offset in zip(kind.fields, kind.offsets, strict=True)
        }

    def _string(self, position: int, where: str) -> str:
        key = (position, -1)
        if key not in self._seen:
            length = self._number(_U32, position, where)
            if position + 4 + length > len(self._data):
                raise self._error(where, position, f"a text of {length} bytes.")
            self._count(length, where, position)
            try:
                self._seen[key] = self._data[position + 4 : position + 4 + length].decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._error(where, position + 4 + error.start, "bytes that are not UTF-8.") from None
        text: str = self._seen[key]
        return text

    def _vector(self, position: int, element: Type, where: str, depth: int) -> Any:
        key = (position, id(element))
        if key in self._seen:
            return self._seen[key]
        length = self._number(_U32, position, where)
        size = _inline_size(element)
        start = position + 4
        if start + length * size > len(self._data):
            raise self._error(where, position, f"a vector of {length} elements of {size} bytes.")
        self._count(length * size if isinstance(element, Scalar | Enum | Struct) else length, where, position)
        values: Any
        if isinstance(element, Scalar) and element.code == "B":
            values = self._data[start : start + length]
        elif isinstance(element, Scalar):
            values = list(struct.unpack_from(f"<{length}{element.code}", self._data, start))
        elif isinstance(element, Enum):
            numbers = struct.unpack_from(f"<{length}{element.scalar.code}", self._data, start)
            values = [_enum_name(element, number) for number in numbers]
        else:
            values = [self._value(start + index * size, element, f"{where}[{index}]", depth) for index in range(length)]
        self._seen[key] = values
        return values


def _inline_size(kind: Type) -> int:
    if isinstance(kind, Scalar):
        return kind.size
    if isinstance(kind, Enum):
        return kind.scalar.size
    return kind.size if isinstance(kind, Struct) else 4


def _enum_name(kind: Enum, value: int) -> str | int:
    """A number's name, its bits' names, or the number."""
    if not kind.flags:
        return kind.names.get(value, value)
    names = [name for name, bit in kind.values.items() if value & bit]
    return " ".join(names) if names and sum(kind.values[name] for name in names) == value else value
