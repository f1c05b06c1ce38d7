"""Attention sinks against the float64 definition.

They are scores for each head that belong to no key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

SDPA = ttnn.transformer.scaled_dot_product_attention
DECODE = ttnn.transformer.scaled_dot_product_attention_decode
SCALE = 1 / 8


def _tensor(values: np.ndarray, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, ttnn.bfloat16), ttnn.TILE_LAYOUT), device)


def _operands(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.random.default_rng(seed).normal(size=shape).astype(np.float32) for seed, shape in enumerate(shapes)]


def _config(chunk: int) -> ttnn.SDPAProgramConfig:
    return ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7), q_chunk_size=chunk, k_chunk_size=chunk)


def _reference(q: Any, k: Any, v: Any, sinks: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    scores = SCALE * q @ k.swapaxes(-1, -2) + np.where(hidden, -np.inf, 0.0)
    sink = np.broadcast_to(SCALE * sinks, (*scores.shape[:-1], 1))
    largest = np.maximum(scores.max(-1, keepdims=True), sink)
    powers = np.exp(scores - largest)
    result: np.ndarray = powers @ v / (powers.sum(-1, keepdims=True) + np.exp(sink - largest))
    return result


@pytest.mark.parametrize("chunks", [None, 64])
@pytest.mark.parametrize("strength", [-50.0, 4.0, 40.0])
def test_attention_with_sinks_in_prefill(strength: float, chunks: int | None, device: ttnn.MeshDevice) -> None:
    """A low sink takes nothing, a high one nearly everything."""
    q, k, v = _operands((1, 2, 128, 64), (1, 1, 128, 64), (1, 1, 128, 64))
    sinks = np.asarray([strength, strength / 2], np.float32).reshape(1, 2, 1, 1)
    config = {} if chunks is None else {"program_config": _config(chunks)}
    result = SDPA(*(_tensor(x, device) for x in (q, k, v)), attention_sink=_tensor(sinks, device), **config)
    expected = _reference(q, k, v, sinks, np.triu(np.ones((128, 128), bool), 1))
    assert np.abs(np.asarray(result.to_numpy(), np.float64) - expected).max() < 0.1


@pytest.mark.parametrize("strength", [-50.0, 4.0, 40.0])
def test_attention_with_sinks_in_decode(strength: float, device: ttnn.MeshDevice) -> None:
    q, k, v = _operands((1, 2, 8, 64), (2, 2, 128, 64), (2, 2, 128, 64))
    sinks = np.zeros((8, 32), np.float32)
    sinks[:, 0] = strength * np.linspace(0.5, 1, 8)
    result = DECODE(*(_tensor(x, device) for x in (q, k, v)), cur_pos=[127, 70], attention_sink=_tensor(sinks, device))
    found = np.asarray(result.to_numpy(), np.float64)
    for user, position in enumerate((127, 70)):
        keys, values = (np.repeat(x[user], 4, axis=0) for x in (k, v))
        hidden = (np.arange(128) > position)[None, None]
        expected = _reference(q[0, user][:, None], keys, values, sinks[:, :1, None], hidden)
        assert np.abs(found[0, user] - expected[:, 0]).max() < 0.1


def test_without_effect_the_bits_of_rows_are_close(device: ttnn.MeshDevice) -> None:
    tensors = [_tensor(x, device) for x in _operands((1, 1, 64, 64), (1, 1, 64, 64), (1, 1, 64, 64))]
    low = _tensor(np.full((1, 1, 1, 1), -1e4, np.float32), device)
    plain, with_sink = (np.asarray(SDPA(*tensors, **options).to_numpy()) for options in ({}, {"attention_sink": low}))
    assert np.abs(plain - with_sink).max() < 2**-6


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    tensors = [_tensor(x, device) for x in _operands((1, 2, 64, 64), (1, 1, 64, 64), (1, 1, 64, 64))]
    with pytest.raises(ttnn.ShapeError, match=r"attention_sink has shape \[1, 1, 1, 1\]; it must be \[1, 2, 1, 1\]"):
        SDPA(*tensors, attention_sink=_tensor(np.zeros((1, 1, 1, 1), np.float32), device))
    rows = ttnn.to_device(ttnn.Tensor(np.zeros((1, 2, 1, 1), np.float32), ttnn.bfloat16), device)
    with pytest.raises(ttnn.LayoutError, match="Attention sink must be tilized"):
        SDPA(*tensors, attention_sink=rows)
    wide = ttnn.to_device(
        ttnn.Tensor(np.zeros((1, 2, 1, 1), np.float32), ttnn.float32, layout=ttnn.TILE_LAYOUT), device
    )
    with pytest.raises(ttnn.DTypeError, match="Attention sink must be in BF16"):
        SDPA(*tensors, attention_sink=wide)
