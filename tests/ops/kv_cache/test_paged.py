"""Keys and values in pages, and users' rows."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def _ints(
    values: list[int], shape: list[int], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.int32
) -> ttnn.Tensor:
    return ttnn.Tensor(values, shape, dtype, ROWS, device)


def _tokens(
    users: int, heads: int, width: int, device: ttnn.MeshDevice, seed: int = 1, layout: ttnn.Layout = TILES
) -> ttnn.Tensor:
    """Return [1, users, heads, width] with a user to every core."""
    cores = ttnn.num_cores_to_corerangeset(users, device.compute_with_storage_grid_size(), True)
    rows = -(-heads // 32) * 32 if layout is TILES else heads
    shards = ttnn.ShardSpec(cores, [rows, width], ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    return make((1, users, heads, width), ttnn.bfloat16, layout, device, seed, place)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("by_tensor", [False, True])
def test_every_user_has_its_place(by_tensor: bool, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    cache = make((4, 3, 96, 64), dtype, TILES, device)
    tokens = _tokens(4, 3, 64, device)
    places = [70, 0, -1, 31]
    expected = values_of(cache)
    for user, place in enumerate(places):
        if place >= 0:
            expected[user, :, place] = values_of(tokens)[0, user]
    options = {"update_idxs_tensor": _ints(places, [4], device)} if by_tensor else {"update_idxs": places}
    assert ttnn.experimental.paged_update_cache(cache, tokens, **options) is cache
    step = 2**-6 if dtype is ttnn.bfloat8_b else 0
    np.testing.assert_allclose(values_of(cache), expected, atol=step * np.abs(expected).max())


@pytest.mark.parametrize("length", [16, 40])
def test_caches_of_users_need_no_full_tiles_and_pages_do(length: int, device: ttnn.MeshDevice) -> None:
    cache = make((2, 3, length, 64), ttnn.bfloat16, TILES, device)
    tokens = _tokens(2, 3, 64, device)
    expected = values_of(cache)
    for user, place in enumerate((length - 1, 2)):
        expected[user, :, place] = values_of(tokens)[0, user]
    ttnn.experimental.paged_update_cache(cache, tokens, update_idxs=[length - 1, 2])
    np.testing.assert_array_equal(values_of(cache), expected)
    with pytest.raises(ttnn.ParameterError, match=f"row {length} is past the {length} rows"):
        ttnn.experimental.paged_update_cache(cache, tokens, update_idxs=[length, 2])
    options = {"update_idxs_tensor": _ints([0, 1], [2], device), "page_table": _ints([1, 0], [2, 1], device)}
    with pytest.raises(ttnn.ShapeError, match="must be of rank 4 with full tiles"):
        ttnn.experimental.paged_update_cache(cache, tokens, **options)


@pytest.mark.parametrize("layout", [TILES, ROWS])
def test_pages_of_users(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    keys, values = (make((6, 2, 32, 64), ttnn.bfloat16, TILES, device, seed) for seed in (3, 4))
    first, second = (_tokens(2, 2, 64, device, seed, layout) for seed in (1, 2))
    table, places = [[5, 0, 2], [1, 3, 4]], [40, 95]
    expected = [values_of(keys), values_of(values)]
    for into, tokens in zip(expected, (first, second), strict=True):
        for user, place in enumerate(places):
            into[table[user][place // 32], :, place % 32] = values_of(tokens)[0, user]
    options = {
        "update_idxs_tensor": _ints(places, [2], device),
        "page_table": _ints([*table[0], *table[1]], [2, 3], device),
    }
    result = ttnn.experimental.paged_fused_update_cache(keys, first, values, second, **options)
    for tensor, into in zip(result, expected, strict=True):
        np.testing.assert_array_equal(values_of(tensor), into)
    with pytest.raises(ttnn.ParameterError, match="row 96 is past"):
        ttnn.experimental.paged_update_cache(
            keys, first, **options | {"update_idxs_tensor": _ints([0, 96], [2], device)}
        )
    np.testing.assert_array_equal(values_of(keys), expected[0])


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
def test_a_prompt_in_pages(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    cache = make((6, 2, 64, 64), dtype, TILES, device)
    prompt = make((1, 2, 160, 64), dtype, TILES, device, 1)
    table = _ints([5, 0, 2, 1, 3, 4], [2, 3], device)
    expected = values_of(cache)
    for number, page in enumerate((1, 3, 4)):
        part = values_of(prompt)[0, :, number * 64 : number * 64 + 64]
        expected[page, :, : part.shape[1]] = part
    assert ttnn.experimental.paged_fill_cache(cache, prompt, table, batch_idx=1) is cache
    np.testing.assert_array_equal(values_of(cache), expected)
    user = _ints([1], [1], device, ttnn.uint32)
    ttnn.experimental.paged_fill_cache(cache, prompt, table, batch_idx_tensor=user)
    np.testing.assert_array_equal(values_of(cache), expected)


def test_pages_are_seen_in_another_shape(device: ttnn.MeshDevice) -> None:
    """The tiles of a page keep their order.

    4 heads of 2 x 1 tiles are seen as 2 heads of 1 x 4 tiles.
    """
    cache, tokens = make((3, 4, 64, 32), ttnn.bfloat16, TILES, device), _tokens(2, 2, 128, device)
    table, places = [[2, 0], [1, 1]], [40, 7]
    tiles = values_of(cache).reshape(3, 8, 32, 32)
    for user, place in enumerate(places):
        page = table[user][place // 32]
        for head in range(2):
            row = values_of(tokens)[0, user, head].reshape(4, 32)
            tiles[page, head * 4 : head * 4 + 4, place % 32] = row
    options = {
        "update_idxs_tensor": _ints(places, [2], device),
        "page_table": _ints([2, 0, 1, 1], [2, 2], device),
        "block_size": 32,
        "num_kv_heads": 2,
    }
    golden = ttnn.get_golden_function(ttnn.experimental.paged_update_cache)
    reference = golden(values_of(cache), values_of(tokens), **options | {
        "update_idxs_tensor": places, "page_table": table
    })  # fmt: skip
    ttnn.experimental.paged_update_cache(cache, tokens, **options)
    np.testing.assert_array_equal(values_of(cache), tiles.reshape(3, 4, 64, 32))
    np.testing.assert_array_equal(np.asarray(reference), tiles.reshape(3, 4, 64, 32))
    prompt = make((1, 2, 64, 128), ttnn.bfloat16, TILES, device, 1)
    for number, page in enumerate(table[0]):
        for head in range(2):
            part = values_of(prompt)[0, head, number * 32 : number * 32 + 32].reshape(32, 4, 32)
            tiles[page, head * 4 : head * 4 + 4] = part.swapaxes(0, 1)
    ttnn.experimental.paged_fill_cache(cache, prompt, options["page_table"], block_size=32)
    np.testing.assert_array_equal(values_of(cache), tiles.reshape(3, 4, 64, 32))


@pytest.mark.parametrize("valid", [None, 100, 256])
def test_pages_of_a_ring(valid: int | None, device: ttnn.MeshDevice) -> None:
    """The last rows of a prompt stay."""
    cache = make((4, 2, 64, 64), ttnn.bfloat16, TILES, device)
    prompt = make((1, 2, 224, 64), ttnn.bfloat16, TILES, device, 1)
    table = _ints([3, 1, 0], [1, 3], device)
    expected, given = values_of(cache), values_of(prompt)[0]
    end = 128 if valid == 100 else 224
    for row in range(end - 128, end):
        expected[[3, 1][row % 128 // 64], :, row % 64] = given[:, row]
    options = {} if valid is None else {"valid_seq_len_tensor": _ints([valid], [1], device)}
    before = values_of(cache)
    ttnn.experimental.paged_fill_cache(cache, prompt, table, cache_position_modulo=128, **options)
    np.testing.assert_array_equal(values_of(cache), expected)
    golden = ttnn.get_golden_function(ttnn.experimental.paged_fill_cache)
    limits = {} if valid is None else {"valid_seq_len_tensor": [valid]}
    reference = golden(before, values_of(prompt), [[3, 1, 0]], cache_position_modulo=128, **limits)
    np.testing.assert_array_equal(np.asarray(reference), expected)
    tokens = _tokens(1, 2, 64, device)
    expected[1, :, 200 % 64] = values_of(tokens)[0, 0]
    place = _ints([200], [1], device)
    ttnn.experimental.paged_update_cache(
        cache, tokens, update_idxs_tensor=place, page_table=table, cache_position_modulo=128
    )
    np.testing.assert_array_equal(values_of(cache), expected)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    update = ttnn.experimental.paged_update_cache
    cache, tokens = make((2, 2, 64, 64), ttnn.bfloat16, TILES, device), _tokens(2, 2, 64, device)
    before = values_of(cache)
    with pytest.raises(ttnn.ParameterError, match="either update_idxs"):
        update(cache, tokens)
    with pytest.raises(ttnn.MemoryConfigError, match="interleaved"):
        update(cache, ttnn.to_memory_config(tokens, ttnn.DRAM_MEMORY_CONFIG), update_idxs=[0, 1])
    with pytest.raises(ttnn.ShapeError, match="there are 1 positions"):
        update(cache, tokens, update_idxs=[0])
    with pytest.raises(ttnn.ShapeError, match="share_cache"):
        update(cache, tokens, update_idxs=[0, 1], share_cache=True)
    for option in ("block_size", "num_kv_heads", "cache_position_modulo"):
        with pytest.raises(ttnn.ParameterError, match=f"{option} is given without page_table"):
            update(cache, tokens, update_idxs=[0, 1], **{option: 32})
    paged = {"update_idxs_tensor": _ints([0, 1], [2], device), "page_table": _ints([1, 0], [2, 1], device)}
    with pytest.raises(ttnn.ShapeError, match=r"a page has 8192 elements .*, the rows need 4096"):
        update(cache, tokens, block_size=32, **paged)
    with pytest.raises(ttnn.ShapeError, match="block_size is 48"):
        update(cache, tokens, block_size=48, **paged)
    for modulo in (0, 96, 128):
        with pytest.raises(ttnn.ParameterError, match=f"cache_position_modulo is {modulo}"):
            update(cache, tokens, cache_position_modulo=modulo, **paged)
    with pytest.raises(ttnn.ParameterError, match="valid_seq_len_tensor is given without"):
        ttnn.experimental.paged_fill_cache(
            cache,
            make((1, 2, 64, 64), ttnn.bfloat16, TILES, device),
            _ints([0], [1, 1], device),
            valid_seq_len_tensor=_ints([32], [1], device),
        )
    with pytest.raises(ttnn.ParameterError, match="names pages"):
        ttnn.experimental.paged_fill_cache(
            cache, make((1, 2, 64, 64), ttnn.bfloat16, TILES, device), _ints([9], [1, 1], device)
        )
    np.testing.assert_array_equal(values_of(cache), before)
