"""Running sums and products, variance and standard deviation."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

SHAPE = (2, 3, 40, 70)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("dim", range(-4, 0))
def test_running_sums_and_products(dim: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, fit=lambda values: 1 + values / 32)
    values = values_of(x)
    step = 2**-7 if dtype is ttnn.bfloat16 else 2**-20
    for reverse in (False, True):
        given = np.flip(values, dim) if reverse else values
        for operator, by in ((ttnn.cumsum, np.cumsum), (ttnn.cumprod, np.cumprod)):
            expected = by(given, axis=dim)
            expected = np.flip(expected, dim) if reverse else expected
            result = operator(x, dim, reverse_order=reverse)
            assert result.dtype == dtype
            np.testing.assert_allclose(values_of(result), expected, rtol=step)


def test_compensation_keeps_what_additions_lose(device: ttnn.MeshDevice) -> None:
    values = np.full((4096, 1, 1), 2.0**-13, np.float32)
    values[0] = 2.0**11
    x = ttnn.Tensor(values, ttnn.float32, device=device, layout=ttnn.TILE_LAYOUT)
    exact = 2.0**11 + 4095 * 2.0**-13
    assert abs(values_of(ttnn.cumsum(x, 0))[-1, 0, 0] - exact) <= 2.0**-12
    plain = values_of(ttnn.cumsum(x, 0, disable_compensated_sum=True))[-1, 0, 0]
    assert abs(plain - exact) > 0.2


def test_integer_sums_wrap(device: ttnn.MeshDevice) -> None:
    values = np.array([[2**31 - 1, 1, -5], [7, 8, 9]], np.int32)
    x = ttnn.Tensor(values, ttnn.int32, device=device, layout=ttnn.TILE_LAYOUT)
    for dim in (0, 1):
        np.testing.assert_array_equal(values_of(ttnn.cumsum(x, dim)), np.cumsum(values, dim, dtype=np.int32))


def test_a_data_type_is_cast_to_first(device: ttnn.MeshDevice) -> None:
    x = make((1, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = ttnn.cumsum(x, -1, dtype=ttnn.float32)
    assert result.dtype == ttnn.float32
    out = ttnn.empty_like(result)
    assert ttnn.cumsum(x, -1, dtype=ttnn.float32, out=out) is out
    np.testing.assert_allclose(values_of(out), np.cumsum(values_of(x), -1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
@pytest.mark.parametrize("dim", [None, -1, -2, 0, 1, [2, 3], [0, 2]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_variance_and_deviation_match_numpy(
    dim: int | list[int] | None, keepdim: bool, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    x = make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, fit=lambda values: values + 3)
    axes = tuple(dim) if isinstance(dim, list) else dim
    step = {ttnn.bfloat16: 2**-8, ttnn.float32: 2**-19, ttnn.bfloat8_b: 2**-5}[dtype]
    for correction in (True, False):
        variance = values_of(x).var(axis=axes, keepdims=keepdim, ddof=int(correction))
        for operator, expected in ((ttnn.var, variance), (ttnn.std, np.sqrt(variance))):
            result = operator(x, dim, keepdim, correction=correction)
            assert tuple(result.shape) == expected.shape
            # Block floats share the exponent of the largest value.
            largest = np.abs(expected).max() if dtype is ttnn.bfloat8_b else 0
            np.testing.assert_allclose(values_of(result), expected, rtol=step, atol=step * largest)
            doubled = operator(x, dim, keepdim, correction=correction, scalar=2.0)
            factor = 4 if operator is ttnn.var else 2
            np.testing.assert_allclose(values_of(doubled), factor * expected, rtol=step, atol=factor * step * largest)


@pytest.mark.parametrize("dim", [0, [0, 1]])
def test_a_16_bit_dst_truncates_the_variance(dim: int | list[int], device: ttnn.MeshDevice) -> None:
    """The variance of 0 and 1.4453125 is 0.52223, between 0.51953125 and 0.5234375."""
    x = ttnn.Tensor(np.tile([[0.0], [1.4453125]], (16, 32)).astype(np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    for wide, expected in ((True, 0.5234375), (False, 0.51953125)):
        config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=wide)
        result = ttnn.var(x, dim, correction=False, compute_kernel_config=config)
        np.testing.assert_array_equal(values_of(result), expected)


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16])
@pytest.mark.parametrize("dim", [0, 1])
def test_integers_accumulate_in_their_type(dim: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = np.array([[3, 60000, 7], [2, 2, 40000]])
    x = ttnn.Tensor(values, dtype, device=device, layout=ttnn.TILE_LAYOUT)
    bits = 2 ** (16 if dtype is ttnn.uint16 else 32)
    for operator, by in ((ttnn.cumsum, np.cumsum), (ttnn.cumprod, np.cumprod)):
        expected = by(values, dim) % bits
        if dtype is ttnn.int32:
            expected = expected.astype(np.uint32).astype(np.int32)
        np.testing.assert_array_equal(values_of(operator(x, dim)), expected)


@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_block_floats_accumulate_in_fp32(dim: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = np.ones((4, 4, 4), np.float32)
    x = ttnn.Tensor(values, dtype, device=device, layout=ttnn.TILE_LAYOUT)
    np.testing.assert_array_equal(values_of(ttnn.cumprod(x, dim)), values)
    # Numbers up to 4 share an exponent without loss.
    np.testing.assert_array_equal(values_of(ttnn.cumsum(x, dim)), np.cumsum(values, dim))


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    integers = make((32, 32), ttnn.int32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.DTypeError, match="dtype is UINT8"):
        ttnn.cumprod(integers, 0, dtype=ttnn.uint8)
    with pytest.raises(ttnn.DTypeError, match="input_tensor is INT32"):
        ttnn.std(integers)
    with pytest.raises(ttnn.LayoutError, match="row-major"):
        ttnn.cumsum(make((32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device), 0)
    with pytest.raises(ttnn.ShapeError, match="dim=2 is out of range"):
        ttnn.cumsum(make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device), 2)
