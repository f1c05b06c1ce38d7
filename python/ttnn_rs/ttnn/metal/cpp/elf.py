"""The symbols of an object file."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ttnn.base.exceptions import KernelCompileError

_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<IIIBBH")
_SYMBOL_TABLE = 2
_UNDEFINED = 0
_LOCAL = 0


class Symbol(NamedTuple):
    """A symbol: name, defined here or not, visible to others or not."""

    name: str
    defined: bool
    visible: bool


def symbols(data: bytes) -> list[Symbol]:
    """Return the symbols of a 32-bit little-endian ELF file.

    Raises:
        KernelCompileError: the file is damaged, or has more sections than an object file of a kernel.
    """
    try:
        return _symbols(data)
    except (struct.error, IndexError, ValueError) as error:
        raise KernelCompileError(f"the object file of a kernel cannot be read: {error}") from None


def _symbols(data: bytes) -> list[Symbol]:
    start, count = struct.unpack_from("<I", data, 32)[0], struct.unpack_from("<H", data, 48)[0]
    sections = [_SECTION.unpack_from(data, start + 40 * index) for index in range(count)]
    found = []
    for section in sections:
        if section[1] != _SYMBOL_TABLE:
            continue
        names = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, _, _, info, _, home = _SYMBOL.unpack_from(data, place)
            text = data[names + name : data.index(b"\0", names + name)].decode(errors="replace")
            found.append(Symbol(text, home != _UNDEFINED, info >> 4 != _LOCAL))
    return found
