"""Token pair, 32-column and halved heads: element-wise checked copies."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import transformer as golden

TILES = ttnn.TILE_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_boltz_heads_match_the_golden_function(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((1, 32, 32, 256), dtype, TILES, device)
    create = ttnn.experimental.nlp_create_qkv_heads_boltz
    query, key, value = create(x, num_heads=2, num_kv_heads=1, transpose_k_heads=False)
    columns = values_of(x)[0].reshape(32, 32, 4, 64).transpose(2, 0, 1, 3)
    for part, expected in ((query, columns[:2]), (key, columns[2:3]), (value, columns[3:])):
        np.testing.assert_array_equal(values_of(part), expected)
    joined = ttnn.experimental.nlp_concat_heads_boltz(query)
    np.testing.assert_array_equal(values_of(joined)[0], values_of(x)[0, :, :, :128])
    apart = create(*(ttnn.slice(x, [0, 0, 0, first], [1, 32, 32, first + 128]) for first in (0, 128)), num_heads=2,
                   num_kv_heads=1, transpose_k_heads=False)  # fmt: skip
    for part, expected in zip(apart, (columns[:2], columns[2:3], columns[3:]), strict=True):
        np.testing.assert_array_equal(values_of(part), expected)


def test_boltz_transposed_keys_have_the_tiles_of_a_matrix(device: ttnn.MeshDevice) -> None:
    x = make((1, 64, 64, 96), ttnn.bfloat16, TILES, device)
    _, key, _ = ttnn.experimental.nlp_create_qkv_heads_boltz(x, num_heads=1)
    assert tuple(key.shape) == (1, 32, 64, 64)
    np.testing.assert_array_equal(values_of(key), golden.nlp_create_qkv_heads_boltz(values_of(x), num_heads=1)[1])
    # The second tile of the matrix [32, 4096] is the second of the first of 32 matrices.
    rows = values_of(x)[0].reshape(4096, 96)[32:64, 32:64]
    np.testing.assert_array_equal(values_of(key)[0, 0, :32, 32:], rows.T)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_segformer_heads_have_32_columns(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 64, 96), dtype, TILES, device)
    query, key, value = ttnn.experimental.nlp_create_qkv_heads_segformer(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    expected = values_of(x)[:, 0].reshape(2, 64, 3, 32).swapaxes(1, 2)
    np.testing.assert_array_equal(values_of(query), expected)
    assert query.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert tuple(key.shape) == tuple(value.shape) == (2, 3, 64, 32)


def test_q_heads_split_returns_both_parts(device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 40, 192), ttnn.bfloat16, TILES, device)
    first, rest = ttnn.experimental.nlp_create_q_heads_split(x, num_heads=2, split_head_dim=64)
    heads = values_of(x)[:, 0].reshape(2, 40, 2, 96).swapaxes(1, 2)
    np.testing.assert_array_equal(values_of(first), heads[..., :64])
    np.testing.assert_array_equal(values_of(rest), heads[..., 64:])
    with pytest.raises(ttnn.ParameterError, match="split_head_dim=96 must be a multiple of 32 below 96"):
        ttnn.experimental.nlp_create_q_heads_split(x, num_heads=2, split_head_dim=96)


def test_wrong_shapes_and_placements_raise(device: ttnn.MeshDevice) -> None:
    create, join = ttnn.experimental.nlp_create_qkv_heads_boltz, ttnn.experimental.nlp_concat_heads_boltz
    x = make((1, 32, 32, 192), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ShapeError, match=r"it must be \[1, S, S, W\]"):
        create(make((1, 32, 64, 192), ttnn.bfloat16, TILES, device), num_heads=2)
    with pytest.raises(ttnn.ShapeError, match="do not divide into 15 heads"):
        create(x, num_heads=5)
    with pytest.raises(ttnn.UnsupportedError, match="preallocated outputs are not implemented"):
        create(x, num_heads=2, output_tensors=[x, x, x])
    with pytest.raises(ttnn.ShapeError, match="D of full tiles"):
        join(make((2, 32, 32, 16), ttnn.bfloat16, TILES, device))
    shards = ttnn.create_sharded_memory_config((1, 32, 32, 192), ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy.HEIGHT)
    with pytest.raises(ttnn.MemoryConfigError, match="must be INTERLEAVED"):
        create(x, num_heads=2, memory_config=shards)
