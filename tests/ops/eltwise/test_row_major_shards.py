"""Row-major tensors with split rows, with others split differently.

Or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS = ttnn.ROW_MAJOR_LAYOUT
SHAPE = (64, 128)
PLACES = {
    "width": ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(y=1, x=4), ttnn.ShardStrategy.WIDTH),
    "block": ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK),
    "height": ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT),
    "interleaved": ttnn.DRAM_MEMORY_CONFIG,
}
CUT = ("width", "block")


def _make(place: str, seed: int, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return make(SHAPE, dtype, ROWS, device, seed, memory_config=PLACES[place])


def _same(got: ttnn.Tensor, expected: ttnn.Tensor, place: str) -> None:
    assert got.memory_config() == PLACES[place]
    assert got.layout is ROWS
    np.testing.assert_array_equal(values_of(got), values_of(expected))


@pytest.mark.parametrize("place", CUT)
@pytest.mark.parametrize("shape", [(1, 128), (64, 1), (1, 1), (128,)], ids=str)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
def test_broadcasting(place: str, shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    cut, whole = _make(place, 1, device, dtype), _make("interleaved", 1, device, dtype)
    other = make(shape, dtype, ROWS, device, 2)
    _same(ttnn.subtract(cut, other), ttnn.subtract(whole, other), place)
    _same(ttnn.subtract(other, cut), ttnn.subtract(other, whole), "interleaved")
    moved = ttnn.subtract(other, cut, memory_config=PLACES[place])
    _same(moved, ttnn.subtract(other, whole), place)


@pytest.mark.parametrize("place", CUT)
def test_broadcasting_in_place(place: str, device: ttnn.MeshDevice) -> None:
    cut, row = _make(place, 1, device), make((1, 128), ttnn.bfloat16, ROWS, device, 2)
    expected = ttnn.add(_make("interleaved", 1, device), row)
    assert ttnn.add_(cut, row) is cut
    _same(cut, expected, place)


@pytest.mark.parametrize("first", PLACES)
@pytest.mark.parametrize("second", PLACES)
def test_two_places(first: str, second: str, device: ttnn.MeshDevice) -> None:
    a, b = _make(first, 1, device), _make(second, 2, device)
    expected = ttnn.multiply(_make("interleaved", 1, device), _make("interleaved", 2, device))
    _same(ttnn.multiply(a, b), expected, first)
    for place in PLACES:
        _same(ttnn.multiply(a, b, memory_config=PLACES[place]), expected, place)
    output = _make(second, 3, device)
    assert ttnn.multiply(a, a, output_tensor=output) is output
    _same(output, ttnn.square(_make("interleaved", 1, device)), second)


UNARY: dict[str, Callable[..., Any]] = {
    "neg": ttnn.neg,
    "typecast": lambda x, **more: ttnn.typecast(x, ttnn.float32, **more),
    "add": lambda x, **more: ttnn.add(x, 1.0, **more),
    "clamp": lambda x, **more: ttnn.clamp(x, min=0.0, max=1.0, **more),
    "where": lambda x, **more: ttnn.where(x, x, 1.0, **more),
    "alt_complex_rotate90": ttnn.alt_complex_rotate90,
    "bitwise_not": ttnn.bitwise_not,
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("source", PLACES)
def test_operators_on_one_tensor(name: str, source: str, device: ttnn.MeshDevice) -> None:
    x = _make(source, 1, device)
    expected = UNARY[name](_make("interleaved", 1, device))
    for place in PLACES:
        if name == "typecast" and place != source:
            # Its program does not move shards.
            with pytest.raises(ttnn.MemoryConfigError, match="requires Input and Output memory layout to match"):
                UNARY[name](x, memory_config=PLACES[place])
            continue
        _same(UNARY[name](x, memory_config=PLACES[place]), expected, place)
    _same(UNARY[name](x), expected, source)


def test_output_tensor_in_another_place(device: ttnn.MeshDevice) -> None:
    expected = ttnn.neg(_make("interleaved", 1, device))
    for first in PLACES:
        for second in PLACES:
            output = _make(second, 2, device)
            assert ttnn.neg(_make(first, 1, device), output_tensor=output) is output
            _same(output, expected, second)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=str)
def test_one_element_in_a_wider_shard(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    """A scalar has no width; its shard may be wider."""
    wide = ttnn.create_sharded_memory_config((1, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.BLOCK)
    t = make(shape, ttnn.float32, ROWS, device, 1)
    moved = ttnn.exp(t, memory_config=wide)
    assert moved.memory_config() == wide
    np.testing.assert_array_equal(values_of(moved), values_of(ttnn.exp(t)))
    # Programs of two tensors read tiles.
    with pytest.raises(ttnn.MemoryConfigError, match=r"Physical shard shape \(1, 32\) must be tile"):
        ttnn.add(moved, t)
    np.testing.assert_array_equal(values_of(ttnn.neg(moved, memory_config=t.memory_config())), -values_of(moved))
