"""Register values in the notation of the vectors and of the engine.

The engine keeps every Dst value at its FP32 bit positions, BF16 in the upper half of the word and FP16 with its 5-bit
exponent at bits 27:23. The vectors store 16-bit Dst as natural BF16 or FP16 words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = {
    "fp32": 0,
    "fp16": 1,
    "bfp8a": 2,
    "tf32": 4,
    "bf16": 5,
    "bfp8_b": 6,
    "bfp4_b": 7,
    "int32": 8,
    "uint16": 9,
    "fp8_e5m2": 10,
    "int8": 14,
    "bfp2_b": 15,
    "fp8_e4m3": 26,
    "uint8": 30,
}
"""Format codes by the names that the vectors use."""

FIDELITIES = (1, 2, 3, 4)

Words = NDArray[np.uint32]


def bf16_to_dst(natural: NDArray[Any]) -> Words:
    """Return BF16 words at the bit positions of Dst."""
    dst: Words = natural.astype(np.uint32) << np.uint32(16)
    return dst


def fp16_to_dst(natural: NDArray[np.uint16]) -> Words:
    """Return FP16 words at the bit positions of Dst."""
    word = natural.astype(np.uint32)
    sign, magnitude = word & np.uint32(0x8000), word & np.uint32(0x7FFF)
    dst: Words = (sign << np.uint32(16)) | (magnitude << np.uint32(13))
    return dst


def fp16_from_dst(dst: Words) -> NDArray[np.uint16]:
    """Return Dst values as natural FP16 words."""
    return (((dst >> 16) & 0x8000) | ((dst >> 13) & 0x7FFF)).astype(np.uint16)


def dst16(dst: Words, *, fp16: bool) -> NDArray[np.uint16]:
    """Return 16-bit Dst values as the vectors store them."""
    return fp16_from_dst(dst) if fp16 else (dst >> 16).astype(np.uint16)
