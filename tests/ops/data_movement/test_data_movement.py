"""Data movement, layout, placement and creation beyond the generated tests."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, make, raw_of, values_of

TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
# Denormal, -0, NaN, infinities, largest and smallest normal number.
SPECIALS = np.array([0x0001, 0x8000, 0x7FC1, 0xFFC0, 0x7F80, 0xFF80, 0x7F7F, 0x0080, 0x8080, 0x3F80], np.uint16)


def _bits(words: np.ndarray, layout: ttnn.Layout, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a bfloat16 device tensor of words, in rows or tiles.

    Tiles are padded with zeros.
    """
    rows = ttnn.Tensor._on_host(
        ttnn.TensorSpec(words.shape, ttnn.bfloat16, ROWS), np.ascontiguousarray(words).view(np.uint8).reshape(-1)
    )
    return rows.to(layout).to(device)


def _words(tensor: ttnn.Tensor) -> np.ndarray:
    return raw_of(tensor.cpu().to(ROWS)).view(np.uint16).reshape(tuple(tensor.shape))


def test_layout_changes_pass_through_dst(device: ttnn.MeshDevice) -> None:
    words = SPECIALS[None, :]
    flushed = np.array([[0, 0, 0x7F80, 0xFF80, 0x7F80, 0xFF80, 0x7F7F, 0x0080, 0x8080, 0x3F80]], np.uint16)
    tiles = ttnn.to_layout(_bits(words, ROWS, device), TILE)
    np.testing.assert_array_equal(_words(tiles), flushed)
    rows = ttnn.untilize(_bits(words, TILE, device))
    np.testing.assert_array_equal(_words(rows), flushed)


def test_moves_keep_bits(device: ttnn.MeshDevice) -> None:
    words = np.tile(SPECIALS, (6, 1))
    for layout in (TILE, ROWS):
        x = _bits(words, layout, device)
        np.testing.assert_array_equal(_words(ttnn.reshape(x, (10, 6))), words.reshape(10, 6))
        np.testing.assert_array_equal(_words(ttnn.pad(x, [(0, 2), (0, 1)], 1.0))[:6, :10], words)
        np.testing.assert_array_equal(_words(ttnn.clone(x)), words)
        np.testing.assert_array_equal(_words(ttnn.slice(x, [0, 0], [3, 10])), words[:3])
    rows = _bits(words, ROWS, device)
    np.testing.assert_array_equal(_words(ttnn.slice(rows, [1, 1], [6, 10], [2, 3])), words[1:6:2, 1:10:3])


def test_float32_and_integers_keep_bits_everywhere(device: ttnn.MeshDevice) -> None:
    words = np.random.default_rng(0).integers(0, 2**32, size=(33, 40), dtype=np.uint32)
    for dtype in (ttnn.float32, ttnn.int32, ttnn.uint32):
        host = ttnn.Tensor._on_host(ttnn.TensorSpec(words.shape, dtype, ROWS), words.view(np.uint8).reshape(-1))
        x = host.to(device)
        for moved, expected in (
            (ttnn.to_layout(ttnn.to_layout(x, TILE), ROWS), words),
            (ttnn.untilize(ttnn.transpose(ttnn.to_layout(x, TILE), 0, 1)), words.T),
            (ttnn.permute(x, (1, 0)), words.T),
        ):
            np.testing.assert_array_equal(raw_of(moved).view(np.uint32).reshape(expected.shape), expected)


def test_padding_values(device: ttnn.MeshDevice) -> None:
    x = make((3, 5), ttnn.bfloat16, ROWS, device)
    for tiles in (ttnn.tilize_with_val_padding(x, [32, 32], 7.0), ttnn.to_layout(x, TILE, pad_value=7.0)):
        padded = tiles.cpu().to_torch_with_padded_shape().float().numpy()
        assert padded.shape == (32, 32)
        np.testing.assert_array_equal(padded[:3, :5], values_of(x))
        assert np.all(padded[3:] == 7)
        assert np.all(padded[:, 5:] == 7)
    assert ttnn.tilize_with_zero_padding(x).padded_shape == [32, 32]


def test_unpadding(device: ttnn.MeshDevice) -> None:
    x = make((2, 40, 50), ttnn.bfloat16, TILE, device)
    rows = ttnn.untilize_with_unpadding(x, [0, 30, 9])
    assert rows.layout == ROWS
    np.testing.assert_array_equal(values_of(rows), values_of(x)[:1, :31, :10])


def test_views_share_memory(device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 32, 64), ttnn.bfloat16, TILE, device)
    y = ttnn.reshape(x, (1, 1, -1, 64))
    assert y.buffer_address() == x.buffer_address()
    assert ttnn.view(x, (6, 32, 64)).buffer_address() == x.buffer_address()
    assert ttnn.squeeze(ttnn.unsqueeze(x, 0), 0).buffer_address() == x.buffer_address()
    assert ttnn.unsqueeze_to_4D(x) is x
    moved = ttnn.reshape(make((2, 3, 5), ttnn.bfloat16, TILE, device), (6, 5))
    assert moved.shape == [6, 5]
    assert moved.padded_shape == [32, 32]


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
def test_block_floats_are_regrouped(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    # Powers of two in one row survive any regrouping with zeros and their equals.
    values = np.where(np.arange(64 * 64).reshape(64, 64) % 3 == 0, 0.5, 0.0).astype(np.float32)
    x = ttnn.Tensor(values, dtype, device, TILE)
    for result, expected in (
        (ttnn.transpose(x, 0, 1), values.T),
        (ttnn.reshape(x, (32, 128)), values.reshape(32, 128)),
        (ttnn.slice(x, [1, 1], [64, 64]), values[1:, 1:]),
        (ttnn.untilize(x), values),
    ):
        np.testing.assert_array_equal(values_of(result), expected)
    assert ttnn.untilize(x).dtype == ttnn.bfloat16
    assert ttnn.reshape(x, (32, 128)).dtype == dtype


@pytest.mark.parametrize("shape", [(64, 32), (40, 20)])
def test_block_floats_leave_tiles_through_dst(shape: tuple[int, int], device: ttnn.MeshDevice) -> None:
    """In rows, the largest exponent is infinite, subnormals are 0.

    It is the largest shared exponent.
    """
    tiles = np.random.default_rng(7).integers(0, 256, (2, 1088), np.uint8)
    tiles[:, :64] = tiles[:, :64] % 8 - 4
    x = from_raw(tiles, shape, ttnn.bfloat8_b, device)
    rows = _words(ttnn.untilize(x))
    np.testing.assert_array_equal(rows, _words(ttnn.typecast(x, ttnn.bfloat16)))
    cut = ttnn.untilize_with_unpadding(x, [shape[0] - 3, shape[1] - 2])
    np.testing.assert_array_equal(_words(cut), rows[:-2, :-1])
    infinite, small = (rows & 0x7F80) == 0x7F80, (rows & 0x7F80) == 0
    assert infinite.any()
    assert small.any()
    assert not (rows[infinite] & 0x7F).any()
    assert not rows[small].any()


SHARDS = [
    ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy.HEIGHT),
    ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=1, x=2), ttnn.ShardStrategy.WIDTH),
    ttnn.create_sharded_memory_config((128, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK),
    ttnn.create_sharded_memory_config(
        (128, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.COL_MAJOR
    ),
]
IN_ROWS = (ttnn.bfloat16, ttnn.float32, ttnn.uint32)
PLACED = [(TILE, dtype) for dtype in (*IN_ROWS, ttnn.bfloat8_b)] + [(ROWS, dtype) for dtype in IN_ROWS]


@pytest.mark.parametrize(("layout", "dtype"), PLACED)
def test_tensors_move_between_shardings_unchanged(
    device: ttnn.MeshDevice, layout: ttnn.Layout, dtype: ttnn.DataType
) -> None:
    x = make((2, 64, 64), dtype, layout, device)
    expected = values_of(x)
    for first in SHARDS:
        sharded = ttnn.interleaved_to_sharded(x, first)
        assert sharded.memory_config() == first
        np.testing.assert_array_equal(values_of(sharded), expected)
        for second in SHARDS:
            again = ttnn.reshard(sharded, second)
            assert again.memory_config() == second
            np.testing.assert_array_equal(values_of(again), expected)
        back = ttnn.sharded_to_interleaved(sharded, ttnn.L1_MEMORY_CONFIG)
        assert back.memory_config() == ttnn.L1_MEMORY_CONFIG
        np.testing.assert_array_equal(values_of(back), expected)
    assert ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) is x


def test_sharding_by_parts(device: ttnn.MeshDevice) -> None:
    x = make((64, 64), ttnn.bfloat16, TILE, device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1))])
    for grid in (cores, ttnn.CoreCoord(1, 2)):
        sharded = ttnn.interleaved_to_sharded(
            x, grid, [32, 64], ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR, ttnn.float32
        )
        assert sharded.dtype == ttnn.float32
        assert sharded.memory_config().shard_spec == ttnn.ShardSpec(cores, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
        np.testing.assert_array_equal(values_of(sharded), values_of(x))


def test_move_copy_assign(device: ttnn.MeshDevice) -> None:
    x = make((40, 50), ttnn.bfloat16, TILE, device)
    expected = values_of(x)
    moved = ttnn.move(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert not x.is_allocated()
    np.testing.assert_array_equal(values_of(moved), expected)
    target = ttnn.zeros((40, 50), ttnn.float32, TILE, device)
    assert ttnn.copy(moved, target) is target
    np.testing.assert_array_equal(values_of(target), expected)
    assigned = ttnn.assign(moved, memory_config=ttnn.DRAM_MEMORY_CONFIG, dtype=ttnn.float32)
    np.testing.assert_array_equal(values_of(assigned), expected)
    other = ttnn.zeros((40, 50), ttnn.bfloat16, TILE, device)
    assert ttnn.assign(moved, other) is other
    np.testing.assert_array_equal(values_of(other), expected)
    assert ttnn.clone(moved, dtype=ttnn.float32).dtype == ttnn.float32


def test_typecast_to_block_floats_is_precise(device: ttnn.MeshDevice) -> None:
    # Seven significant bits next to the exponent of 1: the sixth-bit step of an ordinary pack would round them.
    values = np.full((32, 32), 1 + 1 / 64, np.float32)
    x = ttnn.Tensor(values, ttnn.bfloat16, device, TILE)
    np.testing.assert_array_equal(values_of(ttnn.typecast(x, ttnn.bfloat8_b)), values)
    back = ttnn.typecast(ttnn.typecast(x, ttnn.float32), ttnn.bfloat16)
    np.testing.assert_array_equal(raw_of(back), raw_of(x))
    host = ttnn.typecast(ttnn.zeros((2, 3)), ttnn.float32)
    assert (host.dtype, host.storage_type()) == (ttnn.float32, ttnn.StorageType.HOST)


def test_indexing_runs_slices(device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 40, 50), ttnn.bfloat16, TILE, device)
    values = values_of(x)
    np.testing.assert_array_equal(values_of(x[0]), values[0])
    np.testing.assert_array_equal(values_of(x[..., 3:7]), values[..., 3:7])
    np.testing.assert_array_equal(values_of(x[:, 1, ::2, -5:]), values[:, 1, ::2, -5:])
    starts, ends = (ttnn.Tensor(np.array(v, np.uint32), device=device) for v in ([0, 1, 0, 0], [2, 3, 40, 50]))
    np.testing.assert_array_equal(values_of(ttnn.slice(x, starts, ends)), values[:, 1:])
