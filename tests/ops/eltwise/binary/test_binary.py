"""Binary operators beyond generated tests.

Their steps, number types, shards, row-major broadcasting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import NAMES, from_raw, make, raw_of, values_of
from ttnn.golden.eltwise import binary as golden

FLOATS = [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b]
INTEGERS = [ttnn.int32, ttnn.uint32, ttnn.uint16]
TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
RELU = ttnn.UnaryOpType.RELU


def same_bits(got: ttnn.Tensor, expected: ttnn.Tensor) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(raw_of(got), raw_of(expected))


def pair(device: ttnn.MeshDevice, dtype: ttnn.DataType, **options: Any) -> list[ttnn.Tensor]:
    return [make((2, 40, 70), dtype, TILES, device, seed, **options) for seed in (1, 2)]


def integers(values: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    kind = {ttnn.int32: np.int32, ttnn.uint32: np.uint32, ttnn.uint16: np.uint16}[dtype]
    return ttnn.Tensor(np.asarray(values, kind), dtype, None, TILES).to(device)


# Every operator that is a program with steps of its own, and the operators that the steps are.
STEPS: dict[str, tuple[Callable[..., ttnn.Tensor], Callable[..., ttnn.Tensor]]] = {
    "ldexp": (ttnn.ldexp, lambda a, b: ttnn.multiply(a, ttnn.exp2(b))),
    "rsub": (ttnn.rsub, lambda a, b: ttnn.add(ttnn.neg(a), b)),
    "squared_difference": (ttnn.squared_difference, lambda a, b: ttnn.square(ttnn.subtract(a, b))),
    "hypot": (ttnn.hypot, lambda a, b: ttnn.sqrt(ttnn.add(ttnn.square(a), ttnn.square(b)))),
    "bias_gelu": (ttnn.bias_gelu, lambda a, b: ttnn.gelu(ttnn.add(a, b))),
    "bias_gelu fast": (
        lambda a, b: ttnn.bias_gelu(a, b, fast_and_approximate_mode=True),
        lambda a, b: ttnn.gelu(ttnn.add(a, b), fast_and_approximate_mode=True),
    ),
    "logical_and": (ttnn.logical_and, lambda a, b: ttnn.nez(ttnn.multiply(ttnn.nez(a), ttnn.nez(b)))),
    "logical_xor": (ttnn.logical_xor, lambda a, b: ttnn.nez(ttnn.subtract(ttnn.nez(a), ttnn.nez(b)))),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_in_float32(name: str, device: ttnn.MeshDevice) -> None:
    """Float32 steps are not rounded, so one program equals several."""
    a, b = pair(device, ttnn.float32)
    fused, apart = STEPS[name]
    same_bits(fused(a, b), apart(a, b))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_rsub_negates_the_first_operand_in_l1(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """The FPU adds the packed negative: infinities for NaN."""
    words = np.array([0x7FC0, 0xFFC1, 0x7F80, 0xFF80, 0x7F7F, 0x0001, 0x8000, 0x3F80, 0xC040, 0x80C0], np.uint16)
    tiles = np.stack(np.meshgrid(np.resize(words, 32), np.resize(words, 32)))
    if dtype is ttnn.bfloat8_b:
        # Shared exponents at both ends: their values are infinite, or wrap to huge ones.
        tiles = np.random.default_rng(5).integers(0, 256, (2, 1088), np.uint8)
        tiles[:, :64] = tiles[:, :64] % 8 - 4
    a, b = (from_raw(tile, (32, 32), dtype, device) for tile in tiles)
    same_bits(ttnn.rsub(a, b), ttnn.add(ttnn.neg(a), b))


def test_scaled_second_operand(device: ttnn.MeshDevice) -> None:
    a, b = pair(device, ttnn.float32)
    same_bits(ttnn.addalpha(a, b, 0.75), ttnn.add(a, ttnn.multiply(b, 0.75)))
    same_bits(ttnn.subalpha(a, b, -3), ttnn.subtract(a, ttnn.multiply(b, -3)))
    output = ttnn.empty((2, 40, 70), ttnn.float32, TILES, device)
    assert ttnn.addalpha(a, b, 0.75, output_tensor=output) is output


@pytest.mark.parametrize("dtype", FLOATS)
def test_activations_surround_the_operators_own_steps(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = pair(device, dtype)
    negative = ttnn.UnaryOpType.NEG
    same_bits(
        ttnn.ldexp(a, b, input_tensor_b_activations=[negative]),
        ttnn.ldexp(a, ttnn.neg(b)),
    )
    same_bits(ttnn.logical_or(a, b, activations=[negative]), ttnn.neg(ttnn.logical_or(a, b)))
    same_bits(ttnn.eq(a, a, activations=[RELU]), ttnn.eq(a, a))


@pytest.mark.parametrize("dtype", FLOATS)
def test_div(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = pair(device, dtype)
    quotient = ttnn.div(a, b)
    same_bits(ttnn.div(a, b, rounding_mode="floor"), ttnn.floor(quotient))
    same_bits(ttnn.div(a, b, rounding_mode="trunc"), ttnn.trunc(quotient))
    same_bits(ttnn.div(a, 0.75, rounding_mode="floor"), ttnn.floor(ttnn.div(a, 0.75)))
    assert ttnn.divide is ttnn.div
    assert ttnn.div_ is ttnn.divide_
    divisor = make((64, 64), dtype, TILES, device, 2, fit=lambda x: np.abs(x) + 0.5)
    np.testing.assert_allclose(values_of(ttnn.div(3.0, divisor)), 3 / values_of(divisor), rtol=0.1)


def test_whole_quotients_become_integers_after_rounding(device: ttnn.MeshDevice) -> None:
    a = ttnn.Tensor(np.array([[-7.0, 7.0, -8.0, 9.0]], np.float32), ttnn.float32, device, TILES)
    got = ttnn.div(a, 2.0, rounding_mode="floor", dtype=ttnn.int32)
    assert (got.dtype, got.to_list()) == (ttnn.int32, [[-4, 3, -4, 4]])
    output = ttnn.empty((1, 4), ttnn.int32, TILES, device)
    assert ttnn.div(a, 2.0, rounding_mode="trunc", output_tensor=output) is output
    assert output.to_list() == [[-3, 3, -4, 4]]


def test_div_of_integers(device: ttnn.MeshDevice) -> None:
    a, b = integers([[-7, 7, 9, 5]], ttnn.int32, device), integers([[2, 2, -2, 5]], ttnn.int32, device)
    exact = ttnn.div(a, b)
    assert (exact.dtype, exact.to_list()) == (ttnn.float32, [[-3.5, 3.5, -4.5, 1.0]])
    floored, cut = (ttnn.div(a, b, rounding_mode=mode) for mode in ("floor", "trunc"))
    assert (floored.dtype, floored.to_list()) == (ttnn.int32, [[-4, 3, -5, 1]])
    assert (cut.dtype, cut.to_list()) == (ttnn.int32, [[-3, 3, -4, 1]])
    # The words of the whole quotients in a float32 tensor.
    assert ttnn.bitcast(ttnn.floor_div(a, b), ttnn.int32).to_list() == [[-4, 3, -5, 1]]
    assert ttnn.div_no_nan(a, integers([[2, 0, -2, 0]], ttnn.int32, device)).to_list() == [[-3.5, 0.0, -4.5, 0.0]]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_quotients_by_zero(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = np.array([[-2.0, 0.0, 3.0, 7.0]], np.float32)
    a = ttnn.Tensor(values, dtype, device, TILES)
    b = ttnn.Tensor(np.array([[0.0, 0.0, 0.0, 2.0]], np.float32), dtype, device, TILES)
    assert ttnn.div_no_nan(a, b).to_list() == [[0.0, 0.0, 0.0, 3.5]]
    assert ttnn.div_no_nan(a, 0).to_list() == [[0.0, 0.0, 0.0, 0.0]]
    assert ttnn.div_no_nan(a, 2).to_list() == [[-1.0, 0.0, 1.5, 3.5]]
    floored = values_of(ttnn.floor_div(a, b))[0]
    assert (floored[0], floored[2], floored[3]) == (-np.inf, np.inf, 3.0)
    by_number = values_of(ttnn.floor_div(a, 0.0))[0]
    assert (by_number[0], by_number[2]) == (-np.inf, np.inf)
    assert ttnn.floor_div(a, 2).to_list() == [[-1.0, 0.0, 1.0, 3.0]]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_and_bits(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    generator = np.random.default_rng(4)
    bits = 16 if dtype == ttnn.uint16 else 32
    low = -(2**31) if dtype == ttnn.int32 else 0
    values = generator.integers(low, low + 2**bits, (40, 70))
    counts = generator.integers(0, bits + 4, (40, 70))
    a, b = integers(values, dtype, device), integers(counts, dtype, device)
    words = values & (2**bits - 1)

    def signed(result: Any) -> Any:
        result = result & (2**bits - 1)
        return np.where((result >= 2**31) & (dtype == ttnn.int32), result - 2**32, result)

    inside = counts < bits
    left = signed(np.where(inside, words << np.where(inside, counts, 0), 0))
    for operator in (ttnn.bitwise_left_shift, ttnn.logical_left_shift):
        np.testing.assert_array_equal(values_of(operator(a, b)), left)
        np.testing.assert_array_equal(values_of(operator(a, 3)), signed(words << 3))
    right = np.where(inside, values >> np.where(inside, counts, 0), 0)
    if dtype == ttnn.uint32:  # the kernel for unsigned words takes 31 for counts out of range
        right = np.where(inside, right, values >> 31)
    np.testing.assert_array_equal(values_of(ttnn.bitwise_right_shift(a, b)), right)
    if dtype != ttnn.uint16:
        logical = signed(np.where(inside, words >> np.where(inside, counts, 0), 0))
        np.testing.assert_array_equal(values_of(ttnn.logical_right_shift(a, b)), logical)
    for name in ("and", "or", "xor"):
        ufunc = getattr(np, f"bitwise_{name}")
        np.testing.assert_array_equal(values_of(getattr(ttnn, f"bitwise_{name}")(a, b)), ufunc(values, counts))
        np.testing.assert_array_equal(values_of(getattr(ttnn, f"bitwise_{name}")(a, 0x5A5A)), ufunc(values, 0x5A5A))


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32])
def test_extremes_and_remainders_of_integers(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    generator = np.random.default_rng(5)
    low = -(2**31) if dtype == ttnn.int32 else 0
    x, y = generator.integers(low, low + 2**32, (2, 64, 64))
    x[0, :4], y[0, :4] = (low, low + 2**32 - 1, 7, low), (1, low, low + 2**32 - 1, low + 2**32 - 1)
    a, b = integers(x, dtype, device), integers(y, dtype, device)
    np.testing.assert_array_equal(values_of(ttnn.maximum(a, b)), np.maximum(x, y))
    np.testing.assert_array_equal(values_of(ttnn.minimum(a, b)), np.minimum(x, y))
    np.testing.assert_array_equal(values_of(ttnn.maximum(a, 12345)), np.maximum(x, 12345))
    small = np.where(y == 0, 1, y) >> generator.integers(0, 30, y.shape)
    small[small == 0] = 3
    divisor = integers(small, dtype, device)
    got = values_of(ttnn.remainder(a, divisor))
    if dtype == ttnn.uint32:
        np.testing.assert_array_equal(got, x % small)
    else:
        inside = x != low
        np.testing.assert_array_equal(got[inside], (x % small)[inside])
    np.testing.assert_array_equal(values_of(ttnn.remainder(a, 1000))[1:], (x % 1000)[1:])


def test_rests_of_integers_by_fractions(device: ttnn.MeshDevice) -> None:
    a = integers([[-7, 7, 9, 5]], ttnn.int32, device)
    for operator, ufunc in ((ttnn.remainder, np.mod), (ttnn.fmod, np.fmod)):
        result = operator(a, 2.5)
        assert (result.dtype, result.to_list()) == (ttnn.float32, [ufunc([-7, 7, 9, 5], 2.5).tolist()])
        whole = operator(a, 3)
        assert (whole.dtype, whole.to_list()) == (ttnn.int32, [ufunc([-7, 7, 9, 5], 3).tolist()])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 13, 31])
def test_powers_of_integers_wrap(dtype: ttnn.DataType, exponent: int, device: ttnn.MeshDevice) -> None:
    bits = 16 if dtype == ttnn.uint16 else 32
    values = np.array([[0, 1, 2, 3, 10, 255, 46341, 65535]])
    exact = [int(value) ** exponent % 2**bits for value in values[0]]
    if dtype == ttnn.int32:
        exact = [value - 2**32 if value >= 2**31 else value for value in exact]
    x = integers(values, dtype, device)
    assert ttnn.pow(x, exponent).to_list() == [exact]
    output = ttnn.empty((1, 8), dtype, TILES, device)
    assert ttnn.pow(x, exponent, output_tensor=output) is output
    assert output.to_list() == [exact]


def test_pow(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.array([[1.5, 2.0, 4.0, 0.25]], np.float32), ttnn.float32, device, TILES)
    same_bits(ttnn.pow(x, 2), ttnn.multiply(x, x))
    same_bits(ttnn.pow(x, 3.0), ttnn.multiply(x, ttnn.multiply(x, x)))
    np.testing.assert_allclose(values_of(ttnn.pow(x, 2.5)), values_of(x) ** 2.5, rtol=1e-5)
    np.testing.assert_allclose(values_of(ttnn.pow(x, -1)), values_of(x) ** -1, rtol=1e-5)
    np.testing.assert_allclose(values_of(ttnn.pow(2.0, x)), 2 ** values_of(x), rtol=1e-5)
    np.testing.assert_allclose(values_of(ttnn.pow(x, x)), values_of(x) ** values_of(x), rtol=1e-5)
    assert ttnn.pow(integers([[2, 3]], ttnn.int32, device), 2.0).dtype == ttnn.int32


def test_isclose(device: ttnn.MeshDevice) -> None:
    a = ttnn.Tensor(np.array([[1.0, np.nan, np.inf, -np.inf, 2.0]], np.float32), ttnn.float32, device, TILES)
    b = ttnn.Tensor(np.array([[1.05, np.nan, np.inf, np.inf, 4.0]], np.float32), ttnn.float32, device, TILES)
    assert ttnn.isclose(a, b).to_list() == [[0, 0, 1, 0, 0]]
    assert ttnn.isclose(a, b, rtol=0.1).to_list() == [[1, 0, 1, 0, 0]]
    assert ttnn.isclose(a, b, atol=3.0).to_list() == [[1, 0, 1, 0, 1]]
    assert ttnn.isclose(a, b, equal_nan=True).to_list() == [[0, 1, 1, 0, 0]]
    whole = integers([[1, 100000]], ttnn.int32, device)
    close = ttnn.isclose(whole, integers([[1, 100001]], ttnn.int32, device), rtol=1e-4)
    assert (close.dtype, close.to_list()) == (ttnn.float32, [[1.0, 1.0]])


def test_nextafter_of_bfloat16(device: ttnn.MeshDevice) -> None:
    words = np.zeros(1024, np.uint16)
    words[:4] = (0x3F80, 0x3F80, 0xBF80, 0x0080)
    towards = np.zeros(1024, np.uint16)
    towards[:4] = (0x4000, 0x3F00, 0x0000, 0x4000)
    a, b = (from_raw(side, (32, 32), ttnn.bfloat16, device) for side in (words, towards))
    assert raw_of(ttnn.nextafter(a, b)).view(np.uint16)[:4].tolist() == [0x3F81, 0x3F7F, 0xBF7F, 0x0081]


def test_polyval(device: ttnn.MeshDevice) -> None:
    x = make((2, 40, 70), ttnn.float32, TILES, device)
    reference = np.polyval([0.5, -1.25, 2.0, 3.0], values_of(x))
    np.testing.assert_allclose(values_of(ttnn.polyval(x, [0.5, -1.25, 2.0, 3.0])), reference, rtol=1e-4, atol=1e-5)
    narrow = make((2, 40, 70), ttnn.bfloat16, TILES, device)
    steps = ttnn.add(ttnn.multiply(narrow, ttnn.add(ttnn.multiply(narrow, 0.5), -1.25)), 2.0)
    same_bits(ttnn.polyval(narrow, [0.5, -1.25, 2.0]), steps)


@pytest.mark.parametrize("shape", [(2, 3, 40, 70), (2, 3), (2, 3, 5)])
def test_prelu_with_a_weight_per_channel(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    x = make(shape, ttnn.float32, TILES, device)
    slopes = np.array([0.5, -1.0, 0.125], np.float32)
    weight = ttnn.Tensor(slopes, ttnn.float32, device, TILES)
    got = ttnn.prelu(x, weight)
    expected = golden.prelu(values_of(x), slopes)
    np.testing.assert_array_equal(values_of(got), expected.astype(np.float32))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.int32, ttnn.uint32])
def test_outer(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    for shape_a, shape_b in (((40,), (70,)), ((2, 40), (2, 70)), ((3, 2, 5), (1, 2, 9))):
        a, b = make(shape_a, dtype, TILES, device, 1, limit=1000), make(shape_b, dtype, TILES, device, 2, limit=1000)
        got = values_of(ttnn.outer(a, b))
        expected = golden.outer(values_of(a), values_of(b))
        assert got.shape == expected.shape
        # A matrix product keeps five bits of the one operand and seven of the other.
        step = {ttnn.bfloat16: 2**-5, ttnn.bfloat8_b: 2**-5, ttnn.float32: 2**-23}.get(dtype, 0.0)
        assert np.max(np.abs(got - expected)) <= step * np.max(np.abs(expected))


ROW_SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 40, 70), (70,)),
    ((2, 40, 70), (1, 70)),
    ((2, 40, 70), (40, 1)),
    ((2, 40, 70), (2, 1, 1)),
    ((2, 1, 70), (3, 1, 40, 1)),
    ((70,), (2, 3, 1)),
    ((2, 3, 1100), (3, 1)),
    ((2, 3, 4), ()),
]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize(("shape_a", "shape_b"), ROW_SHAPES, ids=str)
def test_row_major_broadcasting(
    shape_a: tuple[int, ...], shape_b: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    """Row-major operands return the values of tiled ones."""
    tiled = [make(shape, dtype, TILES, device, seed) for seed, shape in enumerate((shape_a, shape_b))]
    rows = [ttnn.to_layout(tensor, ROWS) for tensor in tiled]
    for operator in (ttnn.subtract, ttnn.maximum, ttnn.lt):
        for order in (slice(None), slice(None, None, -1)):
            got, expected = operator(*rows[order]), operator(*tiled[order])
            assert got.layout == ROWS
            np.testing.assert_array_equal(values_of(got), values_of(expected))


@pytest.mark.parametrize("strategy", ["HEIGHT", "WIDTH", "BLOCK"])
@pytest.mark.parametrize("operator", [ttnn.maximum, ttnn.pow, ttnn.bias_gelu, ttnn.hypot, ttnn.logical_and, ttnn.add_])
def test_sharded_operands(operator: Callable[..., ttnn.Tensor], strategy: str, device: ttnn.MeshDevice) -> None:
    grid = ttnn.CoreGrid(y=2, x=2 if strategy == "BLOCK" else 1)
    config = ttnn.create_sharded_memory_config((128, 64), grid, getattr(ttnn.ShardStrategy, strategy))
    apart = [make((128, 64), ttnn.bfloat16, TILES, device, seed) for seed in (1, 2)]
    shards = [make((128, 64), ttnn.bfloat16, TILES, device, seed, memory_config=config) for seed in (1, 2)]
    result = operator(*shards)
    assert result.memory_config() == config
    np.testing.assert_array_equal(values_of(result), values_of(operator(*apart)))
    mixed = operator(shards[0], apart[1]) if operator is not ttnn.add_ else result
    np.testing.assert_array_equal(values_of(mixed), values_of(result))


IN_PLACE = [
    *("add", "subtract", "multiply", "rsub", "squared_difference", "divide", "ldexp", "logaddexp", "logaddexp2"),
    *("bias_gelu", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
]


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", NAMES.values(), ids=NAMES)
def test_in_place(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """The plain form's bits, in shared memory of the first operand.

    Views of it share the memory.
    """
    a, b = pair(device, dtype)
    expected = raw_of(getattr(ttnn, name)(a, b))
    view = ttnn.reshape(a, (1, 2, 40, 70))
    address = a.buffer_address()
    assert getattr(ttnn, f"{name}_")(a, b) is a
    assert a.buffer_address() == view.buffer_address() == address
    np.testing.assert_array_equal(raw_of(a), expected)
    np.testing.assert_array_equal(raw_of(view), expected)
    squared = pair(device, dtype)[0]
    plain = raw_of(getattr(ttnn, name)(squared, squared))
    np.testing.assert_array_equal(raw_of(getattr(ttnn, f"{name}_")(squared, squared)), plain)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["add", "subtract", "rsub", "multiply", "eq", "lt", "logical_and", "logical_xor"])
def test_in_place_of_integers(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = pair(device, dtype, limit=50)
    expected = raw_of(getattr(ttnn, name)(a, b))
    assert getattr(ttnn, f"{name}_")(a, b) is a
    np.testing.assert_array_equal(raw_of(a), expected)
    number = raw_of(getattr(ttnn, name)(b, 7))
    np.testing.assert_array_equal(raw_of(getattr(ttnn, f"{name}_")(b, 7)), number)


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
@pytest.mark.parametrize("operand", [ttnn.bfloat16, ttnn.float32])
def test_integer_results(operand: ttnn.DataType, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a = ttnn.Tensor(np.array([[1.0, 2.0, 3.0]], np.float32), operand, device, TILES)
    assert ttnn.gt(a, 1.5, dtype=dtype).to_list() == [[0, 1, 1]]
    assert ttnn.add(a, 1.0, dtype=dtype).to_list() == [[2, 3, 4]]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3.65, 7.0])
def test_powers_as_activations(exponent: float, device: ttnn.MeshDevice) -> None:
    """The kernel multiplies as often as the integer part of the exponent."""
    x = make((33, 40), ttnn.float32, ttnn.TILE_LAYOUT, device)
    power = ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER_ITERATIVE, exponent)
    expected = np.float32(values_of(ttnn.add(x, x))) ** int(exponent)
    np.testing.assert_allclose(values_of(ttnn.add(x, x, activations=[power])), expected, rtol=2**-20)
    with pytest.raises(ttnn.UnsupportedError, match="POWER_ITERATIVE, -2"):
        ttnn.add(x, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER_ITERATIVE, -2.0)])


def test_broadcasting_ends_before_the_last_five_dimensions(device: ttnn.MeshDevice) -> None:
    a, b = (make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for shape in ((2, 1, 2, 1, 4, 8), (1, 3, 2, 1, 4, 8)))
    with pytest.raises(
        ttnn.ShapeError, match=r"dimension -6 is 2 and 1(.|\n)*Broadcasting rule violation for rank >= 6"
    ):
        ttnn.add(a, b)
    assert ttnn.add(a, a[..., :1, :]).shape == [2, 1, 2, 1, 4, 8]


def test_the_official_sentence_about_the_shape_of_the_output(device: ttnn.MeshDevice) -> None:
    a, b, out = (
        make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for shape in ((2, 64, 1), (3, 1, 32), (3, 64, 32))
    )
    sentence = r"Shape of Output tensor .+ provided does not match the broadcasted output shape"
    with pytest.raises(ttnn.ShapeError, match=sentence):
        ttnn.add(a, b, output_tensor=out)
    with pytest.raises(ttnn.ShapeError, match=sentence):
        ttnn.add(b, b, output_tensor=out)
