"""Attention of two sequences over the keys and values of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.golden import transformer as golden

JOINT = ttnn.transformer.joint_scaled_dot_product_attention


def _operands(rows: int, joint_rows: int, heads: int = 2, width: int = 64) -> list[np.ndarray]:
    shapes = [(1, heads, rows, width)] * 3 + [(1, heads, joint_rows, width)] * 3
    return [np.random.default_rng(seed).normal(size=shape).astype(np.float32) for seed, shape in enumerate(shapes)]


def _tensor(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _config(q_chunk: int, k_chunk: int) -> ttnn.SDPAProgramConfig:
    return ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7), q_chunk_size=q_chunk, k_chunk_size=k_chunk)


def _run(operands: list[np.ndarray], device: ttnn.MeshDevice, config: Any, **options: Any) -> tuple[ttnn.Tensor, ...]:
    tensors = [_tensor(values, device) for values in operands]
    result: tuple[ttnn.Tensor, ...] = JOINT(*tensors, joint_strategy="rear", program_config=config, **options)
    return result


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize(("rows", "joint_rows"), [(64, 32), (15, 19), (100, 70), (128, 128)])
@pytest.mark.parametrize("chunks", [(32, 32), (64, 128)])
def test_values_match_the_golden_function(
    chunks: tuple[int, int], rows: int, joint_rows: int, numerics: str, device: ttnn.MeshDevice
) -> None:
    """Padding of both sequences counts for nothing."""
    operands = _operands(rows, joint_rows)
    with ttnn.manage_config("numerics", numerics):
        results = _run(operands, device, _config(*chunks))
    expected = golden.joint_scaled_dot_product_attention(*operands)
    for result, values in zip(results, expected, strict=True):
        assert tuple(result.shape) == values.shape
        assert np.abs(np.asarray(result.to_numpy(), np.float64) - values).max() < 0.05


def test_the_second_sequence_has_chunks_of_its_own(device: ttnn.MeshDevice) -> None:
    """48 and 80 keys in chunks of 64: 48, 64, 16.

    The rows of a query do not depend on the chunks of queries.
    """
    operands = _operands(48, 80)
    first, second = _run(operands, device, _config(32, 64))
    again, _ = _run(operands, device, _config(128, 64))
    assert np.array_equal(np.asarray(first.to_numpy()), np.asarray(again.to_numpy()))
    swapped = operands[3:] + operands[:3]
    other, _ = _run(swapped, device, _config(32, 64))
    # In the other order, the running maximum and sum go along other chunks: close, but other bits.
    difference = np.asarray(other.to_numpy(), np.float64) - np.asarray(second.to_numpy(), np.float64)
    assert 0 < np.abs(difference).max() < 0.05


def test_one_chunk_has_the_bits_of_steps_by_hand(device: ttnn.MeshDevice) -> None:
    """Equal keys: exact sums and matmuls of probabilities 1.

    Every probability is the fast exponential of 0.
    """
    operands = _operands(32, 32, heads=1)
    operands[1][:], operands[4][:] = 1.0, 1.0
    operands[2][:], operands[5][:] = 2.0, 4.0
    first, second = _run(operands, device, _config(32, 32))
    for result in (first, second):
        values = np.asarray(result.to_numpy(), np.float64)
        assert np.ptp(values) == 0
        assert abs(values.flat[0] - 3.0) <= 2**-6


def test_attention_scale_multiplies_the_scores(device: ttnn.MeshDevice) -> None:
    operands = _operands(64, 32)
    first, _ = _run(operands, device, _config(32, 32), scale=0.01)
    expected, _ = golden.joint_scaled_dot_product_attention(*operands, scale=0.01)
    assert np.abs(np.asarray(first.to_numpy(), np.float64) - expected).max() < 0.05


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    operands = _operands(64, 32)
    tensors = [_tensor(values, device) for values in operands]
    options: dict[str, Any] = {"joint_strategy": "rear", "program_config": _config(32, 32)}
    with pytest.raises(ttnn.ParameterError, match=r"Joint strategy must be 'rear'\. Got: front"):
        JOINT(*tensors, **(options | {"joint_strategy": "front"}))
    with pytest.raises(ttnn.ShapeError, match="batch, heads and head size must agree"):
        JOINT(*tensors[:5], _tensor(operands[5][:, :1], device), **options)
    with pytest.raises(ttnn.DTypeError, match="All tensors must have the same dtype"):
        JOINT(*tensors[:5], _tensor(operands[5], device, ttnn.bfloat8_b), **options)
    with pytest.raises(ttnn.MemoryConfigError, match="need to be in DRAM"):
        JOINT(*tensors[:5], ttnn.to_memory_config(tensors[5], ttnn.L1_MEMORY_CONFIG), **options)
    with pytest.raises(ttnn.ParameterError, match="k_chunk_size must be divisible by TILE_SIZE"):
        JOINT(*tensors, **(options | {"program_config": _config(32, 40)}))
