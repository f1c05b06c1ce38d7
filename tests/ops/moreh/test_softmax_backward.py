"""Moreh softmax, softmin and log-softmax gradients.

And the programs of small and large tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPE = (2, 3, 40, 70)
NAMES = ["softmax", "softmin", "logsoftmax"]
STRATEGY = ttnn.MorehSoftmaxBackwardOpParallelizationStrategy
WIDE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)


def _operands(name: str, dim: int, device: ttnn.MeshDevice) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    x = make(SHAPE, ttnn.bfloat16, TILES, device)
    y = getattr(golden, f"moreh_{name}")(values_of(x), dim)
    given = ttnn.Tensor(y.astype(np.float32), ttnn.bfloat16, device=device, layout=TILES)
    return given, make(SHAPE, ttnn.bfloat16, TILES, device, seed=1)


@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("config", [None, WIDE], ids=["default", "wide"])
def test_gradients_match_the_golden_function(name: str, dim: int, config: Any, device: ttnn.MeshDevice) -> None:
    y, dy = _operands(name, dim, device)
    operator: Any = getattr(ttnn, f"moreh_{name}_backward")
    expected = getattr(golden, f"moreh_{name}_backward")(values_of(y), values_of(dy), dim)
    result = operator(y, dy, dim, compute_kernel_config=config)
    # Sums of at most 70 terms, each rounded to 8 bits beside a 16-bit Dst; one rounding to 8 bits beside a wide one.
    tolerance = (2**-4 if config is None else 2**-7) * np.abs(expected).max()
    np.testing.assert_allclose(values_of(result), expected, atol=tolerance, rtol=0)
    into = ttnn.empty_like(y)
    assert operator(y, dy, dim, input_grad_tensor=into, compute_kernel_config=config) is into
    np.testing.assert_array_equal(raw_of(into), raw_of(result))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dim", "letter"), [(-1, "W"), (-2, "H")])
def test_the_kernel_of_large_tensors_adds_tiles_first(
    name: str, dim: int, letter: str, device: ttnn.MeshDevice
) -> None:
    shape = (1, 1, 96, 96)
    y = make(shape, ttnn.bfloat16, TILES, device, fit=lambda values: np.abs(values) / 8)
    dy = make(shape, ttnn.bfloat16, TILES, device, seed=1)
    operator: Any = getattr(ttnn, f"moreh_{name}_backward")
    small, large = (operator(y, dy, dim, strategy=STRATEGY[f"{size}_{letter}"]) for size in ("SMALL", "LARGE"))
    np.testing.assert_array_equal(raw_of(operator(y, dy, dim)), raw_of(small))
    assert (raw_of(small) != raw_of(large)).any()
    expected = getattr(golden, f"moreh_{name}_backward")(values_of(y), values_of(dy), dim)
    np.testing.assert_allclose(values_of(large), expected, atol=2**-4 * np.abs(expected).max())


def test_long_lines_run_the_kernel_of_large_tensors(device: ttnn.MeshDevice) -> None:
    shape = (32, 32 * 80)
    y = make(shape, ttnn.bfloat16, TILES, device, fit=lambda values: np.abs(values) / 64)
    dy = make(shape, ttnn.bfloat16, TILES, device, seed=1)
    result = ttnn.moreh_softmax_backward(y, dy, -1)
    np.testing.assert_array_equal(
        raw_of(result), raw_of(ttnn.moreh_softmax_backward(y, dy, -1, strategy=STRATEGY.LARGE_W))
    )
    with pytest.raises(ttnn.ParameterError, match="not enough circular buffer memory"):
        ttnn.moreh_softmax_backward(y, dy, -1, strategy=STRATEGY.SMALL_W)


def test_forward_strategies(device: ttnn.MeshDevice) -> None:
    kinds = ttnn.MorehSoftmaxOpParallelizationStrategy
    x = make((1, 1, 96, 96), ttnn.bfloat16, TILES, device)
    for dim, letter in ((-1, "W"), (-2, "H")):
        small, large = (ttnn.moreh_softmax(x, dim, strategy=kinds[f"{size}_{letter}"]) for size in ("SMALL", "LARGE"))
        assert (raw_of(small) != raw_of(large)).any()
        expected = golden.moreh_softmax(values_of(x), dim)
        np.testing.assert_allclose(values_of(large), expected, atol=2**-6 * expected.max())
    with pytest.raises(ttnn.UnsupportedError, match="takes exp"):
        ttnn.moreh_softmin(x, -1, strategy=kinds.LARGE_W)
    with pytest.raises(ttnn.ParameterError, match="is not for dimension -1"):
        ttnn.moreh_softmax(x, -1, strategy=kinds.SMALL_H)
    with pytest.raises(ttnn.ParameterError, match="large c is for dim 0"):
        ttnn.moreh_softmax(x, 0, strategy=kinds.SMALL_H)


def test_float32_needs_a_wide_dst(device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.float32, TILES, device)
    expected = golden.moreh_softmax(values_of(x), -1)
    result = ttnn.moreh_softmax(x, -1, compute_kernel_config=WIDE)
    # Operands of the FPU have 10 bits behind the point.
    np.testing.assert_allclose(values_of(result), expected, rtol=2**-7)
    # Which it has by default.
    np.testing.assert_allclose(values_of(ttnn.moreh_softmax(x, -1)), expected, rtol=2**-7)
    narrow = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)
    with pytest.raises(ttnn.DTypeError, match="FP32 destination accumulation must be enabled"):
        ttnn.moreh_softmax(x, -1, compute_kernel_config=narrow)


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    y = make((32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.UnsupportedError, match="BFLOAT8_B is not modelled"):
        ttnn.moreh_softmax_backward(make((32, 64), ttnn.bfloat8_b, TILES, device), y, 0)
    with pytest.raises(ttnn.DTypeError, match="Output_tensor dtype should be bfloat16"):
        ttnn.moreh_softmax_backward(make((32, 64), ttnn.float32, TILES, device), y, 0)
    with pytest.raises(ttnn.LayoutError, match="Output_grad to softmax must be tilized"):
        ttnn.moreh_softmax_backward(y, make((32, 64), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device), 0)
    with pytest.raises(ttnn.ShapeError, match="output_grad_tensor has shape"):
        ttnn.moreh_softmax_backward(y, make((32, 32), ttnn.bfloat16, TILES, device), 0)
    with pytest.raises(ttnn.ShapeError, match="dim=2 is out of range"):
        ttnn.moreh_softmax_backward(y, y, 2)
    with pytest.raises(ttnn.ParameterError, match="is another operator"):
        ttnn.moreh_softmax_backward(y, y, 0, op=ttnn.MorehSoftmaxBackwardOp.SOFTMIN)
