"""Formats of datums in memory, with the chip's codes."""

from __future__ import annotations

from ttnn.base.vendor_enum import VendorEnum


class DataFormat(VendorEnum):
    """Formats of datums in memory, with the codes of the chip."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Tf32 = 4
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Int32 = 8
    UInt16 = 9
    Lf8 = 10
    Bfp2 = 11
    Int8 = 14
    Bfp2_b = 15
    UInt32 = 24
    Fp8_e4m3 = 26
    UInt8 = 30
