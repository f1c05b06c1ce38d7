"""Bytes of a binary, from dictionaries of the form that `reader` returns."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

import flatbuffers

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

__all__ = ["write"]

_LIMIT: Final = 2**31 - 1


def write(root: Root, values: dict[str, Any]) -> bytes:
    """Return a size-prefixed FlatBuffer.

    A dictionary, list or text that appears in several places is written once.

    Args:
        root: The root table of the file.
        values: Its fields. Absent ones and those that are `None` are not written. Enumerations are names or
            numbers; the member of a union `x` is named by `x_type`.

    Raises:
        FileFormatError: A field that the schema does not have, a value that its type does not take, or more than 2 GiB.
    """
    writer = _Writer()
    try:
        position = writer.table(root.table, values, root.table.name.rpartition(".")[2])
        writer.builder.FinishSizePrefixed(position, root.identifier.encode())
    except flatbuffers.builder.BuilderSizeError:
        raise FileFormatError(
            "a binary has at most 2 GiB: this one has more. Keep large parameters as inputs of the program."
        ) from None
    return bytes(writer.builder.Output())


class _Writer:
    def __init__(self) -> None:
        self.builder = flatbuffers.Builder(1 << 16)
        self._written: dict[tuple[int, int], int] = {}
        self._texts: dict[str, int] = {}
        # Keeps what was written alive, so that its `id` stays its own.
        self._alive: list[Any] = []

    def table(self, table: Table, values: dict[str, Any], where: str) -> int:
        key = (id(values), id(table))
        if key in self._written:
            return self._written[key]
        if not isinstance(values, dict):
            raise FileFormatError(f"{where}: a table {table.name} is expected, got {values!r}.")
        unknown = set(values) - set(table.by_name)
        unknown -= {f"{f.name}_type" for f in table.fields if union_of(f.type) is not None}
        if unknown:
            raise FileFormatError(f"{where}: {table.name} has no field {', '.join(sorted(unknown))}.")
        offsets = {
            field.name: self._apart(field, values, f"{where}.{field.name}")
            for field in table.fields
            if values.get(field.name) is not None
        }
        members = {
            field.name: self._members(field, values, f"{where}.{field.name}")
            for field in table.fields
            if isinstance(field.type, Vector) and field.name in offsets and union_of(field.type) is not None
        }
        builder = self.builder
        builder.StartObject(table.width)
        for field in table.fields:
            value = values.get(field.name)
            if value is None:
                continue
            place = f"{where}.{field.name}"
            kind = field.type
            if isinstance(kind, Scalar | Enum):
                self._scalar(field, kind, value, place)
            elif isinstance(kind, Struct):
                builder.PrependStructSlot(field.id, self._inline(kind, value, place), 0)
            else:
                if isinstance(kind, Union):
                    builder.PrependUint8Slot(field.id - 1, kind.numbers[values[f"{field.name}_type"]], 0)
                elif union_of(kind) is not None:
                    builder.PrependUOffsetTRelativeSlot(field.id - 1, members[field.name], 0)
                builder.PrependUOffsetTRelativeSlot(field.id, offsets[field.name], 0)
        position: int = builder.EndObject()
        self._written[key] = position
        self._alive.append(values)
        return position

    def _scalar(self, field: Field, kind: Scalar | Enum, value: Any, where: str) -> None:
        scalar = kind.scalar if isinstance(kind, Enum) else kind
        number = _plain(kind, value, where)
        default = None if field.optional else field.default
        if number == default:
            return
        builder = self.builder
        builder.Prep(scalar.size, 0)
        builder.Place(number, _FLAGS[scalar.code])
        builder.Slot(field.id)

    def _apart(self, field: Field, values: dict[str, Any], where: str) -> int:
        """Write a table's references; return its position, or 0.

        0 for what is stored inside.
        """
        kind, value = field.type, values[field.name]
        if isinstance(kind, String):
            return self._text(value, where)
        if isinstance(kind, Table):
            return self.table(kind, value, where)
        if isinstance(kind, Union):
            return self.table(_member(kind, values.get(f"{field.name}_type"), where), value, where)
        union = union_of(kind)
        if union is not None:
            names = values.get(f"{field.name}_type", ())
            if len(names) != len(value):
                raise FileFormatError(f"{where}: {len(names)} members of unions for {len(value)} values.")
            return self._references(
                self.table(_member(union, name, where), one, f"{where}[{index}]")
                for index, (name, one) in enumerate(zip(names, value, strict=True))
            )
        return self._vector(kind.element, value, where) if isinstance(kind, Vector) else 0

    def _members(self, field: Field, values: dict[str, Any], where: str) -> int:
        """Write the numbers of the members of a vector of unions."""
        union = union_of(field.type)
        assert union is not None
        return self._vector(BYTE, [union.numbers[name] for name in values[f"{field.name}_type"]], where)

    def _references(self, offsets: Iterable[int]) -> int:
        """Write a vector of positions of what is written already."""
        made = list(offsets)
        self.builder.StartVector(4, len(made), 4)
        for offset in reversed(made):
            self.builder.PrependUOffsetTRelative(offset)
        position: int = self.builder.EndVector()
        return position

    def _text(self, value: Any, where: str) -> int:
        if not isinstance(value, str):
            raise FileFormatError(f"{where}: text is expected, got {value!r}.")
        if value not in self._texts:
            self._texts[value] = self.builder.CreateString(value)
        return self._texts[value]

    def _vector(self, element: Type, values: Any, where: str) -> int:
        key = (id(values), id(element))
        if key in self._written:
            return self._written[key]
        if isinstance(element, Scalar | Enum | Struct):
            builder = self.builder
            size, align, data = _packed(element, values, where)
            count = len(values)
            if len(data) > _LIMIT:
                raise flatbuffers.builder.BuilderSizeError("vector")
            builder.StartVector(size, count, align)
            builder.head -= len(data)
            builder.Bytes[builder.head : builder.head + len(data)] = data
            position: int = builder.EndVector()
        else:
            position = self._references(
                self._text(value, f"{where}[{index}]")
                if isinstance(element, String)
                else self.table(_table(element), value, f"{where}[{index}]")
                for index, value in enumerate(values)
            )
        self._written[key] = position
        self._alive.append(values)
        return position

    def _inline(self, kind: Struct, value: Any, where: str) -> int:
        data = _struct_bytes(kind, value, where)
        builder = self.builder
        builder.Prep(kind.align, len(data))
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data
        position: int = builder.Offset()
        return position


_FLAGS: Final = {
    "?": flatbuffers.number_types.BoolFlags,
    "b": flatbuffers.number_types.Int8Flags,
    "B": flatbuffers.number_types.Uint8Flags,
    "h": flatbuffers.number_types.Int16Flags,
    "H": flatbuffers.number_types.Uint16Flags,
    "i": flatbuffers.number_types.Int32Flags,
    "I": flatbuffers.number_types.Uint32Flags,
    "q": flatbuffers.number_types.Int64Flags,
    "Q": flatbuffers.number_types.Uint64Flags,
    "f": flatbuffers.number_types.Float32Flags,
    "d": flatbuffers.number_types.Float64Flags,
}


def _member(union: Union, name: Any, where: str) -> Table:
    """The table of a member of a union."""
    if name not in union.numbers:
        raise FileFormatError(f"{where}: {union.name} has no member {name}.")
    return _table(union.members[union.numbers[name] - 1][1])


def _table(kind: Type) -> Table:
    assert isinstance(kind, Table)
    return kind


def _plain(kind: Scalar | Enum, value: Any, where: str) -> Any:
    """The number that is stored for a number or a name."""
    scalar = kind
    if isinstance(kind, Enum):
        scalar = kind.scalar
        if isinstance(value, str):
            names = value.split() if kind.flags else [value]
            missing = [name for name in names if name not in kind.values]
            if missing:
                raise FileFormatError(
                    f"{where}: {kind.name} has no value {missing[0]}; it has {', '.join(kind.values)}."
                )
            value = sum(kind.values[name] for name in names)
    assert isinstance(scalar, Scalar)
    try:
        struct.pack("<" + scalar.code, value)
    except (struct.error, OverflowError, TypeError):
        raise FileFormatError(f"{where}: a value of type {scalar.name} is expected, got {value!r}.") from None
    return value


def _struct_bytes(kind: Struct, value: Any, where: str) -> bytes:
    data = bytearray(kind.size)
    for (name, inner), offset in zip(kind.fields, kind.offsets, strict=True):
        place = f"{where}.{name}"
        if not isinstance(value, dict) or name not in value:
            raise FileFormatError(f"{place}: missing; a {kind.name} has all its fields.")
        if isinstance(inner, Struct):
            data[offset : offset + inner.size] = _struct_bytes(inner, value[name], place)
        else:
            assert isinstance(inner, Scalar | Enum)
            scalar = inner.scalar if isinstance(inner, Enum) else inner
            struct.pack_into("<" + scalar.code, data, offset, _plain(inner, value[name], place))
    return bytes(data)


def _packed(element: Scalar | Enum | Struct, values: Any, where: str) -> tuple[int, int, bytes]:
    """Size and alignment of an element, and the bytes of all."""
    if isinstance(element, Struct):
        parts = [_struct_bytes(element, value, f"{where}[{index}]") for index, value in enumerate(values)]
        return element.size, element.align, b"".join(parts)
    scalar = element.scalar if isinstance(element, Enum) else element
    if isinstance(values, bytes | bytearray) and scalar.size == 1:
        return 1, 1, bytes(values)
    numbers = [_plain(element, value, f"{where}[{index}]") for index, value in enumerate(values)]
    return scalar.size, scalar.size, struct.pack(f"<{len(numbers)}{scalar.code}", *numbers)
