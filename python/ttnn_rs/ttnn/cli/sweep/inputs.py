"""The inputs of a sweep: all, or a seeded sample.

The sample has every exponent.

Values are words of float32; those of a bfloat16 sweep have an empty lower half.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttnn.cli.goldens.registers import Words
from ttnn.cli.goldens.sfpu import every_bf16

SEED: Final = 20250711
EXPONENTS: Final = 256
PER_STRATUM: Final = 128
"""Values per sign and exponent in the float32 sample.

65,536 in all.
"""
TUPLES: Final = 327_680
"""Pairs or triples of operands."""
UPPER_HALF: Final = np.uint32(0xFFFF0000)
_BIAS: Final = 127
# 0, the smallest normal, 2**-126 less a step, 0.5, 1, the next of 1, 2, 3, the largest, infinity, NaN.
_CORNERS: Final = (0, 0x00800000, 0x007F0000, 0x3F000000, 0x3F800000, 0x3F810000, 0x40000000, 0x40400000)
_CORNERS_BEYOND: Final = (0x7F7F0000, 0x7F800000, 0x7FC00000)


def operands(arity: int, dtype: str) -> list[Words]:
    """Return the operands of a sweep: one array of words per operand."""
    if arity == 1:
        every = every_bf16()
        return [every if dtype == "bfloat16" else np.concatenate([every, stratified_float32()])]
    words = pairs() if arity == 2 else tuples(arity)
    return [operand & UPPER_HALF if dtype == "bfloat16" else operand for operand in words]


def stratified_float32() -> Words:
    """Return 128 float32 values per sign and exponent.

    The first, the last, and others at random.
    """
    random = np.random.default_rng(SEED)
    mantissas = random.integers(0, 1 << 23, (2, EXPONENTS, PER_STRATUM), dtype=np.uint32)
    mantissas[..., 0], mantissas[..., 1] = 0, (1 << 23) - 1
    upper = np.arange(2 * EXPONENTS, dtype=np.uint32).reshape(2, EXPONENTS, 1) << np.uint32(23)
    return np.asarray(upper | mantissas).reshape(-1)


def corners() -> Words:
    """Return the values at which functions break, with both signs."""
    positive = np.array((*_CORNERS, *_CORNERS_BEYOND), np.uint32)
    return np.concatenate([positive, positive | np.uint32(1 << 31)])


def pairs() -> list[Words]:
    """Return pairs of normal numbers, corners, and close pairs.

    One for every two signs and exponents, and all pairs of corners.

    Close pairs have exponents within 8 of each other: sums cancel, quotients are near 1, powers stay finite.
    """
    random = np.random.default_rng(SEED + 1)
    signed = np.concatenate([np.arange(1, 255), np.arange(257, 511)]).astype(np.uint32) << np.uint32(23)
    grid = np.meshgrid(signed, signed, indexing="ij")
    grid_words = [side.reshape(-1) | _mantissas(random, side.size) for side in grid]
    corner_words = [side.reshape(-1) for side in np.meshgrid(corners(), corners(), indexing="ij")]
    close_words = _close(random, 2, TUPLES - grid_words[0].size - corner_words[0].size)
    return [np.concatenate(parts) for parts in zip(grid_words, corner_words, close_words, strict=True)]


def close_pairs() -> list[Words]:
    """Return 65,536 close pairs of `pairs`.

    Exponents within 8 of each other, magnitudes from 2**-20 to 2**20.
    """
    return [operand[-(1 << 16) :] for operand in pairs()]


def tuples(arity: int) -> list[Words]:
    """Return tuples of operands: half with independent exponents, half with close ones."""
    random = np.random.default_rng(SEED + arity)
    half = TUPLES // 2
    exponents = [random.integers(1, 255, half, dtype=np.uint32) << np.uint32(23) for _ in range(arity)]
    wide = [exponent | _signs(random, half) | _mantissas(random, half) for exponent in exponents]
    return [np.concatenate(parts) for parts in zip(wide, _close(random, arity, TUPLES - half), strict=True)]


def _close(random: np.random.Generator, arity: int, count: int) -> list[Words]:
    centre = random.integers(_BIAS - 16, _BIAS + 17, count)
    exponents = [np.asarray(centre + random.integers(-4, 5, count), np.uint32) << np.uint32(23) for _ in range(arity)]
    return [exponent | _signs(random, count) | _mantissas(random, count) for exponent in exponents]


def _signs(random: np.random.Generator, count: int) -> Words:
    return np.asarray(random.integers(0, 2, count, dtype=np.uint32) << np.uint32(31))


def _mantissas(random: np.random.Generator, count: int) -> Words:
    return random.integers(0, 1 << 23, count, dtype=np.uint32)
