"""Attention: results in other arrangements, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of

SDPA = ttnn.transformer.scaled_dot_product_attention
DECODE = ttnn.transformer.scaled_dot_product_attention_decode
PAGED = ttnn.transformer.paged_scaled_dot_product_attention_decode


def _values(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _tensor(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _indices(values: list[int] | np.ndarray, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.Tensor(np.asarray(values, np.int32), ttnn.int32), device)


def _qkv(
    device: ttnn.MeshDevice, heads: int, kv_heads: int, rows: int, keys: int, width: int = 64
) -> list[ttnn.Tensor]:
    shapes = [(1, heads, rows, width), (1, kv_heads, keys, width), (1, kv_heads, keys, width)]
    return [_tensor(_values(shape, seed), device) for seed, shape in enumerate(shapes)]


def _config(q: int, k: int, **options: Any) -> ttnn.SDPAProgramConfig:
    return ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7), q_chunk_size=q, k_chunk_size=k, **options)


def _same(a: ttnn.Tensor, b: ttnn.Tensor) -> None:
    np.testing.assert_array_equal(raw_of(a), raw_of(b))


def _far(reference: np.ndarray, tensor: ttnn.Tensor) -> float:
    return float(np.max(np.abs(np.asarray(tensor.to_numpy(), np.float64) - reference)))


def test_heads_are_returned_side_by_side(device: ttnn.MeshDevice) -> None:
    tensors = _qkv(device, 4, 2, 64, 64)
    joined = SDPA(*tensors, output_concat_heads=True, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (list(joined.shape), joined.memory_config()) == ([1, 1, 64, 256], ttnn.L1_MEMORY_CONFIG)
    _same(joined, ttnn.experimental.nlp_concat_heads(SDPA(*tensors), memory_config=ttnn.L1_MEMORY_CONFIG))
    golden = ttnn.get_golden_function(SDPA)
    reference = golden(*(np.asarray(t.to_numpy(), np.float64) for t in tensors), output_concat_heads=True)
    assert _far(reference, joined) < 0.1


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("chunks", [None, (32, 64), (64, 128)])
def test_prefill_is_near_the_reference(causal: bool, chunks: tuple[int, int] | None, device: ttnn.MeshDevice) -> None:
    tensors = _qkv(device, 2, 1, 128, 128)
    config = {} if chunks is None else {"program_config": _config(*chunks)}
    result = SDPA(*tensors, is_causal=causal, **config)
    golden = ttnn.get_golden_function(SDPA)
    reference = golden(*(np.asarray(t.to_numpy(), np.float64) for t in tensors), is_causal=causal)
    assert _far(reference, result) < 0.1


def test_heads_that_share_keys_are_as_with_keys_of_their_own(device: ttnn.MeshDevice) -> None:
    q, k, v = _qkv(device, 4, 2, 96, 96)
    own = [ttnn.repeat_interleave(tensor, 2, 1) for tensor in (k, v)]
    _same(SDPA(q, k, v), SDPA(q, *own))


def test_every_row_of_heads_is_on_its_own(device: ttnn.MeshDevice) -> None:
    """More rows than are computed side by side."""
    q, k, v = _qkv(device, 6, 1, 160, 160)
    whole = np.asarray(SDPA(q, k, v).to_numpy())
    for head in range(6):
        one = ttnn.slice(q, [0, head, 0, 0], [1, head + 1, 160, 64])
        np.testing.assert_array_equal(np.asarray(SDPA(one, k, v).to_numpy())[0, 0], whole[0, head])


def test_a_causal_mask_hides_later_keys(device: ttnn.MeshDevice) -> None:
    """With one tile of keys the programs differ in nothing else."""
    q, k, v = _qkv(device, 1, 1, 32, 32)
    hidden = np.where(np.triu(np.ones((32, 32)), 1) > 0, -np.inf, 0.0).astype(np.float32)[None, None]
    _same(SDPA(q, k, v, attn_mask=_tensor(hidden, device), is_causal=False), SDPA(q, k, v, is_causal=True))


def test_a_window_hides_earlier_keys(device: ttnn.MeshDevice) -> None:
    q, k, v = _qkv(device, 1, 1, 128, 128)
    result = SDPA(q, k, v, sliding_window_size=40)
    golden = ttnn.get_golden_function(SDPA)
    reference = golden(*(np.asarray(t.to_numpy(), np.float64) for t in (q, k, v)), sliding_window_size=40)
    assert _far(reference, result) < 0.1
    _same(SDPA(q, k, v, sliding_window_size=128), SDPA(q, k, v))


def test_padded_keys_do_not_count(device: ttnn.MeshDevice) -> None:
    values = [_values((1, 1, rows, 64), seed) for seed, rows in enumerate((32, 70, 70))]
    q, k, v = (_tensor(value, device) for value in values)
    result = SDPA(q, k, v, is_causal=False)
    reference = ttnn.get_golden_function(SDPA)(
        *(np.asarray(t.to_numpy(), np.float64) for t in (q, k, v)), is_causal=False
    )
    assert _far(reference, result) < 0.1


def _paged(cache: np.ndarray, order: list[int], rows: int) -> np.ndarray:
    """Split a one-batch cache into blocks in another order."""
    blocks = np.split(cache, cache.shape[2] // rows, axis=2)
    laid: list[np.ndarray] = [np.zeros(0)] * len(blocks)
    for place, block in zip(order, blocks, strict=True):
        laid[place] = block
    return np.concatenate(laid)


def test_chunked_prefill_has_the_bits_of_the_whole(device: ttnn.MeshDevice) -> None:
    q, k, v = (_values((1, heads, 128, 64), seed) for seed, heads in enumerate((2, 1, 1)))
    whole = np.asarray(SDPA(*(_tensor(x, device) for x in (q, k, v))).to_numpy())
    order = [2, 0, 3, 1]
    caches = [_tensor(_paged(x, order, 32), device) for x in (k, v)]
    table = _indices([order], device)
    for start in (0, 64):
        part = _tensor(q[:, :, start : start + 64], device)
        result = ttnn.transformer.chunked_scaled_dot_product_attention(part, *caches, table, start)
        np.testing.assert_array_equal(np.asarray(result.to_numpy()), whole[:, :, start : start + 64])


def _seen(cache: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return cache blocks with the same tiles in another shape."""
    count, heads, height, width = cache.shape
    tiles = cache.reshape(count, heads * height // 32, 32, width // 32, 32).swapaxes(2, 3)
    seen = tiles.reshape(count, -1, columns // 32, 32, 32).swapaxes(2, 3).reshape(count, -1, rows, columns)
    assert seen.size == cache.size
    return seen


@pytest.mark.parametrize(("rows", "heads", "columns"), [(128, 1, 64), (32, 4, 64), (64, 1, 128), (32, 2, 128)])
def test_paged_caches_in_the_shape_of_another_layer(
    rows: int, heads: int, columns: int, device: ttnn.MeshDevice
) -> None:
    caches = [_values((8, 2, 64, 64), seed) for seed in (1, 2)]
    table = _indices(np.arange(8).reshape(2, 4), device)
    own = [_tensor(cache, device) for cache in caches]
    other = [_tensor(_seen(cache, rows, columns), device) for cache in caches]
    geometry = ttnn.PagedCacheGeometryOverride(block_size=rows, num_kv_heads=heads)
    query = _tensor(_values((1, 2, 4, columns), 3), device)
    positions = _indices([40, 100], device)
    result = PAGED(query, *own, table, cur_pos_tensor=positions, paged_cache_geometry=geometry)
    _same(result, PAGED(query, *other, table, cur_pos_tensor=positions))
    golden = ttnn.get_golden_function(PAGED)
    arrays = (np.asarray(t.to_numpy(), np.float64) for t in (query, *own, table))
    assert _far(golden(*arrays, cur_pos_tensor=np.array([40, 100]), paged_cache_geometry=geometry), result) < 0.1
    chunk = _tensor(_values((2, 4, 64, columns), 4), device)
    chunked = ttnn.transformer.chunked_scaled_dot_product_attention
    _same(chunked(chunk, *own, table, 64, paged_cache_geometry=geometry), chunked(chunk, *other, table, 64))


@pytest.mark.parametrize(
    ("geometry", "error", "text"),
    [
        ((0, 1), ttnn.ParameterError, "block_size is 0"),
        ((64, 0), ttnn.ParameterError, "num_kv_heads is 0"),
        ((33, 1), ttnn.ShapeError, "multiples of 32"),
        ((64, 3), ttnn.ShapeError, "geometry mismatch: cache has 8192 elems/block"),
    ],
)
def test_paged_caches_that_do_not_fit_a_geometry(
    geometry: tuple[int, int], error: type[Exception], text: str, device: ttnn.MeshDevice
) -> None:
    query, cache = _tensor(_values((1, 1, 8, 64), 0), device), _tensor(_values((8, 2, 64, 64), 1), device)
    table, positions = _indices([[0, 1]], device), _indices([10], device)
    seen = ttnn.PagedCacheGeometryOverride(*geometry)
    with pytest.raises(error, match=text):
        PAGED(query, cache, cache, table, cur_pos_tensor=positions, paged_cache_geometry=seen)
    latent = ttnn.transformer.paged_flash_multi_latent_attention_decode
    with pytest.raises(ttnn.ParameterError, match="not supported with multi-latent attention"):
        latent(query, cache, None, 64, table, cur_pos_tensor=positions, paged_cache_geometry=seen)


def test_latent_values_are_columns_of_keys(device: ttnn.MeshDevice) -> None:
    q, k, _ = _qkv(device, 2, 1, 64, 64, 96)
    v = ttnn.slice(k, [0, 0, 0, 0], [1, 1, 64, 64])
    _same(ttnn.transformer.flash_mla_prefill(q, k, 64), ttnn.slice(SDPA(q, k, k), [0, 0, 0, 0], [1, 2, 64, 64]))
    query = _tensor(_values((1, 1, 8, 96), 9), device)
    latent = ttnn.transformer.flash_multi_latent_attention_decode(query, k, head_dim_v=64, cur_pos=[50])
    _same(latent, DECODE(query, k, v, cur_pos=[50]))


@pytest.mark.parametrize("position", [0, 31, 32, 63, 100, 127])
def test_decode_is_near_the_reference(position: int, device: ttnn.MeshDevice) -> None:
    q = _tensor(_values((1, 2, 8, 64), 0), device)
    k, v = (_tensor(_values((2, 2, 128, 64), seed), device) for seed in (1, 2))
    result = DECODE(q, k, v, cur_pos=[position, 127 - position])
    golden = ttnn.get_golden_function(DECODE)
    operands = (np.asarray(t.to_numpy(), np.float64) for t in (q, k, v))
    assert _far(golden(*operands, cur_pos=[position, 127 - position]), result) < 0.1


def test_blocks_of_a_cache_may_lie_anywhere(device: ttnn.MeshDevice) -> None:
    q = _tensor(_values((1, 1, 8, 64), 0), device)
    k, v = (_values((1, 1, 128, 64), seed) for seed in (1, 2))
    order = [3, 1, 0, 2]
    caches = [_tensor(_paged(x, order, 32), device) for x in (k, v)]
    result = PAGED(q, *caches, _indices([order], device), cur_pos_tensor=_indices([77], device))
    one_core = _config(32, 32, max_cores_per_head_batch=1)
    _same(result, DECODE(q, _tensor(k, device), _tensor(v, device), cur_pos=[77], program_config=one_core))


def test_a_user_that_is_left_out_has_zeros(device: ttnn.MeshDevice) -> None:
    q = _tensor(_values((1, 2, 4, 64), 0), device)
    k, v = (_tensor(_values((2, 1, 64, 64), seed), device) for seed in (1, 2))
    both = np.asarray(DECODE(q, k, v, cur_pos=[20, 40]).to_numpy())
    one = np.asarray(DECODE(q, k, v, cur_pos=[20, -1]).to_numpy())
    np.testing.assert_array_equal(one[:, 0], both[:, 0])
    assert not one[:, 1].astype(np.float32).any()


def test_queries_may_be_row_major(device: ttnn.MeshDevice) -> None:
    q = _tensor(_values((1, 1, 8, 64), 0), device)
    k, v = (_tensor(_values((1, 1, 64, 64), seed), device) for seed in (1, 2))
    tiled = DECODE(q, k, v, cur_pos=[40])
    rows = DECODE(ttnn.to_layout(q, ttnn.ROW_MAJOR_LAYOUT), k, v, cur_pos=[40])
    assert rows.layout == ttnn.ROW_MAJOR_LAYOUT
    np.testing.assert_array_equal(np.asarray(rows.to_numpy()), np.asarray(tiled.to_numpy()))


@pytest.mark.parametrize("name", ["prefill", "decode"])
def test_results_do_not_depend_on_the_thread_count(name: str, device: ttnn.MeshDevice) -> None:
    q, k, v = _qkv(device, 4, 2, 96, 96)
    query = _tensor(_values((1, 1, 8, 64), 5), device)
    run: Callable[[], ttnn.Tensor] = (
        (lambda: SDPA(q, k, v)) if name == "prefill" else (lambda: DECODE(query, k, v, cur_pos=[90]))
    )
    before = ttnn.CONFIG.threads
    try:
        ttnn.CONFIG.threads = 1
        one = raw_of(run())
        ttnn.CONFIG.threads = 3
        np.testing.assert_array_equal(raw_of(run()), one)
    finally:
        ttnn.CONFIG.threads = before


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    q, k, v = _qkv(device, 2, 1, 64, 64)
    mask = _tensor(np.zeros((1, 1, 64, 64), np.float32), device)
    with pytest.raises(ttnn.ParameterError, match="exclude each other"):
        SDPA(q, k, v, attn_mask=mask)
    with pytest.raises(ttnn.ShapeError, match="as many of both"):
        SDPA(_tensor(_values((1, 2, 32, 64), 0), device), k, v)
    with pytest.raises(ttnn.ShapeError, match="multiple of 32"):
        SDPA(*_qkv(device, 1, 1, 32, 32, 40))
    with pytest.raises(ttnn.ParameterError, match="q_chunk_size is 33"):
        SDPA(q, k, v, program_config=_config(33, 32))
    query = _tensor(_values((1, 1, 2, 64), 0), device)
    with pytest.raises(ttnn.ParameterError, match="0 positions for 1 users"):
        DECODE(query, k, v)
    with pytest.raises(ttnn.ParameterError, match="position 64 is not in a cache of 64"):
        DECODE(query, k, v, cur_pos=[64])
    with pytest.raises(ttnn.ParameterError, match="index 9 is out of range"):
        PAGED(query, k, v, _indices([[9]], device), cur_pos_tensor=_indices([3], device))
    _same(SDPA(q, k, v), SDPA(q, k, v))


def test_heads_of_values_share_the_heads_of_keys(device: ttnn.MeshDevice) -> None:
    shapes = ((1, 4, 64, 64), (1, 2, 64, 64), (1, 4, 64, 32))
    q, k, v = (_tensor(_values(shape, seed), device) for seed, shape in enumerate(shapes))
    whole = ttnn.concat([ttnn.slice(k, [0, i // 2, 0, 0], [1, i // 2 + 1, 64, 64]) for i in range(4)], 1)
    found = ttnn.transformer.flash_mla_prefill(q, k, v)
    _same(found, ttnn.transformer.flash_mla_prefill(q, whole, v))


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 4), (2, 4)], ids=str)
def test_a_mask_is_added_to_scaled_scores(shape: tuple[int, int], device: ttnn.MeshDevice) -> None:
    q, k, v = (_values((2, 4, 64, 32), seed) for seed in range(3))
    mask = _values((*shape, 64, 64), 3)
    found = SDPA(*(_tensor(x, device) for x in (q, k, v)), attn_mask=_tensor(mask, device), is_causal=False)
    scores = np.exp(q @ k.swapaxes(-1, -2) * 32**-0.5 + mask)
    expected = scores / scores.sum(-1, keepdims=True) @ v
    assert _far(expected, found) < 0.06


@pytest.mark.parametrize("rows", [1, 5, 63])
def test_a_mask_of_other_rows_than_queries_is_refused(rows: int, device: ttnn.MeshDevice) -> None:
    q, k, v = _qkv(device, 2, 1, 64, 64)
    mask = _tensor(np.zeros((1, 1, rows, 64), np.float32), device)
    with pytest.raises(ttnn.ShapeError, match="Mask sequence length must match Q sequence length"):
        SDPA(q, k, v, attn_mask=mask, is_causal=False)
    query = _tensor(_values((1, 1, 2, 64), 0), device)
    with pytest.raises(ttnn.ShapeError, match="attn_mask has shape"):
        DECODE(query, k, v, cur_pos=[50], attn_mask=mask, is_causal=False)
