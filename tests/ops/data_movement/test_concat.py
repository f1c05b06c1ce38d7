"""Tensors joined and repeated: values, layouts, places, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
KINDS = [
    (ttnn.bfloat16, TILES),
    (ttnn.bfloat16, ROWS),
    (ttnn.float32, TILES),
    (ttnn.int32, ROWS),
    (ttnn.bfloat8_b, TILES),
]


def small(shape: tuple[int, ...], dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return small integers, which every data type represents."""
    values = np.random.default_rng(len(shape)).integers(-8, 8, shape)
    if dtype is ttnn.int32:
        return ttnn.Tensor(values.astype(np.int32), dtype, device=device, layout=layout)
    return ttnn.Tensor(values.astype(np.float32), dtype, device=device, layout=layout)


@pytest.mark.parametrize(("dtype", "layout"), KINDS)
@pytest.mark.parametrize("sizes", [(32, 64, 96), (5, 40, 1)])
@pytest.mark.parametrize("dim", [-3, -2, -1])
def test_concat_matches_numpy(
    dim: int, sizes: tuple[int, ...], dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    shapes = [[2, 33, 65] for _ in sizes]
    for shape, size in zip(shapes, sizes, strict=True):
        shape[dim] = size
    tensors = [small(tuple(shape), dtype, layout, device) for shape in shapes]
    result = ttnn.concat(tensors, dim)
    through_rows = dtype is ttnn.bfloat8_b and dim != -3 and any(size % 32 for size in sizes)
    assert (result.dtype, result.layout) == (ttnn.bfloat16 if through_rows else dtype, layout)
    np.testing.assert_array_equal(values_of(result), np.concatenate([values_of(t) for t in tensors], dim))
    output = ttnn.empty(result.shape, dtype, layout, device)
    assert ttnn.concat(tensors, dim, output_tensor=output) is output
    np.testing.assert_array_equal(values_of(output), values_of(result))


def test_concat_in_groups_takes_turns(device: ttnn.MeshDevice) -> None:
    a, b = (small((2, 4, 32, width), ttnn.bfloat16, TILES, device) for width in (64, 128))
    x, y = values_of(a), values_of(b)
    expected = np.concatenate([x[..., :32], y[..., :64], x[..., 32:], y[..., 64:]], -1)
    np.testing.assert_array_equal(values_of(ttnn.concat([a, b], -1, groups=2)), expected)


def test_concat_of_layouts_is_tiled(device: ttnn.MeshDevice) -> None:
    result = ttnn.concat([small((3, 5), ttnn.bfloat16, layout, device) for layout in (ROWS, TILES)], 0)
    assert (tuple(result.shape), result.layout) == ((6, 5), TILES)


def test_concat_of_shards(device: ttnn.MeshDevice) -> None:
    config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
    for layout in (TILES, ROWS):
        parts = [make((64, 64), ttnn.bfloat16, layout, device, seed, config) for seed in range(2)]
        for dim in (0, 1):
            result = ttnn.concat(parts, dim)
            np.testing.assert_array_equal(values_of(result), np.concatenate([values_of(part) for part in parts], dim))


@pytest.mark.parametrize(("dtype", "layout"), KINDS)
def test_repeat_stack_and_expand(dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    for shape in ((2, 32, 64), (2, 5, 33)):
        x = small(shape, dtype, layout, device)
        values = values_of(x)
        for counts in ((2, 1, 1), (1, 3, 2), (2, 2, 2), (3, 1, 1, 1)):
            np.testing.assert_array_equal(values_of(ttnn.repeat(x, counts)), np.tile(values, counts))
        for dim in range(3):
            interleaved = ttnn.repeat_interleave(x, 3, dim)
            np.testing.assert_array_equal(values_of(interleaved), np.repeat(values, 3, dim))
            np.testing.assert_array_equal(values_of(ttnn.stack([x, x], dim)), np.stack([values, values], dim))
    row = small((1, 1, 33), dtype, layout, device)
    expanded = ttnn.expand(row, [2, 40, -1])
    np.testing.assert_array_equal(values_of(expanded), np.broadcast_to(values_of(row), (2, 40, 33)))


def test_tensors_that_do_not_concatenate_raise_errors(device: ttnn.MeshDevice) -> None:
    x, y = (small(shape, ttnn.bfloat16, TILES, device) for shape in ((32, 32), (32, 64)))
    with pytest.raises(ttnn.ShapeError, match="differ in more than dimension 0"):
        ttnn.concat([x, y], 0)
    with pytest.raises(ttnn.ShapeError, match="dim=2 is out of range"):
        ttnn.concat([x, x], 2)
    with pytest.raises(ttnn.DTypeError, match="data types differ: BFLOAT16, FLOAT32"):
        ttnn.concat([x, ttnn.typecast(x, ttnn.float32)], 0)
    with pytest.raises(ttnn.ParameterError, match="no tensors to concatenate"):
        ttnn.concat([], 0)
    assert ttnn.repeat(x, [2]).shape == ttnn.Shape([32, 64])
    with pytest.raises(ttnn.ShapeError, match="does not expand"):
        ttnn.expand(x, [64, 32])


def held_on(part: ttnn.Tensor, cores: ttnn.CoreGrid, strategy: ttnn.ShardStrategy) -> ttnn.Tensor:
    return ttnn.to_memory_config(part, ttnn.create_sharded_memory_config(tuple(part.shape), cores, strategy))


def test_rows_in_shards_of_columns(device: ttnn.MeshDevice) -> None:
    sizes = (8, 7, 23)
    parts = [make((1, 1, size, 64), ttnn.bfloat16, ROWS, device, seed=size) for size in sizes]
    cores = ttnn.CoreGrid(y=4, x=1)
    held = [
        ttnn.to_memory_config(
            part, ttnn.create_sharded_memory_config(tuple(part.shape), cores, ttnn.ShardStrategy.WIDTH)
        )
        for part in parts
    ]
    place = ttnn.create_sharded_memory_config((1, 1, 38, 64), cores, ttnn.ShardStrategy.WIDTH)
    joined = ttnn.concat(held, 2, memory_config=place)
    np.testing.assert_array_equal(values_of(joined), np.concatenate([values_of(part) for part in parts], axis=2))
    assert joined.memory_config() == place


def test_groups_of_shards(device: ttnn.MeshDevice) -> None:
    a, b = make((1, 1, 256, 64), ttnn.bfloat16, TILES, device), make((1, 1, 256, 128), ttnn.bfloat16, TILES, device)
    cores = ttnn.CoreGrid(y=1, x=8)
    held = [
        ttnn.to_memory_config(
            part, ttnn.create_sharded_memory_config(tuple(part.shape), cores, ttnn.ShardStrategy.HEIGHT)
        )
        for part in (a, b)
    ]
    place = ttnn.create_sharded_memory_config((1, 1, 256, 192), cores, ttnn.ShardStrategy.HEIGHT)
    pieces = [part for pair in zip(*(np.split(values_of(x), 4, 3) for x in (a, b)), strict=True) for part in pair]
    joined = ttnn.concat(held, 3, groups=4, memory_config=place)
    np.testing.assert_array_equal(values_of(joined), np.concatenate(pieces, axis=3))
