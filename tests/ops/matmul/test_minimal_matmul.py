"""The experimental product whose blocks are summed in L1."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn


def _tensor(shape: tuple[int, ...], device: ttnn.MeshDevice, seed: int) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, ttnn.bfloat16), ttnn.TILE_LAYOUT), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


@pytest.mark.parametrize("shape", [(1, 1, 64, 512), (40, 96), (2, 3, 32, 256)])
def test_result_is_near_the_golden_function(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    a, b, bias = _tensor(shape, device, 0), _tensor((shape[-1], 96), device, 1), _tensor((1, 96), device, 2)
    relu = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    result = ttnn.experimental.minimal_matmul(a, b, bias_tensor=bias, fused_activation=relu)
    reference = np.maximum(_values(a) @ _values(b) + _values(bias), 0)
    assert np.max(np.abs(_values(result) - reference)) < 0.02 * np.max(reference)


def test_zero_as_a_bias_changes_no_bit(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((64, 256), device, 0), _tensor((256, 64), device, 1)
    zeros = ttnn.zeros((1, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    plain = _values(ttnn.experimental.minimal_matmul(a, b))
    np.testing.assert_array_equal(_values(ttnn.experimental.minimal_matmul(a, b, bias_tensor=zeros)), plain)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    a = _tensor((32, 288), device, 0)
    with pytest.raises(ttnn.ShapeError, match="do not fit"):
        ttnn.experimental.minimal_matmul(a, _tensor((96, 32), device, 1))
    blocks = ttnn.MinimalMatmulConfig(K_block_size=3)
    result = ttnn.experimental.minimal_matmul(a, _tensor((288, 32), device, 1), config=blocks)
    assert result.shape == (32, 32)
