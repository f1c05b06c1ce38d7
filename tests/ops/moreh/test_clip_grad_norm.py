"""Gradients scaled to a largest norm."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPES = [(2, 3, 40, 70), (33, 31), (70,)]


def _gradients(device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    return [make(shape, ttnn.bfloat16, TILES, device, seed=seed) for seed, shape in enumerate(SHAPES)]


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("max_norm", [1.0, 1e9])
def test_gradients_are_scaled(norm_type: float, max_norm: float, device: ttnn.MeshDevice) -> None:
    inputs = _gradients(device)
    before = [values_of(tensor) for tensor in inputs]
    result = ttnn.moreh_clip_grad_norm(inputs, max_norm, norm_type)
    expected = golden.moreh_clip_grad_norm(before, max_norm, norm_type)
    assert tuple(result.shape) == (1, 1)
    # Powers, sums of 30 tiles and a root of 8 bits.
    np.testing.assert_allclose(values_of(result), expected, rtol=0.08)
    factor = min(max_norm / (values_of(result).item() + 1e-6), 1.0)
    for tensor, old in zip(inputs, before, strict=True):
        np.testing.assert_allclose(values_of(tensor), old * factor, rtol=0 if factor == 1 else 2**-6)


def test_norm_is_written(device: ttnn.MeshDevice) -> None:
    total = make((1, 1), ttnn.bfloat16, TILES, device)
    assert ttnn.moreh_clip_grad_norm(_gradients(device), 1.0, total_norm=total) is total
    assert values_of(total).item() == values_of(ttnn.moreh_clip_grad_norm(_gradients(device), 1.0)).item()


def test_what_is_not_finite_is_refused(device: ttnn.MeshDevice) -> None:
    def broken() -> list[ttnn.Tensor]:
        return [make((32, 32), ttnn.bfloat16, TILES, device, fit=lambda values: np.where(values > 1, np.inf, values))]

    assert not np.isfinite(values_of(ttnn.moreh_clip_grad_norm(broken(), 1.0))).all()
    inputs = broken()
    before = values_of(inputs[0])
    with pytest.raises(ttnn.ParameterError, match="is non-finite, so it cannot be"):
        ttnn.moreh_clip_grad_norm(inputs, 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(values_of(inputs[0]), before)
    with pytest.raises(ttnn.ParameterError, match="is non-finite"):
        ttnn.moreh_clip_grad_norm(inputs, 1.0, math.nan, True)


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ParameterError, match="inputs is empty"):
        ttnn.moreh_clip_grad_norm([], 1.0)
    with pytest.raises(ttnn.DTypeError, match=r"inputs\[1\] is FLOAT32"):
        ttnn.moreh_clip_grad_norm([*_gradients(device)[:1], make((32, 32), ttnn.float32, TILES, device)], 1.0)
    with pytest.raises(ttnn.ParameterError, match="norm_type is 0"):
        ttnn.moreh_clip_grad_norm(_gradients(device), 1.0, 0.0)
