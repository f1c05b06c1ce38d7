"""The base class of enumerations that have the numbers of the official package."""

from __future__ import annotations

import enum


class VendorEnum(enum.Enum):
    """An enumeration whose `str()` is `Name.MEMBER` and whose spelling inside reprs is `Name::MEMBER`."""

    def __int__(self) -> int:
        return int(self.value)

    # Members are singletons; hashing by identity is several times faster than Enum's hash of the name.
    __hash__ = object.__hash__

    @property
    def cpp_name(self) -> str:
        """Return the spelling that the official package uses inside reprs and messages: `Name::MEMBER`."""
        return f"{type(self).__name__}::{self.name}"
