"""Rows and tiles: wide shards, remaining shards, earlier arguments.

Shards may be wider than the tensor.
"""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def shards(height: int, width: int, cores: int) -> ttnn.MemoryConfig:
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, cores - 1))])
    spec = ttnn.ShardSpec(grid, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def test_rows_narrower_than_their_shards(device: ttnn.MeshDevice) -> None:
    x = make((101, 51), ttnn.bfloat16, ROWS, device)
    held = ttnn.to_memory_config(x, shards(64, 64, 2))
    assert tuple(held.padded_shape) == (101, 64)
    np.testing.assert_array_equal(values_of(held), values_of(x))
    back = ttnn.to_memory_config(held, ttnn.DRAM_MEMORY_CONFIG)
    assert tuple(back.padded_shape) == (101, 51)
    np.testing.assert_array_equal(values_of(back), values_of(x))
    with pytest.raises(ttnn.MemoryConfigError, match="must match physical width"):
        ttnn.to_memory_config(x, shards(64, 48, 2))


def test_unpadded_shards_are_divided_anew(device: ttnn.MeshDevice) -> None:
    place = shards(64, 64, 2)
    x = ttnn.to_memory_config(make((1, 1, 128, 64), ttnn.bfloat16, TILES, device), place)
    result = ttnn.untilize_with_unpadding(x, [0, 0, 60, 50], memory_config=place)
    np.testing.assert_array_equal(values_of(result), values_of(x)[:, :, :61, :51])
    assert result.memory_config().shard_spec.shape == [32, 51]


def test_arguments_of_earlier_versions(device: ttnn.MeshDevice) -> None:
    x = make((64, 96), ttnn.bfloat16, TILES, device)
    for packed in (False, True):
        np.testing.assert_array_equal(values_of(ttnn.untilize(x, use_pack_untilize=packed)), values_of(x))
        cut = ttnn.untilize_with_unpadding(x, [40, 50], use_multicore=True, use_pack_untilize=packed)
        np.testing.assert_array_equal(values_of(cut), values_of(x)[:41, :51])


def test_slices_named_by_tensors(device: ttnn.MeshDevice) -> None:
    x = make((1, 2, 128, 64), ttnn.bfloat16, TILES, device)

    def named(values: list[int]) -> ttnn.Tensor:
        return ttnn.Tensor(np.array(values, np.int32), ttnn.int32, device=device, layout=ROWS)

    start, end = named([0, 0, 64, 0]), named([1, 2, 96, 64])
    result = ttnn.slice(x, start, end, slice_dim=2, num_devices=4)
    np.testing.assert_array_equal(values_of(result), values_of(x)[:, :, 64:96])
    with pytest.raises(ttnn.ParameterError, match="go together"):
        ttnn.slice(x, start, end, slice_dim=2)
    with pytest.raises(ttnn.ShapeError, match="evenly divisible"):
        ttnn.slice(x, start, end, slice_dim=2, num_devices=3)
    with pytest.raises(ttnn.ShapeError, match="out of range"):
        ttnn.slice(x, start, end, slice_dim=4, num_devices=4)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize(("shape", "padded"), [((3, 5), (64, 96)), ((2, 3, 33, 40), (4, 3, 64, 128))])
def test_tiles_may_be_padded_further(
    shape: tuple[int, ...], padded: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    rows = make(shape, dtype, ROWS, device)
    tiles = ttnn.tilize_with_val_padding(rows, padded, 7)
    assert (tuple(tiles.shape), tuple(tiles.padded_shape)) == (shape, padded)
    values = rows.to_numpy()
    inside = tuple(map(slice, shape))
    expected = np.full(padded, 7, values.dtype)
    expected[inside] = values
    for tensor in (tiles, tiles.cpu(), tiles.cpu().to(device)):
        assert np.array_equal(tensor.cpu().to_torch_with_padded_shape().float().numpy(), expected.astype(np.float32))
        assert np.array_equal(tensor.to_numpy(), values)
    for back in (ttnn.untilize(tiles), ttnn.to_layout(tiles, ROWS)):
        assert np.array_equal(back.to_numpy(), values)
    ends = [size - 1 for size in padded]
    assert np.array_equal(ttnn.untilize_with_unpadding(tiles, ends).to_numpy(), expected)
    for refused in (
        lambda: ttnn.relu(tiles),
        lambda: ttnn.add(ttnn.to_layout(rows, TILES), tiles),
        lambda: ttnn.slice(tiles, [0] * len(shape), shape),
        lambda: tiles + 1,
    ):
        with pytest.raises(ttnn.UnsupportedError, match="further than to full tiles"):
            refused()


@pytest.mark.parametrize("height", [49, 8])
def test_shards_that_name_no_cores_are_those_of_the_input(height: int, device: ttnn.MeshDevice) -> None:
    cores, layout = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (7, 3))]), ttnn.TensorMemoryLayout.WIDTH_SHARDED
    spec = ttnn.ShardSpec(cores, [8 * height, 64], ttnn.ShardOrientation.COL_MAJOR)
    place, unnamed = (ttnn.MemoryConfig(layout, ttnn.BufferType.L1, *given) for given in ((spec,), ()))
    rows = ttnn.to_memory_config(make((8, 1, height, 2048), ttnn.bfloat16, ROWS, device), place)
    full = -(-height // 32) * 32
    tiles = ttnn.tilize_with_val_padding(rows, [8, 1, full, 2048], 1.0, memory_config=unnamed)
    assert tiles.memory_config().shard_spec == ttnn.ShardSpec(cores, [8 * full, 64], spec.orientation)
    np.testing.assert_array_equal(values_of(tiles), values_of(rows))
    further = ttnn.tilize_with_val_padding(rows, [8, 1, full + 32, 2048], 1.0, memory_config=unnamed)
    assert further.memory_config().shard_spec.shape == [8 * (full + 32), 64]
    back = ttnn.untilize_with_unpadding(tiles, [7, 0, height - 1, 2047], memory_config=unnamed)
    assert back.memory_config().shard_spec == spec
    np.testing.assert_array_equal(values_of(back), values_of(rows))
    with pytest.raises(ttnn.MemoryConfigError, match="names no cores"):
        ttnn.tilize_with_val_padding(rows, [8, 1, full, 2048], 1.0, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
