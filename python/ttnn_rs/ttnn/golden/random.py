"""Random number references: the generator for 8x8 cores, step by step.

Seed 0 is a fresh seed on the device; here it draws from the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Words = NDArray[np.uint32]
CORES = 64
_TILE = 32
_MASK = np.uint32(0x7FFFFFFF)


def rand(
    shape: Sequence[int],
    _device: object = None,
    *,
    dtype: object = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
    **_: object,
) -> Array:
    """Return numbers from `low` to below `high`, before output rounding."""
    size = tuple(shape)
    if seed == 0:
        values = np.random.default_rng().uniform(low, high, size)
    else:
        values = low + _untiled(_fractions(_tiles(size), seed), size) * (high - low)
    name = getattr(dtype, "name", "")
    if name == "UINT16":
        return np.asarray(np.rint(values))
    return np.asarray(np.trunc(values)) if "INT" in name else values


def uniform(x: ArrayLike, low: float = 0.0, high: float = 1.0, seed: int = 0, **_: object) -> Array:
    """Return numbers from `low` to below `high` in the shape of `x`."""
    return rand(np.shape(x), low=low, high=high, seed=seed)


def bernoulli(x: ArrayLike, seed: int = 0, **_: object) -> Array:
    """Return 1 where a uniform number is below `x`, else 0."""
    values = np.asarray(x, np.float64)
    return np.asarray(rand(values.shape, seed=seed) < values, np.float64)


def randn(shape: Sequence[int], _device: object = None, *, seed: int | None = None, **_: object) -> Array:
    """Return normally distributed numbers: sqrt(-2 log(u)) cos(2 pi v)."""
    size = tuple(shape)
    if not seed:
        return np.asarray(np.random.default_rng().normal(size=size))
    # A face of u comes before its face of v.
    drawn = _draws(_states(_tiles(size), 8 * 9, _seeds(seed)), 8 * 9).reshape(-1, 4, 2, 9, 1)[:, :, :, :8]
    mixed = _mixed(drawn + _salts()) & _MASK
    u = (_placed(_scattered(mixed[:, :, 0])) + 1) / 2**31
    v = _placed(_scattered(~mixed[:, :, 1])) / 2**31
    return _untiled(np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v), size)


def dropout(x: ArrayLike, probability: float, scale: float, seed: int, **_: object) -> Array:
    """Return 0 with a probability, else `x * scale`."""
    values = np.asarray(x, np.float64)
    limit = int(float(np.float32(probability)) * (2**31 - 1))
    states = _states(_tiles(values.shape), 4 * 8, lambda _core, _first: seed)
    draws = _draws(states, 4 * 8).reshape(-1, 4, 8, 1) & 0x7FFFFFFF
    kept = _placed(np.broadcast_to(draws > limit, (*draws.shape[:3], 32)))
    # Where a product is infinite, zero times it would not be zero.
    return np.where(_untiled(kept, values.shape) != 0, values * scale, 0.0)


def sampling(
    values: ArrayLike,
    indices: ArrayLike,
    k: ArrayLike,
    p: ArrayLike,
    temp: ArrayLike,
    *,
    seed: int | None = None,
    **_: object,
) -> NDArray[np.int64]:
    """Return every user's token.

    The first whose running share among the likeliest exceeds a random number.
    """
    scores = np.asarray(values, np.float64).reshape(-1, np.shape(values)[-1])
    tokens = np.asarray(indices, np.int64).reshape(scores.shape)
    users = len(scores)
    drawn = np.full(users, _fractions(1, seed)[0, 0, 0]) if seed else np.random.default_rng().random(users)
    found = []
    limits = zip(scores, tokens, np.asarray(k), np.asarray(p), np.asarray(temp), drawn, strict=True)
    for row, names, count, limit, factor, number in limits:
        order = np.argsort(-row, kind="stable")[: int(count)]
        weights = np.exp(row[order] * factor - np.max(row[order] * factor))
        running = np.cumsum(weights / weights.sum())
        kept = int(np.searchsorted(running, limit, side="right")) + 1
        shares = running[:kept] / running[min(kept, len(running)) - 1]
        found.append(names[order[min(int(np.searchsorted(shares, number, side="right")), len(shares) - 1)]])
    return np.array(found, np.int64).reshape(1, 1, 1, -1)


def _tiles(shape: Sequence[int]) -> int:
    padded = (1, 1, *shape)
    return math.prod(padded[:-2]) * -(-padded[-2] // _TILE) * -(-padded[-1] // _TILE)


def _step(state: int) -> int:
    odd = (state & 0x80200003).bit_count() & 1
    return (1 - odd) << 31 | state >> 1


def _states(tiles: int, draws: int, of_core: Any) -> list[int]:
    """Return the state before each tile."""
    cores = max(min(CORES, tiles), 1)
    states: list[int] = []
    for core in range(cores):
        state = of_core(core, len(states))
        for _ in range(tiles // cores + (core < tiles % cores)):
            states.append(state)
            for _ in range(draws):
                state = _step(state)
    return states


def _draws(states: Sequence[int], count: int) -> Words:
    """Return the draws of every tile."""
    found = np.zeros((len(states), count), np.uint32)
    for tile, state in enumerate(states):
        for i in range(count):
            found[tile, i] = state
            state = _step(state)
    return found


def _placed(lanes: NDArray[Any]) -> Array:
    """Return 32x32 tiles from lanes of [tiles, faces, accesses, 32]."""
    # An access is four rows of eight lanes, in the even or in the odd columns.
    split = lanes.reshape(-1, 2, 2, 4, 2, 4, 8)
    return np.asarray(split.transpose(0, 1, 3, 5, 2, 6, 4).reshape(-1, _TILE, _TILE), np.float64)


def _untiled(tiles: Array, shape: Sequence[int]) -> Array:
    padded = (1, 1, *shape)
    down, across = -(-padded[-2] // _TILE), -(-padded[-1] // _TILE)
    whole = tiles.reshape(-1, down, across, _TILE, _TILE).transpose(0, 1, 3, 2, 4)
    whole = whole.reshape(-1, down * _TILE, across * _TILE)[:, : padded[-2], : padded[-1]]
    return np.asarray(whole.reshape(tuple(shape)))


def _seeds(seed: int) -> Callable[[int, int], int]:
    """Return a core's state from its number and first tile."""

    def of_core(core: int, first: int) -> int:
        state = (seed + core + first * 0x9E3779B9) & 0xFFFFFFFF
        return 0xFFFFFFFE if state == 0xFFFFFFFF else state

    return of_core


def _fractions(tiles: int, seed: int) -> Array:
    """Return numbers from 0 to 1."""
    drawn = _draws(_states(tiles, 4 * 9, _seeds(seed)), 4 * 9).reshape(-1, 4, 9, 1)[:, :, :8]
    return _placed(_mixed(drawn + _salts()) & _MASK) / 2**31


def _salts() -> Words:
    a = (2 * np.arange(32, dtype=np.int64) - 151).astype(np.uint32)
    b = (a << np.uint32(20)) ^ a
    return np.asarray((b << np.uint32(5)) ^ b, np.uint32)


def _mixed(x: Words) -> Words:
    x = x ^ (x >> np.uint32(16))
    x = x + (x << np.uint32(10))
    x = x ^ (x >> np.uint32(6))
    x = x + (x << np.uint32(13))
    return np.asarray(x ^ (x >> np.uint32(16)), np.uint32)


def _scattered(x: Words) -> Words:
    x = _mixed(x) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray((x ^ (x >> np.uint32(16))) & _MASK, np.uint32)


def manual_seed(*_args: object, **_: object) -> Array:
    """Return the tensor of one 0."""
    return np.zeros(1, np.float64)
