"""Layer norm of the moreh family and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
CASES = [((3, 40, 70), 1), ((3, 40, 70), 2), ((2, 3, 40, 70), 3), ((2, 3, 33, 31), 4), ((70,), 1), ((40, 64), 2)]


def _statistics(shape: tuple[int, ...], count: int, device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    outer = shape[: len(shape) - count] or (1, 1)
    return [make(outer, ttnn.bfloat16, TILES, device, seed=seed) for seed in (7, 8)]


def _close(result: ttnn.Tensor | None, expected: Any, part: float) -> None:
    assert result is not None
    given = np.asarray(expected, np.float64).reshape(tuple(result.shape))
    np.testing.assert_allclose(values_of(result), given, rtol=0, atol=part * np.abs(given).max())


@pytest.mark.parametrize(("shape", "count"), CASES)
@pytest.mark.parametrize("affine", ["none", "gamma", "beta", "both"])
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_result_and_statistics_match_the_golden_function(
    shape: tuple[int, ...], count: int, affine: str, config: Any, device: ttnn.MeshDevice
) -> None:
    x = make(shape, ttnn.bfloat16, TILES, device)
    inner = shape[len(shape) - count :]
    gamma = make(inner, ttnn.bfloat16, TILES, device, seed=1) if affine in ("gamma", "both") else None
    beta = make(inner, ttnn.bfloat16, TILES, device, seed=2) if affine in ("beta", "both") else None
    mean, rstd = _statistics(shape, count, device)
    result = ttnn.moreh_layer_norm(x, count, 0.5, gamma, beta, mean=mean, rstd=rstd, compute_kernel_config=config)
    given = [None if tensor is None else values_of(tensor) for tensor in (gamma, beta)]
    expected = golden.moreh_layer_norm(values_of(x), count, 0.5, *given, mean=np.ones(()), rstd=np.ones(()))
    assert result[1:] == [mean, rstd]
    # The root is taken with 10 bits; sums and products round to 8 bits beside a 16-bit Dst.
    for tensor, values, part in zip(result, expected, (2**-5, 2**-6, 2**-6), strict=True):
        if tensor is mean:
            np.testing.assert_allclose(values_of(tensor).ravel(), np.ravel(values), atol=2**-7, rtol=2**-6)
        else:
            _close(tensor, values, part)


@pytest.mark.parametrize(("shape", "count"), CASES)
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_gradients_match_the_golden_function(
    shape: tuple[int, ...], count: int, config: Any, device: ttnn.MeshDevice
) -> None:
    x, dy = (make(shape, ttnn.bfloat16, TILES, device, seed=seed) for seed in (0, 1))
    inner = shape[len(shape) - count :]
    gamma = make(inner, ttnn.bfloat16, TILES, device, seed=2)
    mean, rstd = _statistics(shape, count, device)
    ttnn.moreh_layer_norm(x, count, mean=mean, rstd=rstd)
    into = [ttnn.empty_like(tensor) for tensor in (x, gamma, gamma)]
    names = ("input_grad", "gamma_grad", "beta_grad")
    result = ttnn.moreh_layer_norm_backward(
        dy, x, mean, rstd, count, gamma=gamma, compute_kernel_config=config, **dict(zip(names, into, strict=True))
    )
    operands = [values_of(tensor) for tensor in (dy, x, mean, rstd)]
    flags = dict.fromkeys(names, np.ones(()))
    expected = golden.moreh_layer_norm_backward(*operands, count, gamma=values_of(gamma), **flags)
    for tensor, target, values in zip(result, into, expected, strict=True):
        assert tensor is target
        # The number of elements and its inverse are cut to 8 bits.
        _close(tensor, values, 2**-5 if config is None else 2**-6)


def test_only_what_is_given_is_computed(device: ttnn.MeshDevice) -> None:
    x = make((64, 64), ttnn.bfloat16, TILES, device)
    assert ttnn.moreh_layer_norm(x, 1)[1:] == [None, None]
    mean, rstd = _statistics((64, 64), 1, device)
    beta_grad = make((64,), ttnn.bfloat16, TILES, device)
    result = ttnn.moreh_layer_norm_backward(x, x, mean, rstd, 1, beta_grad=beta_grad)
    assert result == [None, None, beta_grad]
    _close(beta_grad, values_of(x).sum(0), 2**-5)


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ShapeError, match="normalized_dims should > 0"):
        ttnn.moreh_layer_norm(x, 0)
    with pytest.raises(ttnn.ShapeError, match="normalized_dims should <= input rank"):
        ttnn.moreh_layer_norm(x, 3)
    with pytest.raises(ttnn.ShapeError, match="gamma has shape"):
        ttnn.moreh_layer_norm(x, 1, 1e-5, make((32,), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.ShapeError, match="mean has shape"):
        ttnn.moreh_layer_norm(x, 1, mean=make((5,), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.DTypeError, match="moreh_layer_norm only supports bfloat16"):
        ttnn.moreh_layer_norm(make((32, 64), ttnn.float32, TILES, device), 1)
    with pytest.raises(ttnn.LayoutError, match="only supports tiled layout"):
        ttnn.moreh_layer_norm(make((32, 64), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device), 1)
