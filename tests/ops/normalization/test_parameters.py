"""Masks, factors and shards of group norm, and reciprocals of layer norm."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of


@pytest.mark.parametrize(
    ("channels", "groups", "cores"), [(64, 2, 1), (320, 32, 4), (96, 8, 1), (480, 8, 2), (1280, 32, 8)]
)
def test_masks_mark_the_columns_of_a_group(channels: int, groups: int, cores: int) -> None:
    mask = values_of(ttnn.create_group_norm_input_mask(channels, groups, cores, ttnn.bfloat16))
    columns = channels // groups
    assert mask.shape[:3] == (1, groups, 32)
    assert (mask == mask[:, :, :1]).all()
    for group in range(groups):
        marked = np.flatnonzero(mask[0, group, 0])
        # Where the group begins in the first tile that it touches on its core.
        first = group % (groups // cores) * columns % 32
        assert marked.tolist() == list(range(first, first + columns))
    negative = values_of(ttnn.create_group_norm_input_negative_mask(channels, groups, cores, ttnn.bfloat16))
    np.testing.assert_array_equal(negative, 1 - mask)
    with pytest.raises(ttnn.ParameterError, match="must divide"):
        ttnn.create_group_norm_input_mask(channels, 7, cores, ttnn.bfloat16)


def test_factors_of_cores() -> None:
    torch = pytest.importorskip("torch")
    rows = ttnn.create_group_norm_weight_bias_rm(torch.arange(1, 97.0), 96, 2)
    assert tuple(rows.shape) == (1, 1, 4, 32)
    flat = rows.reshape(2, 64)
    assert flat[:, :48].flatten().tolist() == list(range(1, 97))
    assert not flat[:, 48:].any()


def test_parameters_on_the_device(device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    weight, bias = torch.randn(64), torch.randn(64)
    found, mask = ttnn.dram_group_norm_params_from_torch([weight, bias], 64, 4, device)
    assert [tuple(tensor.shape) for tensor in found] == [(1, 1, 2, 32)] * 2
    assert tuple(mask.shape) == (1, 4, 32, 32)
    one = ttnn.dram_group_norm_params_from_torch(weight, 64, 4, device, return_mask=False)
    np.testing.assert_array_equal(values_of(one), values_of(found[0]))


def test_reciprocals(device: ttnn.MeshDevice) -> None:
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    table = ttnn.create_layer_norm_reciprocals(device, cores, 5)
    np.testing.assert_array_equal(values_of(table), np.tile(np.float32(1) / np.arange(1, 6, dtype=np.float32), (4, 1)))
    assert table.memory_config().shard_spec.shape == [1, 5]


@pytest.mark.parametrize("by_height", [False, True])
def test_shards_hold_all_pixels_and_channels(by_height: bool, device: ttnn.MeshDevice) -> None:
    config, grid = ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
        device=device, num_channels=320, num_groups=32, input_nhw=2048, is_height_sharded=by_height, is_row_major=True
    )
    rows, columns = config.shard_spec.shape
    assert columns * (1 if by_height else grid.x) == 320
    assert rows * (grid.x * grid.y if by_height else grid.y) == 2048
    assert columns % 10 == 0


def test_columns_of_cores_divide_the_groups_too(device: ttnn.MeshDevice) -> None:
    """320 channels are 5 full-tile columns, but split 32 groups."""
    torch = pytest.importorskip("torch")
    cores = ttnn.CoreGrid(x=8, y=8)
    found, mask = ttnn.dram_group_norm_params_from_torch(torch.ones(320), 320, 32, device, core_grid=cores)
    assert tuple(found.shape) == (1, 1, 10, 32)
    assert tuple(mask.shape)[:2] == (1, 32)


def test_grids_of_interleaved_group_norms(device: ttnn.MeshDevice) -> None:
    """Each grid divides tile rows among cores, maximally."""
    limit = device.compute_with_storage_grid_size()
    find = ttnn.determine_expected_group_norm_dram_grid_size

    def fits(wide: int, high: int, channels: int, groups: int, tiles: int) -> bool:
        columns = next((n for n in range(min(wide, groups), 0, -1) if channels // n % 32 == 0 and groups % n == 0), 0)
        return bool(columns) and wide >= columns and tiles % (wide // columns * high) == 0

    for channels, groups, pixels in ((320, 32, 4096), (96, 3, 1000), (640, 32, 32), (128, 32, 7 * 32)):
        grid = find(device=device, num_channels=channels, num_groups=groups, input_nhw=pixels)
        tiles = -(-pixels // 32)
        assert fits(grid.x, grid.y, channels, groups, tiles)
        larger = [(x, y) for x in range(grid.x, limit.x + 1) for y in range(1, limit.y + 1)]
        larger = [(x, y) for x, y in larger if x > grid.x or y > grid.y]
        assert not any(fits(x, y, channels, groups, tiles) for x, y in larger)
    with pytest.raises(ttnn.ParameterError, match="5 groups"):
        find(device=device, num_channels=96, num_groups=5, input_nhw=32)


def test_cores_across_channels() -> None:
    across, layouts, grid = ttnn.get_group_norm_cores_across_channel, ttnn.TensorMemoryLayout, ttnn.CoreGrid(y=3, x=5)
    assert across(layouts.HEIGHT_SHARDED, grid) == 1
    assert across(layouts.INTERLEAVED, grid) == 15
    assert (
        across(layouts.BLOCK_SHARDED, grid) == across(layouts.BLOCK_SHARDED, grid, ttnn.ShardOrientation.COL_MAJOR) == 3
    )
    assert across(layouts.BLOCK_SHARDED, grid, ttnn.ShardOrientation.ROW_MAJOR) == 5


def test_program_configuration_of_shards() -> None:
    create = ttnn.create_layernorm_program_config
    assert create() == ttnn.LayerNormDefaultProgramConfig()
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(1, 2), ttnn.CoreCoord(4, 3))})
    config = create(ttnn.ShardSpec(cores, [64, 128], ttnn.ShardOrientation.ROW_MAJOR))
    assert (config.block_h, config.block_w, config.subblock_w, config.inplace) == (2, 4, 1, False)
    assert config.compute_with_storage_grid_size == ttnn.CoreCoord(4, 2)
