"""Values that depend on the recorded program.

Of its steps: unit, function, rounding and data types.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn

TILE = ttnn.TILE_LAYOUT
U = ttnn.UnaryOpType


def _tensor(device: ttnn.MeshDevice, values: Any, dtype: ttnn.DataType) -> ttnn.Tensor:
    kind = torch.float32 if dtype in (ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b) else torch.int64
    return ttnn.from_torch(torch.tensor(values, dtype=kind).reshape(1, -1), dtype=dtype, layout=TILE, device=device)


def _random(device: ttnn.MeshDevice, seed: int, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    values = torch.randn((64, 64), generator=torch.Generator().manual_seed(seed))
    return ttnn.from_torch(values, dtype=dtype, layout=TILE, device=device)


def _list(tensor: ttnn.Tensor) -> list[float]:
    return [float(value) for value in ttnn.to_torch(tensor).reshape(-1).tolist()]


def _float64(tensor: ttnn.Tensor) -> npt.NDArray[np.float64]:
    return np.asarray(ttnn.to_torch(tensor).to(torch.float64).numpy())


def _same(one: ttnn.Tensor, other: ttnn.Tensor) -> bool:
    return ttnn.to_numpy(one).tobytes() == ttnn.to_numpy(other).tobytes()


def test_bfloat16_is_compared_with_float32_as_tf32(device: ttnn.MeshDevice) -> None:
    a, b = _tensor(device, [1.0, 1.0], ttnn.bfloat16), _tensor(device, [1 + 2**-23, 1 + 2**-10], ttnn.float32)
    assert _list(ttnn.eq(a, b)) == [1, 0]
    assert _list(ttnn.lt(a, b)) == [0, 1]
    assert _list(ttnn.gt(b, a)) == [0, 1]


@pytest.mark.parametrize(
    ("function", "exact"),
    [(ttnn.add, np.add), (ttnn.subtract, np.subtract), (ttnn.rsub, lambda a, b: b - a)],
    ids=["add", "subtract", "rsub"],
)
def test_sums_without_the_flag_are_rounded_to_nearest_even(device: ttnn.MeshDevice, function: Any, exact: Any) -> None:
    a, b = _random(device, 1), _random(device, 2)
    rounded = torch.from_numpy(exact(_float64(a), _float64(b))).to(torch.bfloat16)
    assert torch.equal(ttnn.to_torch(function(a, b, fast_and_approximate_mode=False)), rounded)
    assert not torch.equal(ttnn.to_torch(function(a, b)), rounded)


def test_product_with_the_flag_is_that_of_the_matrix_unit(device: ttnn.MeshDevice) -> None:
    a, number = _random(device, 3), _tensor(device, [1.7], ttnn.bfloat16)
    reference = ttnn.bcast(a, number, ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.HW)
    assert _same(ttnn.multiply(a, number, fast_and_approximate_mode=True), reference)
    assert not _same(ttnn.multiply(a, number), reference)


def test_multiply_add_with_numbers_is_rounded_once(device: ttnn.MeshDevice) -> None:
    a = _tensor(device, [1 + 2**-12], ttnn.float32)
    assert _list(ttnn.mac(a, 1 - 2**-12, -1.0)) == [-(2**-24)]
    assert _list(ttnn.mac(a, _tensor(device, [1 - 2**-12], ttnn.float32), -1.0)) == [-(2**-24)]


def test_integers_are_bitcast_to_float32_through_tf32(device: ttnn.MeshDevice) -> None:
    words = _tensor(device, [0x3F800001, 0x3F802000, 1, 0], ttnn.int32)
    assert _list(ttnn.bitcast(words, ttnn.float32)) == [1.0, 1 + 2**-10, 0.0, 0.0]


def test_unsigned_words_are_zero_only_without_bits(device: ttnn.MeshDevice) -> None:
    x = _tensor(device, [0, 2**31, 1], ttnn.uint32)
    assert _list(ttnn.eqz(x)) == _list(ttnn.logical_not(x)) == [1, 0, 0]
    assert _list(ttnn.nez(x)) == _list(ttnn.logical_or(x, x)) == [0, 1, 1]


def test_whole_powers_of_integers_wrap(device: ttnn.MeshDevice) -> None:
    power = ttnn.pow(_tensor(device, [46341, -3], ttnn.int32), 2.0)
    assert (power.dtype, _list(power)) == (ttnn.int32, [-2147479015, 9])


def test_integers_with_floats_become_float32(device: ttnn.MeshDevice) -> None:
    x = _tensor(device, [7, -7, 0], ttnn.int32)
    for result, expected in (
        (ttnn.div(x, 3.0, rounding_mode="floor"), [2, -3, 0]),
        (ttnn.clamp(x, -1.5, 1.5), [1.5, -1.5, 0]),
        (ttnn.where(x, 2, 3), [2, 2, 3]),
    ):
        assert (result.dtype, _list(result)) == (ttnn.float32, expected)


def test_words_read_as_float32(device: ttnn.MeshDevice) -> None:
    a, b = _tensor(device, [3, 5], ttnn.int32), _tensor(device, [5, 3], ttnn.int32)
    assert _list(ttnn.l1_loss(a, b)) == [-2, 0]  # A NaN, and a subnormal number.
    assert _list(ttnn.addalpha(a, b, 0.5)) == [3, 5]  # The halves of subnormal numbers are 0.
    assert _list(ttnn.bitcast(ttnn.floor_div(b, a), ttnn.int32)) == [1, 0]


def test_shifts_by_a_number(device: ttnn.MeshDevice) -> None:
    signed, unsigned = _tensor(device, [-8, 8], ttnn.int32), _tensor(device, [2**31, 8], ttnn.uint32)
    assert _list(ttnn.bitwise_right_shift(signed, 40)) == [-1, 0]
    assert _list(ttnn.bitwise_right_shift(unsigned, 2)) == [2**29, 2]
    assert _list(ttnn.bitwise_right_shift(unsigned, 40)) == [1, 0]
    assert _list(ttnn.bitwise_left_shift(signed, 40)) == [0, 0]


def test_extremes_of_integers_with_a_fraction(device: ttnn.MeshDevice) -> None:
    x = _tensor(device, [1, 3, -3], ttnn.int32)
    assert _list(ttnn.maximum(x, 2.5)) == [2, 3, 2]
    assert _list(ttnn.minimum(x, -2.5)) == [-2, -2, -3]
    assert _list(ttnn.add(_tensor(device, [5], ttnn.uint16), 1.5)) == [6]


def test_converted_products_of_integers(device: ttnn.MeshDevice) -> None:
    x = _tensor(device, [3, 257], ttnn.uint32)
    product = ttnn.multiply(x, x, dtype=ttnn.bfloat16)
    assert (product.dtype, _list(product)) == (ttnn.bfloat16, [9, 66048])


def test_activations_without_parameters_run_the_default_of_the_kernel(device: ttnn.MeshDevice) -> None:
    x = _random(device, 4)
    fast = ttnn.gelu(x, fast_and_approximate_mode=True)
    assert _same(ttnn.unary_chain(x, [ttnn.UnaryWithParam(U.GELU)]), fast)
    assert _same(ttnn.add(x, 0.0, activations=[U.GELU]), fast)
    exponential = ttnn.exp(x, fast_and_approximate_mode=False)
    assert _same(ttnn.unary_chain(x, [ttnn.UnaryWithParam(U.EXP)]), exponential)


@pytest.mark.parametrize(("name", "function"), [("exp", ttnn.exp), ("log", ttnn.log)])
def test_named_activations_of_products_are_approximate(device: ttnn.MeshDevice, name: str, function: Any) -> None:
    a, b = _random(device, 5), _random(device, 6)
    activated = function(ttnn.linear(a, b), fast_and_approximate_mode=True)
    assert _same(ttnn.linear(a, b, activation=name), activated)


def test_fast_sigmoid_is_made_of_the_approximate_exponential(device: ttnn.MeshDevice) -> None:
    x = _random(device, 7, ttnn.float32)
    power = ttnn.exp(ttnn.neg(x), fast_and_approximate_mode=True)
    assert _same(ttnn.sigmoid_accurate(x, fast_and_approximate_mode=True), ttnn.reciprocal(ttnn.add(power, 1.0)))


def test_mixed_tolerances(device: ttnn.MeshDevice) -> None:
    integers, halves = _tensor(device, [1, 2], ttnn.int32), _tensor(device, [1.0, 2.5], ttnn.bfloat16)
    assert _list(ttnn.isclose(integers, halves)) == [1, 0]
    assert _list(ttnn.isclose(halves, _tensor(device, [1.0, 2.5], ttnn.float32))) == [1, 1]
