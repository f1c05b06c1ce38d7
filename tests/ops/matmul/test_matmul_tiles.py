"""Matmuls in tiles other than 32x32: full-tile bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.matmul_operands import Array, exact, integers, numbers, on, program, sharded
from testkit.operands import raw_of

HEIGHTS = (1, 2, 4, 8, 16, 32)


def in_tiles(
    device: ttnn.MeshDevice, values: Array, tile: ttnn.Tile, dtype: Any = ttnn.bfloat16, **options: Any
) -> ttnn.Tensor:
    tensor = ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT, tile=tile)
    return tensor.to(device, options.get("memory_config"))


def reals(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=lambda d: d.name)
@pytest.mark.parametrize("height", HEIGHTS)
@pytest.mark.parametrize("width", [16, 32])
def test_low_and_narrow_tiles_change_no_bit(
    device: ttnn.MeshDevice, height: int, width: int, dtype: ttnn.DataType
) -> None:
    a, b = reals(1, 2, 40, 96), reals(2, 96, 80)
    expected = ttnn.matmul(on(device, a), on(device, b, dtype))
    if (height, width) not in {(32, 32), (16, 32), (32, 16), (16, 16), (8, 32), (4, 32), (2, 32), (1, 32), (8, 16)}:
        right = in_tiles(device, b, ttnn.Tile((32, width)), dtype)
        with pytest.raises(ttnn.UnsupportedError, match=f"tiles of {height}x{width} are only stored"):
            ttnn.matmul(in_tiles(device, a, ttnn.Tile((height, 32))), right)
        return
    left = in_tiles(device, a, ttnn.Tile((height, 32)))
    got = ttnn.matmul(left, in_tiles(device, b, ttnn.Tile((32, width)), dtype))
    assert got.tile.tile_shape == [height, width]
    assert np.array_equal(numbers(got), numbers(expected))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(32, 32), (16, 32), (32, 16), (16, 16)])
def test_transposed_tiles_hold_the_same_values(
    device: ttnn.MeshDevice, shape: tuple[int, int], dtype: ttnn.DataType
) -> None:
    values = reals(3, 3, 70, 50)
    tile = ttnn.Tile(shape, transpose_tile=True)
    tensor = in_tiles(device, values, tile, dtype)
    plain = ttnn.Tensor(values, dtype, layout=ttnn.TILE_LAYOUT)
    assert np.array_equal(numbers(tensor), numbers(plain))
    assert tensor.tile == tile
    assert tensor.tile != ttnn.Tile(shape)


def test_a_transposed_tile_is_stored_by_columns() -> None:
    values = np.arange(1024, dtype=np.float32).reshape(32, 32)
    stored = ttnn.Tensor(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, tile=ttnn.Tile((32, 32), transpose_tile=True))
    turned = ttnn.Tensor(values.T.copy(), ttnn.float32, layout=ttnn.TILE_LAYOUT)
    assert np.array_equal(raw_of(stored), raw_of(turned))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=lambda d: d.name)
@pytest.mark.parametrize("width", [16, 32])
def test_products_of_transposed_tiles(device: ttnn.MeshDevice, width: int, dtype: ttnn.DataType) -> None:
    a, b = reals(4, 64, 96), reals(5, 96, 64)
    right = in_tiles(device, b, ttnn.Tile((32, width), transpose_tile=True), dtype)
    # Exponents are shared along columns, so the operand has values of its own.
    same = on(device, numbers(right))
    config = exact("HiFi2")
    got = ttnn.matmul(on(device, a), right, compute_kernel_config=config)
    assert np.array_equal(numbers(got), numbers(ttnn.matmul(on(device, a), same, compute_kernel_config=config)))


def test_sharded_operands_count_in_their_tiles(device: ttnn.MeshDevice) -> None:
    a, b = integers(6, 2, 64, 64), integers(7, 2, 64, 32)
    left = in_tiles(device, a, ttnn.Tile((16, 32)), memory_config=sharded("HEIGHT", 2, 1, 64, 64))
    right = in_tiles(device, b, ttnn.Tile((32, 16)))
    config = program("Reuse", (2, 1), in0_block_w=2, per_core_M=4, per_core_N=2)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1)
    got = ttnn.matmul(left, right, program_config=config, memory_config=place)
    assert got.memory_config() == sharded("HEIGHT", 2, 1, 64, 32)
    assert np.array_equal(numbers(got), a @ b)


def test_a_bias_and_an_activation(device: ttnn.MeshDevice) -> None:
    a, b, bias = integers(8, 64, 64), integers(9, 64, 64), integers(10, 1, 64)
    tiles = ttnn.Tile((16, 32)), ttnn.Tile((32, 16)), ttnn.Tile((16, 16))
    tensors = [in_tiles(device, values, tile) for values, tile in zip((a, b, bias), tiles, strict=True)]
    got = ttnn.linear(*tensors[:2], bias=tensors[2], activation="relu", dtype=ttnn.float32)
    assert np.array_equal(numbers(got), np.maximum(a @ b + bias, 0))


def test_the_tile_of_the_result(device: ttnn.MeshDevice) -> None:
    left, right = (in_tiles(device, integers(n, 32, 32), ttnn.Tile(tile)) for n, tile in ((1, (16, 32)), (2, (32, 16))))
    output = in_tiles(device, np.zeros((32, 32), np.float32), ttnn.Tile((16, 16)))
    assert ttnn.matmul(left, right, optional_output_tensor=output) is output
    assert np.array_equal(numbers(output), numbers(ttnn.matmul(left, right, output_tile=ttnn.Tile((16, 16)))))
    for tile, sentence in (
        ((32, 16), "must equal to the in0 tile height"),
        ((16, 32), "must equal the in0 tile width"),
    ):
        with pytest.raises(ttnn.ShapeError, match=sentence):
            ttnn.matmul(left, right, output_tile=ttnn.Tile(tile))
    with pytest.raises(ttnn.ArgumentError, match="cannot have both an output_tile and an optional_output_tensor"):
        ttnn.matmul(left, right, output_tile=ttnn.Tile((16, 16)), optional_output_tensor=output)
    with pytest.raises(ttnn.UnsupportedError, match="which cut the inner dimension into 16"):
        ttnn.matmul(in_tiles(device, integers(3, 32, 32), ttnn.Tile((32, 16))), right)


def test_other_operators_refuse_transposed_tiles(device: ttnn.MeshDevice) -> None:
    tensor = in_tiles(device, integers(1, 32, 32), ttnn.Tile((32, 32), transpose_tile=True))
    with pytest.raises(ttnn.UnsupportedError):
        ttnn.exp(tensor)
    with pytest.raises(ttnn.UnsupportedError, match="moving elements of transposed tiles is not implemented"):
        ttnn.permute(tensor, (1, 0))


def test_a_bias_in_other_tiles_than_its_operands_is_refused(device: ttnn.MeshDevice) -> None:
    a, b = on(device, reals(1, 40, 96)), on(device, reals(2, 96, 80))
    with pytest.raises(ttnn.UnsupportedError, match="bias has tiles of"):
        ttnn.linear(a, b, bias=in_tiles(device, reals(3, 1, 80), ttnn.Tile((16, 32))))
