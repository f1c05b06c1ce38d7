"""`ttnn.bcast` against numpy, in every dimension and placement that it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT
OPS: dict[ttnn.BcastOpMath, Any] = {
    ttnn.BcastOpMath.ADD: np.add,
    ttnn.BcastOpMath.SUB: np.subtract,
    ttnn.BcastOpMath.MUL: np.multiply,
}
ENDS = {ttnn.BcastOpDim.H: (1, 96), ttnn.BcastOpDim.W: (64, 1), ttnn.BcastOpDim.HW: (1, 1)}


@pytest.mark.parametrize("layout", [TILES, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("math_op", list(OPS))
@pytest.mark.parametrize("dim", list(ENDS))
@pytest.mark.parametrize("batch", [1, 2])
def test_bcast_broadcasts_along_every_dimension(
    batch: int, dim: ttnn.BcastOpDim, math_op: ttnn.BcastOpMath, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    a = make((2, 1, 64, 96), ttnn.bfloat16, layout, device)
    b = make((batch, 1, *ENDS[dim]), ttnn.bfloat16, layout, device, 1)
    result = ttnn.bcast(a, b, math_op, dim)
    assert (result.layout, result.dtype) == (TILES, ttnn.bfloat16)
    expected = OPS[math_op](values_of(a), values_of(b))
    # A sum is rounded in Dst and by the packer, a product in each of its four phases.
    half = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(expected), 1e-30))) - 8)
    roundings = 4 if math_op is ttnn.BcastOpMath.MUL else 2
    assert (np.abs(values_of(result) - expected) <= roundings * half).all()
    assert (values_of(result) != values_of(a)).any()


def test_float32_is_computed_in_16_bits(device: ttnn.MeshDevice) -> None:
    a, b = (make((1, 1, 32, 32), ttnn.float32, TILES, device, seed) for seed in range(2))
    row = ttnn.slice(b, [0, 0, 0, 0], [1, 1, 1, 32])
    result = values_of(ttnn.bcast(a, row, ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.H))
    expected = values_of(a) + values_of(row)
    assert np.abs(result - expected).max() < 0.1
    assert (result.astype(np.float32).view(np.uint32) & 0xFFFF == 0).all()


@pytest.mark.parametrize("parts", [1, 2])
def test_rows_of_shards_are_parted_among_batches(parts: int, device: ttnn.MeshDevice) -> None:
    shards = ttnn.create_sharded_memory_config((1, 1, 128, 64), ttnn.CoreGrid(y=4, x=2), ttnn.ShardStrategy.BLOCK)
    a = make((1, 1, 128, 64), ttnn.bfloat16, TILES, device, memory_config=shards)
    b = make((parts, 1, 1, 64), ttnn.bfloat16, TILES, device, 1)
    result = ttnn.bcast(a, b, ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.H, memory_config=shards)
    assert result.memory_config() == shards
    plain = ttnn.to_memory_config(a, ttnn.DRAM_MEMORY_CONFIG)
    halves = ttnn.reshape(plain, (parts, 1, 128 // parts, 64))
    same = ttnn.bcast(halves, b, ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.H)
    np.testing.assert_array_equal(values_of(result).reshape(-1), values_of(same).reshape(-1))


def test_outputs_and_what_is_refused(device: ttnn.MeshDevice) -> None:
    a, row = make((1, 2, 64, 96), ttnn.bfloat16, TILES, device), make((1, 1, 1, 96), ttnn.bfloat16, TILES, device)
    add, height = ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.H
    into = ttnn.zeros((1, 2, 64, 96), ttnn.bfloat8_b, TILES, device)
    assert ttnn.bcast(a, row, add, height, output_tensor=into) is into
    np.testing.assert_allclose(values_of(into), values_of(a) + values_of(row), atol=0.1)
    with pytest.raises(ttnn.ShapeError, match=r"along W ends with \[64, 1\]"):
        ttnn.bcast(a, row, add, ttnn.BcastOpDim.W)
    with pytest.raises(ttnn.ShapeError, match="bN\\*bC=1"):
        ttnn.bcast(a, make((2, 1, 1, 96), ttnn.bfloat16, TILES, device), add, height)
    with pytest.raises(ttnn.DTypeError, match="input_b is INT32"):
        ttnn.bcast(a, make((1, 1, 1, 96), ttnn.int32, TILES, device), add, height)
    shards = ttnn.create_sharded_memory_config((1, 2, 64, 96), ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy.HEIGHT)
    with pytest.raises(ttnn.MemoryConfigError, match="mem layouts must be the same for bcast H op"):
        ttnn.bcast(a, row, add, height, memory_config=shards)
