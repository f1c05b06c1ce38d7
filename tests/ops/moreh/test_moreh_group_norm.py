"""Group norm of the moreh family and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
CASES = [((2, 6, 40, 70), 3), ((1, 4, 32, 32), 1), ((3, 5, 7, 9), 5), ((2, 8, 64, 33), 2)]
EVERY = [True, True, True]


def _close(result: ttnn.Tensor | None, expected: Any, part: float) -> None:
    assert result is not None
    np.testing.assert_allclose(values_of(result), expected, rtol=0, atol=part * max(np.abs(expected).max(), 1))


def _affine(channels: int, device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    return [make((1, 1, 1, channels), ttnn.bfloat16, TILES, device, seed=seed) for seed in (1, 2)]


@pytest.mark.parametrize(("shape", "groups"), CASES)
@pytest.mark.parametrize("affine", [False, True])
def test_result_and_statistics_match_the_golden_function(
    shape: tuple[int, ...], groups: int, affine: bool, device: ttnn.MeshDevice
) -> None:
    x = make(shape, ttnn.bfloat16, TILES, device)
    parameters = _affine(shape[1], device) if affine else [None, None]
    result = ttnn.moreh_group_norm(x, groups, 0.25, *parameters, are_required_outputs=EVERY)
    given = [None if tensor is None else values_of(tensor) for tensor in parameters]
    expected = golden.moreh_group_norm(values_of(x), groups, 0.25, *given, are_required_outputs=EVERY)
    assert [tuple(tensor.shape) for tensor in result if tensor is not None] == [shape, *2 * [(1, 1, shape[0], groups)]]
    for tensor, values in zip(result, expected, strict=True):
        _close(tensor, values, 2**-5)


@pytest.mark.parametrize(("shape", "groups"), CASES)
def test_gradients(shape: tuple[int, ...], groups: int, device: ttnn.MeshDevice) -> None:
    x, dy = (make(shape, ttnn.bfloat16, TILES, device, seed=seed) for seed in (0, 3))
    gamma, _ = _affine(shape[1], device)
    _, mean, rstd = ttnn.moreh_group_norm(x, groups, are_required_outputs=EVERY)
    assert mean is not None
    assert rstd is not None
    result = ttnn.moreh_group_norm_backward(dy, x, mean, rstd, groups, gamma=gamma, are_required_outputs=EVERY)
    operands = [values_of(tensor) for tensor in (dy, x, mean, rstd)]
    expected = golden.moreh_group_norm_backward(*operands, groups, gamma=values_of(gamma), are_required_outputs=EVERY)
    for tensor, values in zip(result, expected, strict=True):
        _close(tensor, values, 2**-5)
    into = [ttnn.empty_like(x), *_affine(shape[1], device)]
    names = ("input_grad", "gamma_grad", "beta_grad")
    again = ttnn.moreh_group_norm_backward(
        dy, x, mean, rstd, groups, gamma=gamma, are_required_outputs=EVERY, **dict(zip(names, into, strict=True))
    )
    for tensor, target, first in zip(again, into, result, strict=True):
        assert tensor is target
        assert first is not None
        np.testing.assert_array_equal(values_of(target), values_of(first))


def test_a_configuration_changes_nothing(device: ttnn.MeshDevice) -> None:
    x = make((1, 4, 40, 40), ttnn.bfloat16, TILES, device)
    low = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=True)
    results = [ttnn.moreh_group_norm(x, 2, compute_kernel_config=config)[0] for config in (None, low)]
    assert results[0] is not None
    assert results[1] is not None
    np.testing.assert_array_equal(raw_of(results[0]), raw_of(results[1]))


def test_only_what_is_wanted_is_computed(device: ttnn.MeshDevice) -> None:
    x = make((1, 4, 40, 40), ttnn.bfloat16, TILES, device)
    mean = make((1, 1, 1, 2), ttnn.bfloat16, TILES, device)
    result = ttnn.moreh_group_norm(x, 2, mean=mean)
    assert result[1] is mean
    assert result[2] is None
    assert ttnn.moreh_group_norm_backward(x, x, mean, mean, 2, are_required_outputs=[False] * 3) == [None] * 3


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((1, 4, 32, 32), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ShapeError, match="must be divisible by num_groups"):
        ttnn.moreh_group_norm(x, 3)
    with pytest.raises(ttnn.ShapeError, match="must be of rank 4"):
        ttnn.moreh_group_norm(make((4, 32, 32), ttnn.bfloat16, TILES, device), 1)
    with pytest.raises(ttnn.ShapeError, match=r"mean_shape\[-1\] must match num_groups"):
        ttnn.moreh_group_norm(x, 2, mean=make((1, 1, 1, 4), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.ParameterError, match="needs 3 entries"):
        ttnn.moreh_group_norm(x, 2, are_required_outputs=[True])
    with pytest.raises(ttnn.DTypeError, match="input is FLOAT32"):
        ttnn.moreh_group_norm(make((1, 4, 32, 32), ttnn.float32, TILES, device), 2)
