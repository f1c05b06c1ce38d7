"""Random bits of counters: Threefry and Philox, with the states of XLA.

A state is two words of 64 bits, or three for Philox: the key, and the counter, whose next value is returned.
Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

__all__ = ["philox", "threefry"]

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)


def _halves(word: Any) -> tuple[Any, Any]:
    return (word & _LOW).astype(np.uint32), (word >> _HALF).astype(np.uint32)


def _filled(words: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Return words of 32 bits as elements.

    Narrow ones are their low bits.
    """
    count = math.prod(shape)
    if dtype.itemsize < 4:
        words = words.astype(np.dtype(f"uint{8 * dtype.itemsize}"))
    return words[: count * max(1, dtype.itemsize // 4)].view(dtype)[:count].reshape(shape)


_ROTATIONS: Final = (13, 15, 26, 6, 17, 29, 16, 24)


def threefry(state: Any, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
    """Return the next state and random bits of Threefry with 20 rounds.

    Both words of a counter are neighbours along the first dimension of even size, else the longest.
    """
    key = _halves(state[0])
    dims = [*shape] or [1]
    dim = next((i for i, size in enumerate(dims) if size % 2 == 0), max(range(len(dims)), key=dims.__getitem__))
    half = [-(-size // 2) if i == dim and dtype.itemsize < 8 else size for i, size in enumerate(dims)]
    blocks = math.prod(half)
    x, y = _halves(state[1] + np.arange(blocks, dtype=np.uint64))
    keys = (*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    x, y = x + keys[0], y + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[4 * (group % 2) : 4 * (group % 2) + 4]:
            x = x + y
            y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
            y ^= x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    following = state.copy()
    following[1] += np.uint64(blocks)
    if dtype.itemsize == 8:
        return following, np.stack([x, y], axis=-1).view(dtype).reshape(shape)
    pairs = np.stack([x.reshape(half), y.reshape(half)], axis=dim + 1)
    whole = pairs.reshape([*half[:dim], 2 * half[dim], *half[dim + 1 :]])
    kept = whole[(slice(None),) * dim + (slice(0, dims[dim]),)].reshape(shape)
    return following, kept.astype(np.dtype(f"uint{8 * dtype.itemsize}")).view(dtype)


def philox(state: Any, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
    """Return the next state and random bits of Philox.

    It has four words and ten rounds.
    """
    blocks = -(-_words(shape, dtype) // 4)
    low = state[1] + np.arange(blocks, dtype=np.uint64)
    # A counter of one word has the key above it.
    high = (state[2] if len(state) > 2 else state[0]) + (low < state[1]).astype(np.uint64)
    words = _rounds([*_halves(low), *_halves(high)], _halves(state[0]))
    following = state.copy()
    following[1] += np.uint64(blocks)
    if len(state) > 2 and following[1] < state[1]:
        following[2] += np.uint64(1)
    return following, _filled(np.stack(words, axis=-1).reshape(-1), shape, dtype)


def _rounds(words: list[Any], key: tuple[Any, Any]) -> list[Any]:
    for _ in range(10):
        first = words[0].astype(np.uint64) * np.uint64(0xD2511F53)
        second = words[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
        (low_first, high_first), (low_second, high_second) = _halves(first), _halves(second)
        words = [high_second ^ words[1] ^ key[0], low_second, high_first ^ words[3] ^ key[1], low_first]
        key = (key[0] + np.uint32(0x9E3779B9), key[1] + np.uint32(0xBB67AE85))
    return words


def _words(shape: Sequence[int], dtype: Any) -> int:
    """Return how many words of 32 bits elements take.

    Each takes one at least.
    """
    return math.prod(shape) * max(1, int(dtype.itemsize) // 4)
