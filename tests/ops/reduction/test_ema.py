"""Exponential moving averages of rows."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn.golden import reduction as golden


def _samples(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(size=shape, dtype=np.float32)


def _tensor(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _numbers(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.9])
@pytest.mark.parametrize("shape", [(1, 1, 32, 32), (1, 2, 40, 100), (1, 1, 3, 257)])
def test_values_match_the_golden_function(shape: tuple[int, ...], alpha: float, device: ttnn.MeshDevice) -> None:
    x = _tensor(_samples(*shape), device)
    result = ttnn.ema(x, alpha)
    expected = golden.ema(_numbers(x), alpha)
    assert tuple(result.shape) == shape
    # One rounding to bfloat16 of an average that is kept in FP32.
    assert np.abs(_numbers(result) - expected).max() <= 2**-9 + 1e-6


def test_the_average_is_not_rounded_between_samples(device: ttnn.MeshDevice) -> None:
    """A step of 1 converges to the last bit.

    Rounded averages would stop earlier.
    """
    x = _tensor(np.ones((1, 1, 1, 2048), np.float32), device)
    assert _numbers(ttnn.ema(x, 0.99))[0, 0, 0, -1] == 1.0


def test_a_narrow_dst_cuts_what_it_stores(device: ttnn.MeshDevice) -> None:
    x = _tensor(_samples(1, 1, 32, 64), device)
    config = ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=False)
    exact = golden.ema(_numbers(x), 0.25)
    cut = _numbers(ttnn.ema(x, 0.25, compute_kernel_config=config))
    assert (cut <= exact * (1 + 1e-6)).all()
    assert (exact - cut).max() <= 2**-8 + 1e-6
    assert not np.array_equal(cut, _numbers(ttnn.ema(x, 0.25)))


def test_output_and_grid(device: ttnn.MeshDevice) -> None:
    x = _tensor(_samples(1, 2, 64, 64), device)
    out = ttnn.zeros_like(x)
    result = ttnn.ema(x, alpha=0.5, core_grid=ttnn.CoreGrid(y=2, x=2), out=out)
    assert result is out
    assert np.array_equal(_numbers(out), _numbers(ttnn.ema(x, 0.5, memory_config=ttnn.L1_MEMORY_CONFIG)))


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _tensor(_samples(1, 1, 32, 32), device)
    with pytest.raises(ttnn.DTypeError, match="Input tensor must be BFLOAT16"):
        ttnn.ema(_tensor(_samples(1, 1, 32, 32), device, ttnn.float32), 0.5)
    with pytest.raises(ttnn.ShapeError, match="expects leading dimension to be 1, got 2"):
        ttnn.ema(_tensor(_samples(2, 1, 32, 32), device), 0.5)
    with pytest.raises(ttnn.ShapeError, match="got rank 3"):
        ttnn.ema(_tensor(_samples(1, 32, 32), device), 0.5)
    with pytest.raises(ttnn.LayoutError, match="must have TILE layout"):
        ttnn.ema(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), 0.5)
    with pytest.raises(ttnn.ParameterError, match="got NaN"):
        ttnn.ema(x, float("nan"))
