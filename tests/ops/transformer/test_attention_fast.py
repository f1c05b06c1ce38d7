"""Attention in fast mode: float64 distance by roundings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of, values_of
from ttnn import _engine
from ttnn.base.config import manage_config

SDPA = ttnn.transformer.scaled_dot_product_attention
ROUNDINGS = 2.0**-8 + 2.0**-9 + 2.0**-15
"""Probabilities, sums and result round to 8 bits.

Sums of float32 have what is left.
"""


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with manage_config("numerics", "fast"):
        yield


def _tensor(
    shape: tuple[int, ...], seed: int, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16
) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)


def _config(fidelity: str = "HiFi4") -> ttnn.WormholeComputeKernelConfig:
    return ttnn.WormholeComputeKernelConfig(math_fidelity=getattr(ttnn.MathFidelity, fidelity))


def _reference(tensors: list[ttnn.Tensor], added: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Return float64 attention.

    `added` is added to scores, minus infinity hides them.
    """
    q, k, v = (values_of(tensor) for tensor in tensors)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) + added
    scores = (scores - scores.max(-1, keepdims=True)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    weights = np.exp(scores)
    return weights @ v / weights.sum(-1, keepdims=True)


def _assert_near(result: ttnn.Tensor, reference: np.ndarray, values: ttnn.Tensor) -> None:
    largest = np.max(np.abs(values_of(values)))
    assert np.max(np.abs(values_of(result) - reference)) <= ROUNDINGS * largest


def _hidden(rows: int, keys: int, window: int | None = None) -> np.ndarray:
    distance = np.arange(rows)[:, None] - np.arange(keys)
    seen = (distance >= 0) & (distance < (window or rows + 1))
    return np.where(seen, 0.0, -np.inf)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=str)
@pytest.mark.parametrize(("heads", "kv_heads", "rows"), [(1, 1, 32), (4, 2, 96), (2, 1, 640), (3, 3, 70)])
def test_result_is_as_near_as_its_roundings(
    heads: int, kv_heads: int, rows: int, dtype: ttnn.DataType, causal: bool, device: ttnn.MeshDevice
) -> None:
    shapes = [(2, heads, rows, 64), (2, kv_heads, rows, 64), (2, kv_heads, rows, 64)]
    tensors = [_tensor(shape, seed, device, dtype) for seed, shape in enumerate(shapes)]
    result = SDPA(*tensors, is_causal=causal, compute_kernel_config=_config())
    added = _hidden(rows, rows) if causal else np.zeros((rows, rows))
    reference = _reference(tensors, added)
    if dtype is ttnn.bfloat16:
        _assert_near(result, reference, tensors[2])
    else:
        # Half a step of the block's largest value besides.
        largest = np.max(np.abs(values_of(tensors[2])))
        assert np.max(np.abs(values_of(result) - reference)) <= (ROUNDINGS + 2.0**-7) * largest


def test_windows_masks_and_scales(device: ttnn.MeshDevice) -> None:
    tensors = [_tensor((1, 2, 160, 64), seed, device) for seed in range(3)]
    result = SDPA(*tensors, is_causal=True, sliding_window_size=50, scale=0.3, compute_kernel_config=_config())
    _assert_near(result, _reference(tensors, _hidden(160, 160, 50), 0.3), tensors[2])
    mask = _tensor((1, 1, 160, 160), 7, device)
    result = SDPA(*tensors, attn_mask=mask, is_causal=False, compute_kernel_config=_config())
    _assert_near(result, _reference(tensors, 8 * values_of(mask)), tensors[2])


@pytest.mark.parametrize("strength", [-20.0, 0.0, 20.0])
def test_sinks_count_for_the_sum(strength: float, device: ttnn.MeshDevice) -> None:
    tensors = [_tensor((1, 2, 96, 64), seed, device) for seed in range(3)]
    sinks = np.asarray([strength, strength / 2], np.float32).reshape(1, 2, 1, 1)
    given = ttnn.Tensor(sinks, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    result = SDPA(*tensors, is_causal=True, attention_sink=given, compute_kernel_config=_config())
    q, k, v = (values_of(tensor) for tensor in tensors)
    scores = (q @ k.swapaxes(-1, -2) + _hidden(96, 96)) / 8
    largest = np.maximum(scores.max(-1, keepdims=True), sinks / 8)
    weights = np.exp(scores - largest)
    reference = weights @ v / (weights.sum(-1, keepdims=True) + np.exp(sinks / 8 - largest))
    _assert_near(result, reference, tensors[2])


def test_blocks_of_a_cache_are_those_of_the_sequence(device: ttnn.MeshDevice) -> None:
    q = _tensor((1, 2, 64, 64), 0, device)
    keys, values = (_tensor((1, 1, 128, 64), seed, device) for seed in (1, 2))
    order = [2, 0, 3, 1]
    caches = []
    for tensor in (keys, values):
        blocks = np.zeros((5, 1, 32, 64), np.float32)
        blocks[order] = values_of(tensor).reshape(4, 1, 32, 64)
        caches.append(ttnn.Tensor(blocks, ttnn.bfloat16, device, ttnn.TILE_LAYOUT))
    table = ttnn.Tensor(np.asarray([order], np.int32), ttnn.int32, device)
    paged = ttnn.transformer.chunked_scaled_dot_product_attention(
        q, *caches, table, 64, compute_kernel_config=_config()
    )
    distance = np.arange(64, 128)[:, None] - np.arange(128)
    reference = _reference([q, keys, values], np.where(distance >= 0, 0.0, -np.inf))
    _assert_near(paged, reference, values)


def test_every_fidelity_masks_its_operands(device: ttnn.MeshDevice) -> None:
    tensors = [_tensor((1, 1, 96, 64), seed, device) for seed in range(3)]
    results = [SDPA(*tensors, compute_kernel_config=_config(name)) for name in ("LoFi", "HiFi2", "HiFi3", "HiFi4")]
    far = [np.max(np.abs(values_of(r) - _reference(tensors, _hidden(96, 96)))) for r in results]
    # 5 and 7 bits of mantissa are fewer than 8; HiFi3 has all that bfloat16 has, in two parts.
    assert far[0] > far[1] > 2.0**-9
    assert far[2] <= far[1]


def test_results_do_not_depend_on_the_thread_count(device: ttnn.MeshDevice) -> None:
    tensors = [_tensor((2, 3, 224, 64), seed, device) for seed in range(3)]
    results = []
    for threads in (1, 2, 5):
        with manage_config("threads", threads):
            results.append(raw_of(SDPA(*tensors)))
    assert all(np.array_equal(results[0], result) for result in results)


@pytest.mark.parametrize("level", _engine.cpu_levels())
def test_every_level_is_near(level: str, device: ttnn.MeshDevice) -> None:
    tensors: list[Any] = [_tensor((1, 2, 96, 64), seed, device) for seed in range(3)]
    with manage_config("cpu_level", level):
        result = SDPA(*tensors, compute_kernel_config=_config())
    _assert_near(result, _reference(tensors, _hidden(96, 96)), tensors[2])
