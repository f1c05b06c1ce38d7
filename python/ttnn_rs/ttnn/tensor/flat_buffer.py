"""FlatBuffers tables, vectors and structs for `.tensorbin` headers.

A buffer is built back to front, exactly in the order and with the alignment of the reference library, so that the
headers written here are byte for byte those that the official package writes.
Source: FlatBuffers documentation, "FlatBuffer internals"; the headers in
tests/golden/data/host/host_tensors_meta.json.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ttnn.base.exceptions import FileFormatError

_OFFSET_BYTES = 4
_FIRST_FIELD = 4  # bytes of a vtable before the entry of field 0


class Builder:
    """A buffer builder, from end to beginning.

    Positions are distances from the end.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._alignment = 1
        self._vtables: list[tuple[bytes, int]] = []

    def _prepend(self, data: bytes) -> int:
        self._data[:0] = data
        return len(self._data)

    def align(self, alignment: int) -> None:
        """Add zeros until the size is a multiple of `alignment`."""
        self._alignment = max(self._alignment, alignment)
        self._prepend(bytes(-len(self._data) % alignment))

    def scalar(self, kind: str, value: int) -> int:
        """Add an aligned number of a `struct` kind; return its place."""
        data = struct.pack("<" + kind, value)
        self.align(len(data))
        return self._prepend(data)

    def reference(self, place: int) -> int:
        """Add a reference to `place`, built before; return its own position."""
        self.align(_OFFSET_BYTES)
        return self.scalar("I", len(self._data) - place + _OFFSET_BYTES)

    def structure(self, layout: str, alignment: int, *values: int) -> int:
        """Add a struct; return its place."""
        self.align(alignment)
        return self._prepend(struct.pack("<" + layout, *values))

    def numbers(self, values: Sequence[int]) -> int:
        """Add a vector of 32-bit numbers; return its place."""
        self.align(4)
        self._prepend(struct.pack(f"<{len(values)}I", *values))
        return self.scalar("I", len(values))

    def references(self, places: Sequence[int]) -> int:
        """Add a vector of references; return its place."""
        self.align(_OFFSET_BYTES)
        for place in reversed(places):
            self.reference(place)
        return self.scalar("I", len(places))

    def table(self, *fields: tuple[int, str, int]) -> int:
        """Add a table; return its place.

        Args:
            fields: (number, kind, value) in the order in which they are added, which is that of the generated code of
                the reference library: largest first, and last declared first. Kind "ref" is a reference, otherwise a
                `struct` kind. Values 0 are the defaults and are left out.
        """
        start = len(self._data)
        places = {
            number: self.reference(value) if kind == "ref" else self.scalar(kind, value)
            for number, kind, value in fields
            if value != 0
        }
        here = self.scalar("i", 0)
        entries = [here - places[number] if number in places else 0 for number in range(max(places, default=-1) + 1)]
        head = (_FIRST_FIELD + 2 * len(entries), here - start)
        vtable = struct.pack(f"<{2 + len(entries)}H", *head, *entries)
        known = next((place for data, place in self._vtables if data == vtable), None)
        if known is None:
            known = self._prepend(vtable)
            self._vtables.append((vtable, known))
        at = len(self._data) - here
        self._data[at : at + 4] = struct.pack("<i", known - here)
        return here

    def finish(self, root: int) -> bytes:
        """Return the buffer with `root` as its root table."""
        self._alignment = max(self._alignment, _OFFSET_BYTES)
        self._prepend(bytes(-(len(self._data) + _OFFSET_BYTES) % self._alignment))
        self.reference(root)
        return bytes(self._data)


class Table:
    """A table of a read buffer.

    Every read is checked against the size of the buffer.
    """

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        self._vtable = place - self._read("i", place)
        self._vtable_bytes = self._read("H", self._vtable)

    @staticmethod
    def root(data: bytes) -> Table:
        """Return the root table of a buffer."""
        return Table(data, _read(data, "I", 0))

    def _read(self, kind: str, place: int) -> int:
        return _read(self._data, kind, place)

    def _field(self, number: int) -> int | None:
        entry = _FIRST_FIELD + 2 * number
        offset = self._read("H", self._vtable + entry) if entry + 2 <= self._vtable_bytes else 0
        return self._place + offset if offset else None

    def number(self, number: int, kind: str, default: int = 0) -> int:
        """Return a number, the default if the field is absent."""
        place = self._field(number)
        return default if place is None else self._read(kind, place)

    def target(self, number: int) -> int | None:
        """Return a reference's target, None if the field is absent."""
        place = self._field(number)
        return None if place is None else place + self._read("I", place)

    def table(self, number: int) -> Table | None:
        """Return a table, None if the field is absent."""
        place = self.target(number)
        return None if place is None else Table(self._data, place)

    def required(self, number: int, what: str) -> Table:
        """Return a table that must be there."""
        found = self.table(number)
        if found is None:
            raise FileFormatError(f"the header has no {what}")
        return found

    def numbers(self, number: int, most: int) -> list[int]:
        """Return a vector of 32-bit numbers, empty if the field is absent.

        Raises:
            FileFormatError: it has more than `most`.
        """
        place = self.target(number)
        if place is None:
            return []
        count = self._length(place, most)
        return [self._read("I", place + 4 + 4 * index) for index in range(count)]

    def tables(self, number: int, most: int) -> list[Table]:
        """Return a vector of tables, empty if the field is absent.

        Raises:
            FileFormatError: it has more than `most`.
        """
        place = self.target(number)
        if place is None:
            return []
        slots = [place + 4 + 4 * index for index in range(self._length(place, most))]
        return [Table(self._data, slot + self._read("I", slot)) for slot in slots]

    def structure(self, number: int, kinds: str) -> tuple[int, ...] | None:
        """Return a referenced struct's numbers, None if the field is absent."""
        place = self.target(number)
        if place is None:
            return None
        sizes = [struct.calcsize("<" + kind) for kind in kinds]
        return tuple(self._read(kind, place + sum(sizes[:index])) for index, kind in enumerate(kinds))

    def _length(self, place: int, most: int) -> int:
        """Return a vector's length, limited because many tables may share one."""
        count = self._read("I", place)
        if 4 * count > len(self._data):
            raise FileFormatError("the header has a vector longer than itself")
        if count > most:
            raise FileFormatError(f"the header has a vector of {count} elements, expected at most {most}")
        return count


def _read(data: bytes, kind: str, place: int) -> int:
    size = struct.calcsize("<" + kind)
    if place < 0 or place + size > len(data):
        raise FileFormatError("the header refers to bytes outside of itself")
    value: int = struct.unpack_from("<" + kind, data, place)[0]
    return value
