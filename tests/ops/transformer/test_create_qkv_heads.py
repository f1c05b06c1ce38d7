"""Heads of projections in blocks of shards: copies, checked element by element."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT
HEADS = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1)


def _blocks(shape: tuple[int, ...], wide: int) -> ttnn.MemoryConfig:
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=shape[0], x=wide), ttnn.ShardStrategy.BLOCK)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize(("heads", "groups"), [(2, None), (4, 2)])
def test_block_sharded_heads_match_the_golden_function(
    heads: int, groups: int | None, transposed: bool, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    kv = groups or heads
    shape = (2, 1, 64, (heads + 2 * kv) * 32)
    x = make(shape, dtype, TILES, device, memory_config=_blocks(shape, 2))
    options = {"num_heads": heads, "num_kv_heads": groups, "transpose_k_heads": transposed}
    results = ttnn.experimental.create_qkv_heads(x, **options, memory_config=HEADS)
    for result, expected in zip(results, golden.create_qkv_heads(values_of(x), **options), strict=True):
        np.testing.assert_array_equal(values_of(result), expected)
        spec = result.memory_config().shard_spec
        assert spec is not None
        assert list(spec.shape) == [int(np.prod(expected.shape[:3])) // 4, expected.shape[3]]
    # The first query and the first key lie side by side in the first group.
    each = heads // kv
    np.testing.assert_array_equal(values_of(results[0])[:, 0], values_of(x)[:, 0, :, :32])
    first_key = values_of(x)[:, 0, :, each * 32 : (each + 1) * 32]
    keys = values_of(results[1])[:, 0]
    np.testing.assert_array_equal(keys.swapaxes(-1, -2) if transposed else keys, first_key)


@pytest.mark.parametrize("transposed", [True, False])
def test_separate_tensors_match_the_golden_function(transposed: bool, device: ttnn.MeshDevice) -> None:
    shapes = (2, 1, 64, 128), (2, 1, 96, 256)
    x, kv = (make(shape, ttnn.bfloat16, TILES, device, memory_config=_blocks(shape, 2)) for shape in shapes)
    options = {"num_heads": 4, "transpose_k_heads": transposed}
    results = ttnn.experimental.create_qkv_heads_from_separate_tensors(x, kv, **options, memory_config=HEADS)
    expected = golden.create_qkv_heads_from_separate_tensors(values_of(x), values_of(kv), **options)
    for result, reference in zip(results, expected, strict=True):
        np.testing.assert_array_equal(values_of(result), reference)
    np.testing.assert_array_equal(values_of(results[2])[:, 0], values_of(kv)[:, 0, :, 32:64])


def test_wrong_shards_and_head_numbers_raise(device: ttnn.MeshDevice) -> None:
    create, apart = ttnn.experimental.create_qkv_heads, ttnn.experimental.create_qkv_heads_from_separate_tensors
    shape = (2, 1, 64, 192)
    x = make(shape, ttnn.bfloat16, TILES, device, memory_config=_blocks(shape, 2))
    with pytest.raises(ttnn.MemoryConfigError, match="Operands to TM must be sharded"):
        create(make(shape, ttnn.bfloat16, TILES, device), num_heads=2)
    with pytest.raises(ttnn.MemoryConfigError, match="HEIGHT_SHARDED"):
        create(x, num_heads=2)
    with pytest.raises(ttnn.ParameterError, match="multiple of num_kv_heads=3"):
        create(x, num_heads=2, num_kv_heads=3, memory_config=HEADS)
    with pytest.raises(ttnn.ShapeError, match="do not divide into 12 heads"):
        create(x, num_heads=4, memory_config=HEADS)
    with pytest.raises(ttnn.ShapeError, match="Head dims must be equal in size"):
        apart(x, x, num_heads=2, memory_config=HEADS)
    tall = make((1, 1, 64, 192), ttnn.bfloat16, TILES, device, memory_config=_blocks(shape, 2))
    with pytest.raises(ttnn.ShapeError, match="Batch size 1 must be equal to num cores 2"):
        create(tall, num_heads=2, memory_config=HEADS)
