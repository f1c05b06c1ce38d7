"""Quantization against numpy integers with program roundings, and its reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden.eltwise import quantization as golden

TILES = ttnn.TILE_LAYOUT
SHAPE = (2, 40, 33)
FLOATS = [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b]


def _vector(values: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    kind = np.int32 if dtype is ttnn.int32 else np.float32
    return ttnn.Tensor(np.asarray(values, kind), dtype, None, TILES).to(device)


def _saturated(x: Any) -> Any:
    """Round to nearest, ties away from zero, to eight bits."""
    return np.clip(np.sign(x) * np.floor(np.abs(x) + 0.5), -127, 127)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("scale", "zero"), [(0.25, 3), (2.0**-6, -100), (4.0, 0)])
def test_numbers(scale: float, zero: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    # Powers of two make every step exact, and many ties.
    x = make(SHAPE, dtype, TILES, device, fit=lambda values: np.round(values * 16) / 8)
    result = ttnn.quantize(x, scale, zero)
    assert (result.dtype, result.layout, tuple(result.shape)) == (ttnn.int32, TILES, SHAPE)
    expected = _saturated(values_of(x) / scale + zero)
    np.testing.assert_array_equal(values_of(result), expected)
    assert np.abs(expected).max() == 127 or scale > 2.0**-6
    # A tensor as scale is the same program.
    same = ttnn.quantize(x, _vector([scale], ttnn.float32, device), zero)
    np.testing.assert_array_equal(values_of(same), expected)


def test_the_quotient_is_a_product_with_the_inverse(device: ttnn.MeshDevice) -> None:
    """One rounding of the inverse, one of the multiply-add, both in float32."""
    x = make(SHAPE, ttnn.float32, TILES, device)
    scale = 0.0173
    inverse = np.float64(np.float32(1) / np.float32(scale))
    exact = values_of(x) * inverse + 7
    expected = _saturated(exact.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(values_of(ttnn.quantize(x, scale, 7)), expected)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_integers_back(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    q = make(SHAPE, ttnn.int32, TILES, device, limit=127)
    for zero in (3, -20):
        result = ttnn.dequantize(q, 0.5, zero, dtype=dtype)
        assert result.dtype is dtype
        np.testing.assert_array_equal(values_of(result), (values_of(q) - zero) * 0.5)
        same = ttnn.dequantize(q, _vector([0.5], ttnn.bfloat16, device), zero, dtype=dtype)
        np.testing.assert_array_equal(values_of(same), values_of(result))
    assert ttnn.dequantize(q, 0.5, 3).dtype is ttnn.bfloat16


def test_another_scale(device: ttnn.MeshDevice) -> None:
    q = make(SHAPE, ttnn.int32, TILES, device, limit=127)
    result = ttnn.requantize(q, 0.25, 3, 0.5, -2)
    np.testing.assert_array_equal(values_of(result), _saturated((values_of(q) - 3) * 0.5 - 2))
    np.testing.assert_array_equal(values_of(ttnn.requantize(q, 8.0, 0, 1.0, 0)), _saturated(values_of(q) * 8))


def _parameters(size: int, device: ttnn.MeshDevice) -> tuple[Any, Any, ttnn.Tensor, ttnn.Tensor]:
    scales, zeros = 2.0 ** -(np.arange(size) % 4), np.arange(size) % 7 - 3
    return scales, zeros, _vector(scales, ttnn.float32, device), _vector(zeros, ttnn.int32, device)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_channels(axis: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    scales, zeros, scale, zero = _parameters(SHAPE[axis], device)
    x = make(SHAPE, dtype, TILES, device, fit=lambda values: np.round(values * 4))
    q = ttnn.quantize(x, scale, zero, axis=axis)
    # The quotient of a division, unlike a product with an inverse, may be a unit off.
    distance = np.abs(values_of(q) - golden.quantize(values_of(x), scales, zeros, axis=axis))
    assert distance.max() <= 1
    assert (distance == 0).mean() > 0.95
    back = ttnn.dequantize(q, scale, zero, axis=axis, dtype=dtype)
    np.testing.assert_array_equal(values_of(back), golden.dequantize(values_of(q), scales, zeros, axis=axis))
    same = ttnn.requantize(q, scale, zero, scale, zero, axis=axis)
    np.testing.assert_array_equal(values_of(same), values_of(q))


def test_numbers_and_channels_mix(device: ttnn.MeshDevice) -> None:
    scales, zeros, scale, zero = _parameters(SHAPE[1], device)
    q = make(SHAPE, ttnn.int32, TILES, device, limit=60)
    numbers = golden.dequantize(values_of(q), 0.5, 2)
    to_channels = ttnn.requantize(q, 0.5, 2, scale, zero, axis=1)
    distance = np.abs(values_of(to_channels) - golden.quantize(numbers, scales, zeros, axis=1))
    # The numbers between are bfloat16, as are quotients and sums.
    assert distance.max() <= 2
    to_number = ttnn.requantize(q, scale, zero, 0.5, 2, axis=1)
    expected = _saturated(golden.dequantize(values_of(q), scales, zeros, axis=1) / 0.5 + 2)
    np.testing.assert_array_equal(values_of(to_number), expected)


def test_tensors_of_one_element(device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.float32, TILES, device, fit=lambda values: np.round(values * 4))
    scale, zero = _vector([0.25], ttnn.float32, device), _vector([3], ttnn.int32, device)
    expected = values_of(ttnn.quantize(x, 0.25, 3))
    for pair in ((0.25, zero), (scale, zero)):
        q = ttnn.quantize(x, *pair)
        np.testing.assert_array_equal(_saturated(values_of(q)), expected)
        np.testing.assert_array_equal(values_of(ttnn.dequantize(q, *pair, dtype=ttnn.float32)), values_of(x))


def test_outputs(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 32, 64), ttnn.bfloat16, TILES, device)
    into = ttnn.zeros((1, 1, 32, 64), ttnn.int32, TILES, device)
    assert ttnn.quantize(x, 0.1, 0, output_tensor=into) is into
    np.testing.assert_array_equal(values_of(into), values_of(ttnn.quantize(x, 0.1, 0)))
    back = ttnn.dequantize(into, 0.1, 0, dtype=ttnn.float32, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (back.dtype, back.memory_config()) == (ttnn.float32, ttnn.L1_MEMORY_CONFIG)


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x, q = make(SHAPE, ttnn.bfloat16, TILES, device), make(SHAPE, ttnn.int32, TILES, device, limit=9)
    scales, zeros = _vector(np.ones(33), ttnn.float32, device), _vector(np.zeros(33), ttnn.int32, device)
    for call, error, words in (
        (lambda: ttnn.quantize(q, 0.5, 0), ttnn.DTypeError, "Quantize only takes floating-point number inputs"),
        (lambda: ttnn.dequantize(x, 0.5, 0), ttnn.DTypeError, "Dequantize only supports int32, int8 or uint8 inputs"),
        (lambda: ttnn.requantize(x, 1.0, 0, 1.0, 0), ttnn.DTypeError, "Requantize only supports int32 inputs for now"),
        (
            lambda: ttnn.quantize(x, 0.5, 0, dtype=ttnn.float32),
            ttnn.DTypeError,
            "only supports int32, int8 or uint8 outputs for now",
        ),
        (lambda: ttnn.quantize(x, x, 0), ttnn.ShapeError, "only takes scalar-tensor scales"),
        (lambda: ttnn.quantize(x, zeros, 0), ttnn.DTypeError, "only takes floating-point number scales"),
        (lambda: ttnn.quantize(x, 0.5, scales), ttnn.DTypeError, "only takes int32 zero-points for now"),
        (lambda: ttnn.quantize(x, scales, zeros, axis=3), ttnn.ShapeError, r"outside the range \[-3, 2\]"),
        (lambda: ttnn.quantize(x, scales, zeros, axis=1), ttnn.ShapeError, "scale has 33 elements; the axis has 40"),
        (lambda: ttnn.quantize(x, 0.5, 0, axis=2), ttnn.ParameterError, "expects 1D scale tensors"),
        (lambda: ttnn.requantize(q, 1.0, 0, 1.0, 0, axis=1), ttnn.ParameterError, "axis=1 is for vectors"),
        (lambda: ttnn.dequantize(q, 0.5, 0, dtype=ttnn.int32), ttnn.DTypeError, "only supports bf16/f32 outputs"),
    ):
        with pytest.raises(error, match=words):
            call()
    rows = make(SHAPE, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    with pytest.raises(ttnn.LayoutError, match="input_tensor is row-major"):
        ttnn.quantize(rows, make((1,), ttnn.float32, ttnn.TILE_LAYOUT, device), 3)
    one = _vector([0.5], ttnn.float32, device)
    with pytest.raises(ttnn.ShapeError, match="must both be per-channel or both be per-tensor"):
        ttnn.requantize(q, scales, _vector([0], ttnn.int32, device), one, _vector([0], ttnn.int32, device), axis=2)


def test_rows_stay_rows(device: ttnn.MeshDevice) -> None:
    """Row-major inputs with scalars give row-major results with the values of tiles."""
    values = np.random.default_rng(0).normal(size=(3, 33, 65)).astype(np.float32)
    rows, tiles = (
        ttnn.Tensor(values, ttnn.bfloat16, None, layout).to(device)
        for layout in (ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT)
    )
    found, expected = ttnn.quantize(rows, 0.25, 3), ttnn.quantize(tiles, 0.25, 3)
    assert (found.layout, found.dtype) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.int32)
    for again in (None, lambda x: ttnn.requantize(x, 0.25, 3, 0.5, -2), lambda x: ttnn.dequantize(x, 0.25, 3)):
        first, second = (found, expected) if again is None else (again(found), again(expected))
        assert first.layout is ttnn.ROW_MAJOR_LAYOUT
        np.testing.assert_array_equal(first.to_numpy(), second.to_numpy())
