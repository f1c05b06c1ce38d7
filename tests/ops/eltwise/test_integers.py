"""Integers with floating point: conversions, and bits of each step.

Complements, promotions, activations, selections and gradients.

Expected words are worked out here, in numpy or by hand, from the steps of the official compositions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn

U = ttnn.UnaryOpType
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
Words = npt.NDArray[np.uint32]
_INFINITY = 0x7F800000
_ONE = 0x3F800000


def _ints(device: ttnn.MeshDevice, values: Any, dtype: ttnn.DataType = ttnn.int32) -> ttnn.Tensor:
    host = torch.from_numpy(np.asarray(values, np.int64).reshape(1, -1))
    return ttnn.from_torch(host, dtype=dtype, layout=TILE, device=device)


def _floats(device: ttnn.MeshDevice, values: Any, dtype: ttnn.DataType = ttnn.float32) -> ttnn.Tensor:
    host = torch.from_numpy(np.asarray(values, np.float32).reshape(1, -1))
    return ttnn.from_torch(host, dtype=dtype, layout=TILE, device=device)


def _bfloat16(device: ttnn.MeshDevice, words: npt.NDArray[np.uint16], layout: ttnn.Layout) -> ttnn.Tensor:
    host = torch.from_numpy(words.view(np.int16).copy()).view(torch.bfloat16)
    return ttnn.from_torch(host, dtype=ttnn.bfloat16, layout=layout, device=device)


def _words16(tensor: ttnn.Tensor) -> npt.NDArray[np.uint16]:
    return np.asarray(ttnn.to_torch(tensor).view(torch.int16).numpy()).view(np.uint16)


def _words(tensor: ttnn.Tensor) -> list[int]:
    """Return the 32-bit words of a row."""
    values = ttnn.to_torch(tensor)
    if values.dtype == torch.float32:
        return [int(word) & 0xFFFFFFFF for word in values.view(torch.int32).reshape(-1)]
    return [int(word) & 0xFFFFFFFF for word in values.to(torch.int64).reshape(-1)]


def _signed(values: list[int]) -> list[int]:
    return [value - (1 << 32) if value >> 31 else value for value in values]


def _float_words(values: Any) -> list[int]:
    return [int(word) for word in np.asarray(values, np.float32).view(np.uint32).reshape(-1)]


# Complements


def _complement(words: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Dst has no denormals; the packer changes NaN and -0.

    NaN becomes infinite and -0 becomes 0.
    """

    def flushed(x: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
        return np.where((x & 0x7F80) == 0, np.uint16(0), x)

    turned = flushed(~flushed(words))
    return np.where((turned & 0x7FFF) > 0x7F80, (turned & 0x8000) | 0x7F80, turned).astype(np.uint16)


@pytest.mark.parametrize("layout", [TILE, ROWS])
def test_complement_of_every_bfloat16(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    words = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    result = ttnn.bitwise_not(_bfloat16(device, words, layout))
    assert result.dtype is ttnn.bfloat16
    assert result.layout is layout
    np.testing.assert_array_equal(_words16(result), _complement(words))


def test_complement_of_block_floats(device: ttnn.MeshDevice) -> None:
    # 1.0 is 3f80, its complement c07f; the packer rounds to six bits of mantissa, here up to -4. Of 2.0: bfff, -2.
    # Of -3.0: 3fbf, 1.5.
    for value, expected in ((1.0, -4.0), (2.0, -2.0), (-3.0, 1.5)):
        x = _floats(device, np.full(64, value), ttnn.bfloat8_b)
        np.testing.assert_array_equal(ttnn.to_torch(ttnn.bitwise_not(x)).float().numpy(), np.full((1, 64), expected))


# Promotion


def test_products_of_integers_and_floating_point(device: ttnn.MeshDevice) -> None:
    x = _ints(device, [1, -2, 16777217])
    single = [float(np.float32(16777217))]
    for other, expected in (
        (1.5, [1.5, -3.0, single[0] * 1.5]),
        (2.0, [2.0, -4.0, single[0] * 2.0]),
        (_floats(device, [0.5, 0.5, 0.5]), [0.5, -1.0, single[0] * 0.5]),
    ):
        product = ttnn.multiply(x, other)
        assert product.dtype is ttnn.float32
        assert _words(product) == _float_words(expected)
    assert ttnn.multiply(_floats(device, [2.0, 2.0, 2.0]), x).dtype is ttnn.float32
    assert ttnn.multiply(x, _floats(device, [2.0, 2.0, 2.0], ttnn.bfloat16)).dtype is ttnn.bfloat16
    assert ttnn.div(x, _floats(device, [2.0, 2.0, 2.0])).dtype is ttnn.float32
    whole = ttnn.multiply(x, 2)
    assert whole.dtype is ttnn.int32
    assert _signed(_words(whole)) == [2, -4, 33554434]
    with pytest.raises(ttnn.DTypeError, match="Mixed dtype is not supported for binary operation BinaryOpType::ADD"):
        ttnn.add(x, _floats(device, [1.0, 1.0, 1.0]))


def test_a_product_in_place_keeps_the_type(device: ttnn.MeshDevice) -> None:
    x = _ints(device, [1, -3, 8])
    ttnn.multiply_(x, 1.5)
    assert x.dtype is ttnn.int32
    assert _signed(_words(x)) == [1, -4, 12]


# Activations


def test_activations_of_integers(device: ttnn.MeshDevice) -> None:
    a, b = _ints(device, [1, -2, 3]), _ints(device, [4, 5, -6])
    negated = ttnn.multiply(a, b, input_tensor_a_activations=[U.NEG])
    assert _signed(_words(negated)) == [-4, 10, 18]
    after = ttnn.add(a, b, activations=[ttnn.UnaryWithParam(U.MAXIMUM, 0), ttnn.UnaryWithParam(U.ADD_UNARY_SFPU, 10)])
    assert _words(after) == [15, 13, 10]
    assert _words(ttnn.add(a, b, activations=[U.RELU])) == [5, 3, 0]
    assert _signed(_words(ttnn.multiply(a, 3, input_tensor_b_activations=[U.SQUARE]))) == [9, -18, 27]
    into = _ints(device, [0, 0, 0])
    ttnn.subtract(a, b, activations=[U.NEG], output_tensor=into)
    assert _signed(_words(into)) == [3, 7, -9]
    squares = ttnn.squared_difference(a, b, input_tensor_b_activations=[U.NEG], activations=[U.NEG])
    assert _signed(_words(squares)) == [-25, -9, -9]
    unsigned = _ints(device, [1, 2, 40000], ttnn.uint16)
    square = ttnn.add(unsigned, unsigned, input_tensor_a_activations=[U.SQUARE])
    assert _words(square) == [2, 6, (40000**2 + 40000) % 65536]


@pytest.mark.parametrize("shape", [(), (5,), (64, 32), (2, 1, 3, 5)], ids=str)
def test_an_activation_of_a_number_keeps_shape_and_place_of_the_tensor(
    shape: tuple[int, ...], device: ttnn.MeshDevice
) -> None:
    host = torch.full(shape, 5, dtype=torch.int32)
    t = ttnn.from_torch(host, dtype=ttnn.int32, layout=TILE, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    for result, value in (
        (ttnn.add(t, 2, input_tensor_b_activations=[U.NEG]), 3),
        (ttnn.add(2, t, input_tensor_a_activations=[U.NEG]), 3),
        (ttnn.subtract(t, 2, input_tensor_b_activations=[U.NEG]), 7),
        (ttnn.gt(t, 2, input_tensor_b_activations=[U.NEG]), 1),
    ):
        assert torch.equal(ttnn.to_torch(result), torch.full(shape, value, dtype=torch.int32))
        assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
    in_place = ttnn.add(2, t, input_tensor_a_activations=[U.NEG], output_tensor=t)
    assert in_place is t
    assert torch.equal(ttnn.to_torch(t), torch.full(shape, 3, dtype=torch.int32))


def test_an_activation_without_a_kernel_for_integers_reads_their_words_as_float32(device: ttnn.MeshDevice) -> None:
    # Small integers are denormals: their reciprocal is that of 0, their sign that of any word but 0.
    a, b = _ints(device, [0, 1, _ONE]), _ints(device, [0, 1, 0])
    assert _words(ttnn.add(a, b, input_tensor_a_activations=[U.SIGN])) == [0, _ONE + 1, _ONE]
    assert _words(ttnn.add(a, b, input_tensor_a_activations=[U.RECIP])) == [_INFINITY, _INFINITY + 1, _ONE]
    narrow = _ints(device, [1, 2, 3], ttnn.uint16)
    with pytest.raises(ttnn.UnsupportedError, match=r"ttnn\.add: the activation .* has no kernel for UINT16"):
        ttnn.add(narrow, narrow, input_tensor_a_activations=[U.EXP])


def test_activations_between_floating_point_and_integers(device: ttnn.MeshDevice) -> None:
    x, y = _floats(device, [1.0, -2.0, 3.0]), _floats(device, [0.5, 0.5, 5.0])
    above = ttnn.gt(x, y, dtype=ttnn.int32, input_tensor_a_activations=[U.ABS])
    assert above.dtype is ttnn.int32
    assert _words(above) == [1, 1, 0]
    quotient = ttnn.div(_ints(device, [1, -2, 3]), _ints(device, [2, 2, 2]), activations=[U.NEG])
    assert _words(quotient) == _float_words([-0.5, 1.0, -1.5])


@pytest.mark.parametrize("count", [1, 31, 32, 40])
def test_the_right_shift_of_a_chain_repeats_the_sign(count: int, device: ttnn.MeshDevice) -> None:
    """Shifts by 32 and more shift by 31; binary returns 0.

    As `int32_by32` of the vectors does.
    """
    values = [0, 1, -1, 2**31 - 1, -(2**31), -7]
    x, shift = _ints(device, values), ttnn.UnaryWithParam(U.RIGHT_SHIFT, count)
    expected = [value >> min(count, 31) for value in values]
    assert _signed(_words(ttnn.unary_chain(x, [shift]))) == expected
    assert _signed(_words(ttnn.add(x, 0, activations=[shift]))) == expected


def test_chains_of_integers(device: ttnn.MeshDevice) -> None:
    x = _ints(device, [1, -2, 3])
    steps = [U.NEG, ttnn.UnaryWithParam(U.ADD_UNARY_SFPU, 1.9), U.RELU]
    assert _words(ttnn.unary_chain(x, steps)) == [0, 3, 0]
    into = _ints(device, [0, 0, 0])
    assert ttnn.unary_chain(x, [ttnn.UnaryWithParam(U.LEFT_SHIFT, 2)], output_tensor=into) is into
    assert _signed(_words(into)) == [4, -8, 12]
    assert _words(ttnn.unary_chain(_ints(device, [7, 8], ttnn.uint16), [ttnn.UnaryWithParam(U.LEAKY_RELU, 0.1)])) == [
        7,
        8,
    ]
    for function, dtype in ((U.EXP, ttnn.int32), (U.NEG, ttnn.uint32), (U.ABS, ttnn.int32), (U.GTZ, ttnn.uint16)):
        sentence = f"Unary: UnaryOpType::{function.name} does not support integer input dtype DataType::{dtype.name}"
        with pytest.raises(ttnn.DTypeError, match=sentence):
            ttnn.unary_chain(_ints(device, [1], dtype), [function])
    with pytest.raises(ttnn.UnsupportedError, match="takes 1 parameters"):
        ttnn.unary_chain(x, [U.ADD_UNARY_SFPU])
    with pytest.raises(ttnn.DTypeError, match="has a parameter that is not an integer"):
        ttnn.unary_chain(x, [ttnn.UnaryWithParam(U.ADD_UNARY_SFPU, float("inf"))])


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8], ids=lambda dtype: dtype.name)
def test_limits_of_integers(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    low, high = {ttnn.int32: (-(2**31), 2**31 - 1), ttnn.uint32: (0, 2**32 - 1)}.get(dtype, (0, 255))
    values = np.array([low, low + 1, 0, 3, 4, 5, 100, high - 1, high], np.int64)
    x = _ints(device, values, dtype)
    for limit in (0, 4, 4.9, 100):
        bound = int(limit)
        expected = [int(value) & 0xFFFFFFFF for value in np.clip(values, 0, bound)]
        assert _words(ttnn.relu_max(x, limit)) == expected
        expected = [int(value) & 0xFFFFFFFF for value in np.maximum(values, bound)]
        assert _words(ttnn.relu_min(x, limit)) == expected
    with pytest.raises(ttnn.DTypeError, match=r"ttnn\.relu_max: 1e\+10 is not a value of"):
        ttnn.relu_max(x, 1e10)


# Selection


def test_where_moves_words(device: ttnn.MeshDevice) -> None:
    numbers, reals = _ints(device, [5, -6]), _floats(device, [1.0, -2.0])
    one, two = _float_words([1.0, -2.0])
    for predicate in (_ints(device, [0, 7]), _floats(device, [0.0, 0.5])):
        chosen = ttnn.where(predicate, numbers, reals)
        assert chosen.dtype is ttnn.int32
        assert _words(chosen) == [one, -6 & 0xFFFFFFFF]
        chosen = ttnn.where(predicate, reals, numbers)
        assert chosen.dtype is ttnn.float32
        assert _words(chosen) == [5, two]
    # In float32 -0 is another word than 0.
    assert _signed(_words(ttnn.where(_floats(device, [0.0, -0.0]), numbers, numbers))) == [5, -6]
    with pytest.raises(ttnn.DTypeError, match="beside integers all of them have 32 bits"):
        ttnn.where(_floats(device, [0.0, 1.0], ttnn.bfloat16), numbers, numbers)


# Gradients

_XS = [-90, -2, -1, 0, 1, 2, 25]
_GRADS = [1, -3, 10, 7, -8, 9, 4]


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    ("name", "linear"), [("celu_bw", 0), ("softplus_bw", 20), ("leaky_relu_bw", 0)], ids=lambda case: str(case)
)
def test_gradients_of_activations(name: str, linear: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    unsigned = dtype is ttnn.uint32
    xs, grads = ([abs(v) for v in values] if unsigned else values for values in (_XS, _GRADS))
    operator = getattr(ttnn, name)
    if unsigned and name == "leaky_relu_bw":
        with pytest.raises(ttnn.DTypeError, match="GTZ does not support integer input dtype DataType::UINT32"):
            operator(_ints(device, grads, dtype), _ints(device, xs, dtype))
        return
    (gradient,) = operator(_ints(device, grads, dtype), _ints(device, xs, dtype))
    (real,) = operator(_floats(device, grads), _floats(device, xs))
    assert gradient.dtype is dtype
    # Where the function is linear grad itself, elsewhere the words of the gradient in float32.
    expected = [
        grad & 0xFFFFFFFF if x > linear else word for x, grad, word in zip(xs, grads, _words(real), strict=True)
    ]
    assert _words(gradient) == expected


def _scaled(word: int, factor: float) -> int:
    signed = word - (1 << 32) if word >> 31 else word
    return _float_words(np.float32(signed) * np.float32(factor))[0]


def test_gradient_of_erf(device: ttnn.MeshDevice) -> None:
    # x^2 and its negative are integers; e to the power of them reads their words as float32. 65536^2 wraps to 0, whose
    # exponential is 1.0; the word of -(30000^2) is that of -3.6 million, whose exponential is 0.
    grads, xs = [1, 3, 5], [0, 65536, 30000]
    (gradient,) = ttnn.erf_bw(_ints(device, grads), _ints(device, xs))
    products = [_ONE, _ONE * 3 % 2**32, 0]
    assert gradient.dtype is ttnn.float32
    assert _words(gradient) == [_scaled(word, 2.0 / np.sqrt(np.pi)) for word in products]
    (gradient,) = ttnn.erf_bw(_ints(device, [1, 2], ttnn.uint32), _ints(device, [0, 65536], ttnn.uint32))
    assert _words(gradient) == _float_words(np.array([_ONE, 2 * _ONE], np.float32) * np.float32(2.0 / np.sqrt(np.pi)))


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32], ids=lambda dtype: dtype.name)
def test_gradient_of_erfinv(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    # The words of 0 and 1 are denormals, whose inverse error function is 0; its square is the integer 0, e^0 is 1.0.
    # Words are compared with those of -1.0 and 1.0.
    (gradient,) = ttnn.erfinv_bw(_ints(device, [3, 2, 0, 5], dtype), _ints(device, [0, _ONE, _ONE, _ONE + 1], dtype))
    assert gradient.dtype is ttnn.float32
    first = (_ONE * 3) % 2**32
    signed = first - (1 << 32) if dtype is ttnn.int32 and first >> 31 else first
    words = _words(gradient)
    assert words[0] == _float_words(np.float32(signed) * np.float32(np.sqrt(np.pi) / 2))[0]
    assert words[1] == _INFINITY
    nan = [word & 0x7FFFFFFF > _INFINITY for word in words]
    assert nan == [False, False, True, True]


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32], ids=lambda dtype: dtype.name)
def test_gradient_of_reciprocal(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    (gradient,) = ttnn.reciprocal_bw(_ints(device, [1, 1, 0, 0x800001], dtype), _ints(device, [2, 0, 0, 65536], dtype))
    assert gradient.dtype is ttnn.float32
    # Squares that are 0 or denormal have an infinite reciprocal; the product of the words of integers wraps. The
    # negative of an unsigned integer is that of a float32: its first bit turned over, denormals made 0.
    negative = [-1, -0x800001] if dtype is ttnn.int32 else [0x80000000, 0x80800001]
    first, last = (word * _INFINITY % 2**32 for word in negative)
    words = _words(gradient)
    assert [words[0], words[1], words[3]] == [first, 0xFF800000, last]
    assert words[2] & 0x7FFFFFFF > _INFINITY


def test_gradients_of_extremes(device: ttnn.MeshDevice) -> None:
    grad, a, b = (np.array(v) for v in ([7, 8, 9, -9, 12], [1, 2, 3, 3, -5], [2, 1, 3, 3, -5]))
    # Half of grad is a float32 value, whose bits are copied unconverted.
    half = (grad / 2).astype(np.float32).view(np.int32)
    larger, smaller = (np.where(a == b, half, np.where(side, grad, 0)) for side in (a > b, a < b))
    for name, expected in (("max_bw", (larger, smaller)), ("min_bw", (smaller, larger))):
        gradients = getattr(ttnn, name)(_ints(device, grad), _ints(device, a), _ints(device, b))
        assert [_signed(_words(gradient)) for gradient in gradients] == [list(map(int, values)) for values in expected]
        assert [gradient.dtype for gradient in gradients] == [ttnn.int32] * 2
