"""The negative log likelihood loss of the moreh family and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPES = [(5, 10), (40, 70), (3, 7, 40), (2, 5, 33, 34), (2, 3, 2, 5, 6)]
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)


def _targets(shape: tuple[int, ...], device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return classes, and some that are none."""
    numbers = np.random.default_rng(3).integers(-1, shape[1] + 1, (shape[0], *shape[2:]))
    return ttnn.Tensor(numbers.astype(np.int32), ttnn.int32, device, TILES)


def _element(value: float, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.full((1,), value, ttnn.bfloat16, TILES, device)


def _operands(shape: tuple[int, ...], device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor]:
    def positive(values: Any) -> Any:
        return np.abs(values) + 0.25

    x = make(shape, ttnn.bfloat16, TILES, device, fit=lambda values: -positive(values))
    return x, _targets(shape, device), make((shape[1],), ttnn.bfloat16, TILES, device, seed=2, fit=positive)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_loss_matches_the_golden_function(
    shape: tuple[int, ...], weighted: bool, reduction: str, config: Any, device: ttnn.MeshDevice
) -> None:
    x, target, weight = _operands(shape, device)
    divisor = _element(0.0, device) if reduction == "mean" else None
    given: dict[str, Any] = {"ignore_index": 2, "weight_tensor": weight if weighted else None}
    result = ttnn.moreh_nll_loss(x, target, reduction, divisor_tensor=divisor, compute_kernel_config=config, **given)
    given["weight_tensor"] = values_of(weight) if weighted else None
    expected = golden.moreh_nll_loss(values_of(x), values_of(target), reduction, **given)
    assert tuple(result.shape) == expected.shape
    # Sums of up to 2,244 terms round to 8 bits at every tile and dimension; no reduction is one or two products.
    np.testing.assert_allclose(values_of(result), expected, rtol=2**-6 if reduction == "none" else 0.06, atol=1e-6)
    if divisor is not None:
        into = _element(0.0, device)
        given["weight_tensor"] = weight if weighted else None
        again = ttnn.moreh_nll_loss(
            x, target, "mean", divisor_tensor=divisor, output_tensor=into, compute_kernel_config=config, **given
        )
        assert again is into
        assert values_of(into).item() == values_of(result).item()
        counts = golden.moreh_nll_loss(
            -np.ones(shape),
            values_of(target),
            "sum",
            **given | {"weight_tensor": values_of(weight) if weighted else None},
        )
        np.testing.assert_allclose(values_of(divisor).item(), counts.item(), rtol=0.06)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_gradients(shape: tuple[int, ...], weighted: bool, divided: bool, device: ttnn.MeshDevice) -> None:
    x, target, weight = _operands(shape, device)
    grad, divisor = _element(1.5, device), _element(4.0, device) if divided else None
    options: dict[str, Any] = {"ignore_index": 1, "divisor_tensor": divisor}
    result = ttnn.moreh_nll_loss_backward(
        target, grad, divided, weight_tensor=weight if weighted else None, input_grad_tensor=x, **options
    )
    assert result is x
    expected = golden.moreh_nll_loss_backward(
        values_of(target),
        values_of(grad),
        divided,
        weight_tensor=values_of(weight) if weighted else None,
        input_grad_tensor=np.zeros(shape),
        ignore_index=1,
        divisor_tensor=4.0 if divided else None,
    )
    # One product of 8 bits; the divisor is a power of two.
    np.testing.assert_allclose(values_of(result), expected, rtol=2**-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_losses(shape: tuple[int, ...], weighted: bool, device: ttnn.MeshDevice) -> None:
    x, target, weight = _operands(shape, device)
    grad = make((shape[0], *shape[2:]), ttnn.bfloat16, TILES, device, seed=5)
    result = ttnn.moreh_nll_loss_unreduced_backward(
        target, grad, weight_tensor=weight if weighted else None, input_grad_tensor=x, ignore_index=1
    )
    assert result is x
    exact = golden.moreh_nll_loss_unreduced_backward(
        values_of(target),
        values_of(grad),
        weight_tensor=values_of(weight) if weighted else None,
        input_grad_tensor=np.zeros(shape),
        ignore_index=1,
    )
    # Products are exact in float32, and cut.
    cut = (exact.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    np.testing.assert_array_equal(values_of(result), cut)


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x, target, weight = _operands((3, 7, 40), device)
    with pytest.raises(ttnn.ParameterError, match="Divisor tensor must not be empty"):
        ttnn.moreh_nll_loss(x, target, "mean")
    with pytest.raises(ttnn.ParameterError, match="must be 'mean', 'sum' or 'none'"):
        ttnn.moreh_nll_loss(x, target, "product")
    with pytest.raises(ttnn.ShapeError, match="target_tensor has shape"):
        ttnn.moreh_nll_loss(x, _targets((2, 7, 40), device), "sum")
    with pytest.raises(ttnn.DTypeError, match="target_tensor is BFLOAT16"):
        ttnn.moreh_nll_loss(x, x, "sum")
    with pytest.raises(ttnn.ShapeError, match="weight_tensor has shape"):
        ttnn.moreh_nll_loss(x, target, "sum", weight_tensor=make((3,), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.ParameterError, match="not support creating output tensors"):
        ttnn.moreh_nll_loss_backward(target, weight, False)
