"""Attention heads, model sizes and shards: element-wise checked copies."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.comparison_mode import agrees_with_golden
from testkit.operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT
GRID = ttnn.CoreCoord(8, 8)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_heads_of_one_model_match_the_golden_function(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    falcon = make((2, 1, 64, 4672), dtype, TILES, device)
    vit = make((2, 1, 40, 2304), dtype, TILES, device)
    bert = make((2, 1, 64, 1536), dtype, TILES, device)
    for results, expected in (
        (
            ttnn.experimental.nlp_create_qkv_heads_falcon7b(falcon),
            golden.nlp_create_qkv_heads_falcon7b(values_of(falcon)),
        ),
        (ttnn.experimental.nlp_create_qkv_heads_vit(vit), golden.nlp_create_qkv_heads_vit(values_of(vit))),
        (
            ttnn.experimental.split_query_key_value_and_split_heads(bert, GRID),
            golden.experimental_split_heads(values_of(bert)),
        ),
    ):
        for number, (result, values) in enumerate(zip(results, expected, strict=True)):
            # Keys that are transposed are grouped anew.
            loose = dtype is ttnn.bfloat8_b and number == 1
            np.testing.assert_allclose(values_of(result), values, atol=0.05 if loose else 0)
    joined = ttnn.experimental.concatenate_heads(ttnn.experimental.nlp_create_qkv_heads_vit(vit)[0], GRID)
    np.testing.assert_array_equal(values_of(joined), values_of(vit)[..., :768])
    with pytest.raises(ttnn.ShapeError, match="4672"):
        ttnn.experimental.nlp_create_qkv_heads_falcon7b(vit)


def test_block_shards_have_two_heads_of_each_kind_per_core(device: ttnn.MeshDevice) -> None:
    shape = (2, 1, 64, 3 * 4 * 32)
    there = make(shape, ttnn.bfloat16, TILES, device)
    blocks = ttnn.create_sharded_memory_config(
        shape, core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.BLOCK
    )
    options = {"num_heads": 4, "memory_config": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG}
    split = ttnn.experimental.split_query_key_value_and_split_heads
    parts = split(ttnn.to_memory_config(there, blocks), GRID, **options)
    columns = values_of(there)[:, 0].reshape(2, 64, 2, 6, 32).transpose(0, 2, 3, 1, 4)
    for first, part in enumerate(parts):
        heads = columns[:, :, 2 * first : 2 * first + 2].reshape(2, 4, 64, 32)
        np.testing.assert_array_equal(values_of(part), heads.swapaxes(-1, -2) if first == 1 else heads)
        assert tuple(part.memory_config().shard_spec.shape) == ((64, 64) if first == 1 else (128, 32))
    odd = ttnn.create_sharded_memory_config(
        (2, 1, 64, 3 * 3 * 32), core_grid=ttnn.CoreGrid(y=2, x=3), strategy=ttnn.ShardStrategy.BLOCK
    )
    x = ttnn.to_memory_config(make((2, 1, 64, 3 * 3 * 32), ttnn.bfloat16, TILES, device), odd)
    with pytest.raises(ttnn.ShapeError, match="num_heads=3 of shards must be a multiple of 2"):
        split(x, GRID, num_heads=3, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)


def test_comparison_mode_accepts_block_shards(device: ttnn.MeshDevice) -> None:
    shape = (2, 64, 3 * 4 * 32)
    blocks = ttnn.create_sharded_memory_config(
        shape, core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.BLOCK
    )
    x = ttnn.to_memory_config(make(shape, ttnn.bfloat16, TILES, device), blocks)
    options = {"num_heads": 4, "memory_config": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG}
    agrees_with_golden(lambda: ttnn.transformer.split_query_key_value_and_split_heads(x, **options), 0.9999)
    y = ttnn.reshape(x, (2, 1, 64, 3 * 4 * 32))
    agrees_with_golden(lambda: ttnn.experimental.split_query_key_value_and_split_heads(y, GRID, **options), 0.9999)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
@pytest.mark.parametrize(("heads", "groups"), [(16, 1), (8, 4), (12, 12)])
@pytest.mark.parametrize("apart", [False, True])
def test_width_shards_have_one_group_of_heads_each(
    dtype: ttnn.DataType, heads: int, groups: int, apart: bool, device: ttnn.MeshDevice
) -> None:
    grid = device.compute_with_storage_grid_size()

    def sharded(parts: int, seed: int) -> ttnn.Tensor:
        cores = ttnn.num_cores_to_corerangeset(groups, grid, row_wise=True)
        spec = ttnn.ShardSpec(cores, [32, parts * 64], ttnn.ShardOrientation.ROW_MAJOR)
        place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1, spec)
        return ttnn.to_memory_config(make((1, 1, 32, groups * parts * 64), dtype, TILES, device, seed=seed), place)

    each = heads // groups
    x = sharded(each if apart else each + 2, 0)
    others = sharded(2, 1) if apart else None
    options = {"num_heads": heads, "num_kv_heads": groups}
    create, place = ttnn.experimental.nlp_create_qkv_heads, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    results = create(x, others, transpose_k_heads=False, memory_config=place, **options)
    # A group is the queries of a core, its keys and its values.
    columns = values_of(x)[0, 0].reshape(32, groups, -1, 64)
    rest = columns[:, :, each:] if others is None else values_of(others)[0, 0].reshape(32, groups, 2, 64)
    expected = (columns[:, :, :each].reshape(32, heads, 64), rest[:, :, 0], rest[:, :, 1])
    given = () if others is None else (values_of(others),)
    references = golden.nlp_create_heads_of_shards(values_of(x), *given, **options)
    for result, values, reference in zip(results, expected, references, strict=True):
        np.testing.assert_array_equal(values_of(result)[0], values.swapaxes(0, 1))
        np.testing.assert_array_equal(reference[0], values.swapaxes(0, 1))
        count = values.shape[1]
        cores = ttnn.num_cores_to_corerangeset(count, grid, row_wise=True)
        assert result.memory_config().shard_spec == ttnn.ShardSpec(cores, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
    with pytest.raises(ttnn.ParameterError, match="transpose_k_heads=False"):
        create(x, others, memory_config=place, **options)
    with pytest.raises(ttnn.MemoryConfigError, match="by height or in blocks"):
        create(x, others, transpose_k_heads=False, **options)
