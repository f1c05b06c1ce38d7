"""The numbers of data types, in binaries and in attributes."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["DataType"]


class DataType(IntEnum):
    """Data types of elements, as binaries number them."""

    Float32 = 0
    Float16 = 1
    BFloat16 = 2
    BFP_Float8 = 3
    BFP_BFloat8 = 4
    BFP_Float4 = 5
    BFP_BFloat4 = 6
    BFP_Float2 = 7
    BFP_BFloat2 = 8
    UInt32 = 9
    UInt16 = 10
    UInt8 = 11
    Int32 = 12
