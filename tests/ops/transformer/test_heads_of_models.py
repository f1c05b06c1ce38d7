"""Heads in the sizes of models, and of single tokens in shards: copies, checked element by element."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT
GRID = ttnn.CoreCoord(8, 8)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_models(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
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


def rectangle(x: int, y: int, to_x: int, to_y: int) -> ttnn.CoreRangeSet:
    return ttnn.CoreRangeSet([ttnn.CoreRange((x, y), (to_x, to_y))])


def shards(cores: ttnn.CoreRangeSet, height: int, width: int, layout: str, buffer: str = "L1") -> ttnn.MemoryConfig:
    spec = ttnn.ShardSpec(cores, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), getattr(ttnn.BufferType, buffer), spec)


@pytest.mark.parametrize("overlap", [True, False, None])
@pytest.mark.parametrize("sharded", [True, False])
def test_heads_of_a_token(sharded: bool, overlap: bool | None, device: ttnn.MeshDevice) -> None:
    place = shards(rectangle(0, 0, 7, 0), 32, 64, "WIDTH_SHARDED") if sharded else None
    x = make((1, 1, 5, 8 * 64), ttnn.bfloat16, TILES, device)
    x = x if place is None else ttnn.to_memory_config(x, place)
    options = {"num_heads": 4, "num_kv_heads": 2}
    parts = ttnn.experimental.nlp_create_qkv_heads_decode(x, overlap_qk_coregrid=overlap, **options)
    for part, expected in zip(parts, golden.nlp_create_qkv_heads_decode(values_of(x), **options), strict=True):
        np.testing.assert_array_equal(values_of(part), expected)
        assert part.memory_config().memory_layout is ttnn.TensorMemoryLayout.HEIGHT_SHARDED
        assert part.memory_config().shard_spec.num_cores() == 5
    query, key, value = (part.memory_config().shard_spec.grid for part in parts)
    assert query == value == rectangle(0, 0, 4, 0)
    # Only the program of sharded inputs has keys in cores of their own.
    assert (query == key) is not (sharded and overlap is False)
    joined = ttnn.experimental.nlp_concat_heads_decode(parts[0], num_heads=4)
    np.testing.assert_array_equal(values_of(joined)[:, :, :5], values_of(x)[..., :256])
    assert not values_of(joined)[:, :, 5:].any()
    offset = ttnn.Tensor([2], [1], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
    some = ttnn.experimental.nlp_create_qkv_heads_decode(x, batch_offset=offset, slice_size=3, **options)
    for part, whole in zip(some, parts, strict=True):
        np.testing.assert_array_equal(values_of(part), values_of(whole)[:, 2:])


ANY_PLACE = {
    "DRAM": ttnn.DRAM_MEMORY_CONFIG,
    "L1": ttnn.L1_MEMORY_CONFIG,
    "shards without cores": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
    "another sharding without cores": ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
}


@pytest.mark.parametrize("place", ANY_PLACE.values(), ids=ANY_PLACE)
def test_a_token_ignores_memory_config_without_cores(place: ttnn.MemoryConfig, device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 32, 1152), ttnn.bfloat16, TILES, device)
    options = {"num_heads": 16, "num_kv_heads": 1}
    parts = ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=place, **options)
    for part, expected in zip(parts, golden.nlp_create_qkv_heads_decode(values_of(x), **options), strict=True):
        np.testing.assert_array_equal(values_of(part), expected)
        assert part.memory_config() == shards(rectangle(0, 0, 7, 3), 32, 64, "HEIGHT_SHARDED")


@pytest.mark.parametrize("layout", ["HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED"])
def test_a_token_is_in_the_cores_of_memory_config(layout: str, device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 5, 512), ttnn.bfloat16, TILES, device)
    options = {"num_heads": 4, "num_kv_heads": 2}
    place = shards(rectangle(1, 2, 4, 4), 96, 32, layout, "L1" if layout == "BLOCK_SHARDED" else "DRAM")
    for part in ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=place, **options):
        config = part.memory_config()
        assert (config.memory_layout.name, config.buffer_type.name) == ("HEIGHT_SHARDED", "L1")
        assert config.shard_spec.shape == [32, 64]
        assert config.shard_spec.grid == ttnn.CoreRangeSet(
            [ttnn.CoreRange((1, 2), (4, 2)), ttnn.CoreRange((1, 3), (1, 3))]
        )
    few = shards(rectangle(0, 0, 3, 0), 32, 64, "HEIGHT_SHARDED")
    with pytest.raises(ttnn.MemoryConfigError, match="5 users need a core each; the shards of memory_config have 4"):
        ttnn.experimental.nlp_create_qkv_heads_decode(x, memory_config=few, **options)


@pytest.mark.parametrize("place", ANY_PLACE.values(), ids=ANY_PLACE)
def test_joined_heads_and_slices_of_a_cache_ignore_memory_config(
    place: ttnn.MemoryConfig, device: ttnn.MeshDevice
) -> None:
    users = make((1, 5, 4, 64), ttnn.bfloat16, TILES, device)
    users = ttnn.to_memory_config(users, shards(rectangle(0, 0, 4, 0), 32, 64, "HEIGHT_SHARDED"))
    joined = ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, memory_config=place)
    assert joined.memory_config() == shards(rectangle(0, 0, 3, 0), 32, 64, "WIDTH_SHARDED")
    np.testing.assert_array_equal(values_of(joined)[0, 0, :5], values_of(users).reshape(5, 256))
    cache = make((2, 3, 128, 64), ttnn.bfloat16, TILES, device)
    part = ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=32, seq_len_end=96, memory_config=place)
    assert part.memory_config() == shards(rectangle(0, 0, 5, 0), 64, 64, "HEIGHT_SHARDED")
    np.testing.assert_array_equal(values_of(part), values_of(cache)[:, :, 32:96])


def test_joined_heads_are_in_sub_core_grids_from_the_first_core_of_the_input_on(device: ttnn.MeshDevice) -> None:
    users = make((1, 2, 4, 64), ttnn.bfloat16, TILES, device)
    users = ttnn.to_memory_config(users, shards(rectangle(2, 1, 3, 1), 32, 64, "HEIGHT_SHARDED"))
    among = rectangle(1, 0, 3, 3)
    joined = ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, sub_core_grids=among)
    assert joined.memory_config().shard_spec.grid == ttnn.CoreRangeSet(
        [ttnn.CoreRange((2, 1), (3, 1)), ttnn.CoreRange((1, 2), (2, 2))]
    )
    np.testing.assert_array_equal(values_of(joined)[0, 0, :2], values_of(users).reshape(2, 256))
    with pytest.raises(ttnn.MemoryConfigError, match="sub_core_grids has 2 cores for 4 heads"):
        ttnn.experimental.nlp_concat_heads_decode(users, num_heads=4, sub_core_grids=rectangle(2, 1, 3, 1))


def test_rows_of_a_cache(device: ttnn.MeshDevice) -> None:
    cache = make((2, 3, 128, 64), ttnn.bfloat16, TILES, device)
    part = ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=32, seq_len_end=96)
    np.testing.assert_array_equal(values_of(part), values_of(cache)[:, :, 32:96])
    assert part.memory_config().shard_spec.shape == [64, 64]
    with pytest.raises(ttnn.ParameterError, match="begin and end with tiles"):
        ttnn.experimental.nlp_kv_cache_load_slice(cache, seq_len_start=0, seq_len_end=40)


def test_blocks_hold_two_heads_of_each_kind(device: ttnn.MeshDevice) -> None:
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


def test_comparison_mode_knows_the_columns_of_blocks(device: ttnn.MeshDevice) -> None:
    shape = (2, 64, 3 * 4 * 32)
    blocks = ttnn.create_sharded_memory_config(
        shape, core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.BLOCK
    )
    x = ttnn.to_memory_config(make(shape, ttnn.bfloat16, TILES, device), blocks)
    options = {"num_heads": 4, "memory_config": ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG}
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ):
        ttnn.transformer.split_query_key_value_and_split_heads(x, **options)
        x = ttnn.reshape(x, (2, 1, 64, 3 * 4 * 32))
        ttnn.experimental.split_query_key_value_and_split_heads(x, GRID, **options)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
@pytest.mark.parametrize(("heads", "groups"), [(16, 1), (8, 4), (12, 12)])
@pytest.mark.parametrize("apart", [False, True])
def test_shards_of_a_projection_have_a_group_each(
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
