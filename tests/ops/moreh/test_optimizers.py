"""Moreh Adam, AdamW and SGD steps against float64 definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPES = [(2, 3, 40, 70), (32, 32), (70,)]
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
# Averages and parameters round to 8 bits; beside a 16-bit Dst so does each of some ten steps.
TOLERANCE = {None: 2**-4, WIDE: 2**-7}


def _operands(shape: tuple[int, ...], count: int, device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    def positive(values: Any) -> Any:
        return np.abs(values) + 0.25

    first = [make(shape, ttnn.bfloat16, TILES, device, seed=seed) for seed in range(3)]
    return [*first, *(make(shape, ttnn.bfloat16, TILES, device, seed=seed, fit=positive) for seed in range(3, count))]


def _close(result: Any, expected: Any, config: Any) -> None:
    assert len(result) == len(expected)
    for tensor, values in zip(result, expected, strict=True):
        assert (tensor is None) == (values is None)
        if tensor is not None:
            np.testing.assert_allclose(values_of(tensor), values, rtol=0, atol=TOLERANCE[config] * np.abs(values).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("name", ["moreh_adam", "moreh_adamw"])
def test_adam_step_matches_the_golden_function(
    name: str, shape: tuple[int, ...], amsgrad: bool, config: Any, device: ttnn.MeshDevice
) -> None:
    operands = _operands(shape, 5, device)
    options = {"lr": 0.25, "beta1": 0.5, "beta2": 0.75, "eps": 0.125, "weight_decay": 0.5, "step": 3}
    given = {"max_exp_avg_sq_in": operands[4]} if amsgrad else {}
    result = getattr(ttnn, name)(*operands[:4], amsgrad=amsgrad, compute_kernel_config=config, **options, **given)
    largest = {"max_exp_avg_sq_in": values_of(operands[4])}
    values = [values_of(tensor) for tensor in operands[:4]]
    _close(result, getattr(golden, name)(*values, amsgrad=amsgrad, **options, **largest), config)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adamw_of_bfloat8_b_beside_a_32_bit_dst(amsgrad: bool, device: ttnn.MeshDevice) -> None:
    operands = [ttnn.typecast(tensor, ttnn.bfloat8_b) for tensor in _operands((2, 40, 70), 5, device)]
    options: dict[str, Any] = {"lr": 0.25, "beta1": 0.5, "beta2": 0.75, "eps": 0.125, "step": 3, "amsgrad": amsgrad}
    given = {"max_exp_avg_sq_in": operands[4]} if amsgrad else {}
    result = ttnn.moreh_adamw(*operands[:4], compute_kernel_config=WIDE, **options, **given)
    assert all(tensor.dtype is ttnn.bfloat8_b for tensor in result if tensor is not None)
    values = [values_of(tensor) for tensor in operands]
    expected = golden.moreh_adamw(*values[:4], **options, max_exp_avg_sq_in=values[4])
    for tensor, of in zip(result, expected, strict=True):
        assert (tensor is None) == (of is None)
        if tensor is not None:
            # Half a step of seven bits, below the largest of a group.
            np.testing.assert_allclose(values_of(tensor), of, rtol=0, atol=2**-6 * np.abs(of).max())
    for call in (
        lambda: ttnn.moreh_adamw(*operands[:4]),
        lambda: ttnn.moreh_adam(*operands[:4], compute_kernel_config=WIDE),
        lambda: ttnn.moreh_adamw(operands[0], *_operands((2, 40, 70), 3, device), compute_kernel_config=WIDE),
    ):
        with pytest.raises(ttnn.DTypeError):
            call()


@pytest.mark.parametrize("name", ["moreh_adam", "moreh_adamw"])
def test_outputs_are_filled(name: str, device: ttnn.MeshDevice) -> None:
    operands = _operands((40, 70), 5, device)
    operator = getattr(ttnn, name)
    plain = operator(*operands[:4], step=2, amsgrad=True, max_exp_avg_sq_in=operands[4])
    names = ("param_out", "exp_avg_out", "exp_avg_sq_out", "max_exp_avg_sq_out")
    into = [ttnn.empty_like(operands[0]) for _ in names]
    outputs = dict(zip(names, into, strict=True))
    result = operator(*operands[:4], step=2, amsgrad=True, max_exp_avg_sq_in=operands[4], **outputs)
    for tensor, target, first in zip(result, into, plain, strict=True):
        assert tensor is target
        np.testing.assert_array_equal(raw_of(target), raw_of(first))
    # In place, as training does it.
    names = ("param_out", "exp_avg_out", "exp_avg_sq_out")
    ours = [operands[0], operands[2], operands[3]]
    again = operator(
        *operands[:4], step=2, amsgrad=True, max_exp_avg_sq_in=operands[4], **dict(zip(names, ours, strict=True))
    )
    for tensor, first in zip(again, plain, strict=True):
        np.testing.assert_array_equal(raw_of(tensor), raw_of(first))


def test_step_counts(device: ttnn.MeshDevice) -> None:
    operands = _operands((32, 32), 4, device)
    first, second = (values_of(ttnn.moreh_adam(*operands, lr=0.5, step=step)[0]) for step in (1, 9))
    assert (first != second).any()
    # The factor of the average falls from 1 / 0.1 to 1 / 0.61, the root of that of the squares from 31.6 to 10.6.
    moved = [np.abs(values_of(operands[0]) - values).mean() for values in (first, second)]
    assert moved[0] > moved[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight_decay": 0.5},
        {"momentum": 0.5},
        {"momentum": 0.5, "momentum_initialized": True},
        {"momentum": 0.5, "momentum_initialized": True, "dampening": 0.25, "weight_decay": 0.5},
        {"momentum": 0.5, "momentum_initialized": True, "nesterov": True},
        {"momentum": 0.5, "nesterov": True},
    ],
)
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_sgd_step_matches_the_golden_function(
    shape: tuple[int, ...], options: dict[str, Any], config: Any, device: ttnn.MeshDevice
) -> None:
    param, grad, buffer = _operands(shape, 3, device)
    given = {"lr": 0.25, "momentum_initialized": False} | options
    result = ttnn.moreh_sgd(param, grad, buffer, compute_kernel_config=config, **given)
    _close(result, golden.moreh_sgd(values_of(param), values_of(grad), values_of(buffer), **given), config)
    into = [ttnn.empty_like(param) for _ in range(2)]
    again = ttnn.moreh_sgd(param, grad, buffer, *into, compute_kernel_config=config, **given)
    assert again == into
    np.testing.assert_array_equal(raw_of(into[0]), raw_of(result[0]))


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    operands = _operands((32, 64), 4, device)
    rows = make((32, 64), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    with pytest.raises(ttnn.ParameterError, match="needs max_exp_avg_sq_in"):
        ttnn.moreh_adam(*operands, amsgrad=True)
    with pytest.raises(ttnn.ParameterError, match="steps are counted from 0"):
        ttnn.moreh_adamw(*operands, step=-1)
    with pytest.raises(ttnn.ParameterError, match="need momentum_buffer_in"):
        ttnn.moreh_sgd(*operands[:2], momentum=0.5, momentum_initialized=True)
    with pytest.raises(ttnn.ShapeError, match="grad has shape"):
        ttnn.moreh_sgd(operands[0], make((32, 32), ttnn.bfloat16, TILES, device), momentum_initialized=False)
    with pytest.raises(ttnn.DTypeError, match="moreh_sgd param_in only supports specific data types"):
        ttnn.moreh_sgd(make((32, 64), ttnn.float32, TILES, device), operands[0], momentum_initialized=False)
    with pytest.raises(ttnn.LayoutError, match="moreh_adam grad only supports TILE layout"):
        ttnn.moreh_adam(operands[0], rows, *operands[2:])
