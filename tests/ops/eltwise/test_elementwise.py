"""Element-wise operators beyond the generated tests: outputs, activations, broadcasting, special values."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, make, raw_of, values_of

RELU = ttnn.UnaryOpType.RELU
EXP = ttnn.UnaryOpType.EXP


def _pair(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> tuple[ttnn.Tensor, ttnn.Tensor]:
    return (
        make((2, 40, 70), dtype, ttnn.TILE_LAYOUT, device, seed=1),
        make((2, 40, 70), dtype, ttnn.TILE_LAYOUT, device, seed=2),
    )


def test_output_tensor_takes_the_result(device: ttnn.MeshDevice) -> None:
    a, b = _pair(device)
    output = ttnn.empty((2, 40, 70), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    assert ttnn.add(a, b, output_tensor=output) is output
    np.testing.assert_array_equal(raw_of(output), raw_of(ttnn.add(a, b)))
    wide = ttnn.empty((2, 40, 70), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert ttnn.exp(a, output_tensor=wide) is wide
    assert ttnn.multiply(a, b, output_tensor=b) is b


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name", ["erf", "i1", "digamma", "softplus", "elu", "celu", "selu"])
def test_coefficients_of_a_wider_result_are_not_guessed(
    name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    """Float32 vectors of a 32-bit Dst, alone and in chains.

    The functions have no others.
    """
    x, function = _pair(device, dtype)[0], getattr(ttnn.UnaryOpType, name.upper())
    wide = ttnn.empty((2, 40, 70), ttnn.float32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(
        ttnn.UnsupportedError, match=rf"^ttnn\.{name}: {dtype.name} with a float32 output_tensor is not"
    ):
        getattr(ttnn, name)(x, output_tensor=wide)
    with pytest.raises(ttnn.UnsupportedError, match=r"^ttnn\.unary_chain: .* with a float32 output_tensor is not mod"):
        ttnn.unary_chain(x, [RELU, function], output_tensor=wide)
    assert ttnn.unary_chain(x, [RELU, function]).dtype is dtype
    assert ttnn.unary_chain(x, [RELU, EXP], output_tensor=wide) is wide
    message = rf"^ttnn\.add: the activation {name} of {dtype.name} and {dtype.name} with a 32-bit Dst is not modelled"
    for place in ("activations", "input_tensor_a_activations", "input_tensor_b_activations"):
        with pytest.raises(ttnn.UnsupportedError, match=message):
            ttnn.add(x, x, dtype=ttnn.float32, **{place: [function]})
        assert ttnn.add(x, x, **{place: [function]}).dtype is dtype
    with pytest.raises(ttnn.UnsupportedError, match=rf"the activation {name} of {dtype.name} and FLOAT32 with a"):
        ttnn.add(x, wide, activations=[function])
    assert ttnn.add(wide, wide, activations=[function]).dtype is ttnn.float32


def test_output_types(device: ttnn.MeshDevice) -> None:
    a, b = _pair(device)
    wide = ttnn.add(a, b, dtype=ttnn.float32)
    assert wide.dtype == ttnn.float32
    # The FPU aligns the operands to ten bits below the larger one; a bfloat16 result would keep seven.
    largest = np.maximum(np.abs(values_of(a)), np.abs(values_of(b)))
    assert np.max(np.abs(values_of(wide) - values_of(a) - values_of(b)) / largest) < 2**-9
    c, d = _pair(device, ttnn.float32)
    narrow = ttnn.multiply(c, d, dtype=ttnn.bfloat16)
    expected = ttnn.Tensor((values_of(c) * values_of(d)).astype(np.float32), ttnn.bfloat16)
    np.testing.assert_array_equal(values_of(narrow), values_of(expected))


def test_activations(device: ttnn.MeshDevice) -> None:
    a, b = _pair(device)
    plain = ttnn.add(a, b)
    np.testing.assert_array_equal(raw_of(ttnn.add(a, b, activations=[RELU])), raw_of(ttnn.relu(plain)))
    np.testing.assert_array_equal(
        raw_of(ttnn.add(a, b, input_tensor_a_activations=[RELU])), raw_of(ttnn.add(ttnn.relu(a), b))
    )
    np.testing.assert_array_equal(
        raw_of(ttnn.multiply(a, b, input_tensor_b_activations=[ttnn.UnaryWithParam(EXP)])),
        raw_of(ttnn.multiply(a, ttnn.exp(b))),
    )
    fused = ttnn.multiply(a, b, activations=[EXP, (EXP, 1.0)])
    reference = np.exp(np.exp(values_of(a) * values_of(b)))
    near = reference < 1e3
    np.testing.assert_allclose(values_of(fused)[near], reference[near], rtol=0.3)


@pytest.mark.parametrize("shape_b", [(64,), (1, 64), (40, 1), (1, 1), (2, 1, 1), (2, 40, 64), (3, 1, 40, 64), ()])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_broadcasting(device: ttnn.MeshDevice, shape_b: tuple[int, ...], dtype: ttnn.DataType) -> None:
    a = make((2, 40, 64), dtype, ttnn.TILE_LAYOUT, device)
    b = make(shape_b, dtype, ttnn.TILE_LAYOUT, device, seed=3)
    whole = ttnn.Tensor(
        np.broadcast_to(values_of(b), np.broadcast_shapes((2, 40, 64), shape_b)).astype(np.float32).copy(),
        dtype,
        device,
        ttnn.TILE_LAYOUT,
    )
    for first, second, other in ((a, b, whole), (b, a, a)):
        full = (a, whole) if first is a else (whole, a)
        if len(shape_b) > 3:
            full = tuple(
                ttnn.Tensor(
                    np.broadcast_to(values_of(t), (3, 2, 40, 64)).astype(np.float32).copy(),
                    dtype,
                    device,
                    ttnn.TILE_LAYOUT,
                )
                for t in full
            )
        assert other is not None
        result = ttnn.subtract(first, second)
        assert tuple(result.shape) == np.broadcast_shapes((2, 40, 64), shape_b)
        np.testing.assert_array_equal(values_of(result), values_of(ttnn.subtract(*full)))


def test_scalars_on_either_side(device: ttnn.MeshDevice) -> None:
    a, _ = _pair(device)
    x = values_of(a)
    for result, reference in (
        (a + 1, x + 1),
        (1 + a, x + 1),
        (a - 0.5, x - 0.5),
        (0.5 - a, 0.5 - x),
        (a * 3, x * 3),
        (3 * a, x * 3),
        (ttnn.subtract(2, a), 2 - x),
        (ttnn.rsub(a, 2), 2 - x),
    ):
        rounded = ttnn.Tensor(reference.astype(np.float32), ttnn.bfloat16)
        np.testing.assert_allclose(values_of(result), values_of(rounded), rtol=2**-7)


def test_bfloat16_scalars_are_truncated(device: ttnn.MeshDevice) -> None:
    zero = ttnn.zeros((1, 1), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    # 1.99999 rounds to 2.0 and is cut to 1.9921875.
    assert ttnn.add(zero, 1.99999).item() == 1.9921875
    zero = ttnn.zeros((1, 1), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert ttnn.add(zero, 1.99999).item() == np.float32(1.99999)


def test_special_values(device: ttnn.MeshDevice) -> None:
    values = np.array([[np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38]], np.float32)
    x = ttnn.Tensor(values, ttnn.float32, device, ttnn.TILE_LAYOUT)
    np.testing.assert_array_equal(values_of(ttnn.relu(x)), [[np.nan, np.inf, 0, 0, 0, np.float32(3e38)]])
    exponential = values_of(ttnn.exp(x))[0]
    assert exponential[1] == np.inf
    assert exponential[2] == 0
    assert exponential[3] == exponential[4] == 1
    assert exponential[5] == np.inf


@pytest.mark.parametrize("shape", [(), (1,), (0, 4), (3, 0), (0,)])
def test_rank_zero_and_empty(device: ttnn.MeshDevice, shape: tuple[int, ...]) -> None:
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        x = make(shape, ttnn.bfloat16, layout, device)
        assert tuple(ttnn.exp(x).shape) == shape
        assert tuple(ttnn.add(x, 1.0).shape) == shape
        assert tuple(ttnn.add(x, x).shape) == shape


def test_results_do_not_depend_on_the_thread_count(device: ttnn.MeshDevice, host_threads: None) -> None:
    a = make((4, 200, 300), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    results = []
    for threads in (1, 2, 8):
        ttnn._engine.set_threads(threads)
        results.append([raw_of(ttnn.softmax(a)), raw_of(ttnn.exp(a)), raw_of(ttnn.multiply(a, a))])
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name: str, device: ttnn.MeshDevice) -> None:
    generator = np.random.default_rng(3)
    a, b = (generator.integers(1, 1000, (40, 70), dtype=np.int32) for _ in range(2))
    operands = [ttnn.Tensor(x, ttnn.int32, None, ttnn.TILE_LAYOUT).to(device) for x in (a, b)]
    got = getattr(ttnn, name)(*operands)
    np.testing.assert_array_equal(np.asarray(got.to_list()), getattr(np, name)(a, b))


@pytest.mark.parametrize("name", ["exp", "gelu", "relu", "neg", "sin", "logit"])
def test_large_tensors_have_the_bits_of_small_ones(name: str, device: ttnn.MeshDevice) -> None:
    """Programs of many tiles are a table; few tiles use Dst."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    few = from_raw(patterns, (2048, 32), ttnn.bfloat16, device)
    many = from_raw(np.tile(patterns, 5), (10240, 32), ttnn.bfloat16, device)
    operation = getattr(ttnn, name)
    expected = np.tile(raw_of(operation(few)), 5)
    np.testing.assert_array_equal(raw_of(operation(many)), expected)
    operation(many, output_tensor=many)
    np.testing.assert_array_equal(raw_of(many), expected)


def test_padding_takes_the_exponent_of_block_floats_beside_it(device: ttnn.MeshDevice) -> None:
    """Padding's 0 / 0 is infinite, as is its group's exponent.

    A group has 16, as in docs/operators.md.
    """
    ones = ttnn.Tensor(np.ones((2, 20), np.float32), ttnn.bfloat8_b, None, ttnn.TILE_LAYOUT).to(device)
    quotients = np.asarray(ttnn.divide(ones, 4.0).to_list())
    np.testing.assert_array_equal(quotients, 0.25)
    quotients = np.asarray(ttnn.divide(ones, ones).to_list())
    np.testing.assert_array_equal(quotients[:, :16], 1.0)
    np.testing.assert_array_equal(quotients[:, 16:], 0.0)
