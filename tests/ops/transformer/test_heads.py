"""Heads of attention, split and joined."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, values_of

TILES = ttnn.TILE_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize(("heads", "groups"), [(2, None), (4, 2)])
def test_heads_are_columns_of_the_projection(
    heads: int, groups: int | None, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    kv = groups or heads
    x = make((2, 40, (heads + 2 * kv) * 32), dtype, TILES, device)
    columns = values_of(x).reshape(2, 40, -1, 32).swapaxes(1, 2)
    split = ttnn.transformer.split_query_key_value_and_split_heads
    for transposed in (True, False):
        query, key, value = split(x, num_heads=heads, num_kv_heads=groups, transpose_key=transposed)
        np.testing.assert_array_equal(values_of(query), columns[:, :heads])
        keys = columns[:, heads : heads + kv]
        np.testing.assert_array_equal(values_of(key), keys.swapaxes(-1, -2) if transposed else keys)
        np.testing.assert_array_equal(values_of(value), columns[:, heads + kv :])
    joined = ttnn.transformer.concatenate_heads(query)
    np.testing.assert_array_equal(values_of(joined), values_of(x)[..., : heads * 32])


def test_keys_and_values_may_be_apart(device: ttnn.MeshDevice) -> None:
    x, kv = (make((1, 32, width), ttnn.bfloat16, TILES, device) for width in (128, 64))
    split = ttnn.transformer.split_query_key_value_and_split_heads
    query, key, value = split(x, kv, num_heads=4, num_kv_heads=1, transpose_key=False)
    assert [tuple(part.shape) for part in (query, key, value)] == [(1, 4, 32, 32), (1, 1, 32, 32), (1, 1, 32, 32)]
    np.testing.assert_array_equal(values_of(value)[0, 0], values_of(kv)[0, :, 32:])


def test_heads_without_full_tiles_are_refused(device: ttnn.MeshDevice) -> None:
    split = ttnn.transformer.split_query_key_value_and_split_heads
    with pytest.raises(ttnn.ShapeError, match="Invalid head size: 16"):
        split(make((2, 32, 192), ttnn.bfloat16, TILES, device), num_heads=4)
    pair = [make((2, 32, width), ttnn.bfloat16, TILES, device) for width in (384, 256)]
    with pytest.raises(ttnn.ShapeError, match=r"KV head size \(32\) must be equal to query head size \(96\)"):
        split(*pair, num_heads=4)
    with pytest.raises(ttnn.ShapeError, match="found to be 20"):
        ttnn.transformer.concatenate_heads(make((2, 4, 32, 20), ttnn.bfloat16, TILES, device))


def test_heads_of_four_dimensions(device: ttnn.MeshDevice) -> None:
    x = make((2, 1, 40, 256), ttnn.bfloat16, TILES, device)
    columns = values_of(x)[:, 0].reshape(2, 40, 4, 64).swapaxes(1, 2)
    create = ttnn.experimental.nlp_create_qkv_heads
    query, key, value = create(x, num_heads=2, num_kv_heads=1)
    np.testing.assert_array_equal(values_of(query), columns[:, :2])
    np.testing.assert_array_equal(values_of(key), columns[:, 2:3].swapaxes(-1, -2))
    np.testing.assert_array_equal(values_of(value), columns[:, 3:])
    joined = ttnn.experimental.nlp_concat_heads(query)
    assert tuple(joined.shape) == (2, 1, 40, 128)
    np.testing.assert_array_equal(values_of(joined), values_of(x)[..., :128])
    kv = make((2, 1, 40, 128), ttnn.bfloat16, TILES, device)
    _, keys, _ = create(x, kv, num_heads=4, num_kv_heads=1, transpose_k_heads=False)
    np.testing.assert_array_equal(values_of(keys)[:, 0], values_of(kv)[:, 0, :, :64])
    with pytest.raises(ttnn.ShapeError, match="does not divide into 3 heads"):
        create(x, num_heads=3)
    with pytest.raises(ttnn.UnsupportedError, match="kv_tied=True is not built yet"):
        create(x, num_heads=2, num_kv_heads=1, kv_tied=True)
