"""Base class of enumerations with the official numbers."""

from __future__ import annotations

import enum


class VendorEnum(enum.Enum):
    """An enumeration with `str()` as `Name.MEMBER`, inside reprs `Name::MEMBER`."""

    def __int__(self) -> int:
        return int(self.value)

    # Members are singletons; hashing by identity is several times faster than Enum's hash of the name.
    __hash__ = object.__hash__

    @property
    def cpp_name(self) -> str:
        """Return the official spelling in reprs and messages: `Name::MEMBER`."""
        return f"{type(self).__name__}::{self.name}"
