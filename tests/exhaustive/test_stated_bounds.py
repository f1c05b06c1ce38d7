"""Bounds beyond sweeps of one or two real tensors.

Products with a number, polynomials, complex tensors, sums.

Every test compares the largest error with the bound from both sides, so that it fails for a bound that is too small and
for one that says nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_binary_bounds import pairs_for

import ttnn
from ttnn.device.chip import ARCH
from ttnn.golden import backward
from ttnn.golden.eltwise import binary as golden
from ttnn.operation import registry

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.float32]
DTYPES = [ttnn.bfloat16, ttnn.float32]
MANTISSA_BITS = {ttnn.bfloat16: 7, ttnn.float32: 23}
PLACE = ttnn.DRAM_MEMORY_CONFIG

# The last three lose nearly a unit cut to bfloat16, half of one rounded to float32, and as much with their inverse.
NUMBERS = [
    -0.1,
    0.3,
    7.0,
    14268.719,
    0.8705131112820677,
    1.0 + 6 / 128 - 1e-7,
    1.0 + 2.0**-22 - 2.0**-24 + 2.0**-40,
    1.0 / 1.0003861784338952,
]
HELD = [0.5, -1.0, 3.0, 1.9921875]
"""Numbers that bfloat16 holds."""


def tensor(values: npt.ArrayLike, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(np.asarray(values, np.float32).reshape(-1, 32, 32), dtype, device, ttnn.TILE_LAYOUT)


def flat(result: ttnn.Tensor) -> Floats:
    return np.asarray(result.to_list(), np.float64).reshape(-1)


def units(magnitude: Floats, dtype: ttnn.DataType) -> Floats:
    """Return a unit in the last place of normal magnitudes."""
    exponents = np.frexp(np.where(magnitude == 0.0, 1.0, np.abs(magnitude)))[1] - 1
    return np.asarray(np.ldexp(1.0, exponents - MANTISSA_BITS[dtype]), np.float64)


def largest(got: Floats, exact: Floats, dtype: ttnn.DataType, magnitude: Floats | None = None) -> float:
    """Return the largest error at normal exact results or magnitudes."""
    magnitude = np.abs(exact if magnitude is None else magnitude)
    normal = (magnitude >= 2.0**-124) & (magnitude <= 2.0**126)
    assert normal.mean() > 0.9
    return float(np.max((np.abs(got - exact) / units(magnitude, dtype))[normal]))


def accuracy_of(name: str) -> Any:
    entry = registry.find(f"ttnn.{name}").entry
    assert entry is not None
    return entry.accuracy


def assert_is_the_bound(error: float, name: str, dtype: ttnn.DataType, share: float = 0.5) -> None:
    """Fail unless an error is within, and near, the stated bound.

    It is at least a share of it.
    """
    bound = accuracy_of(name).bound(dtype, ARCH[ttnn.CONFIG.arch_name])
    print(f"\n{name} {dtype.name}: {error:.6g} of {bound:g} ULP")
    assert share * bound < error <= bound


def normal_values(dtype: ttnn.DataType) -> Values:
    """Return all normal bfloat16 values.

    For float32 each with a seeded lower half.
    """
    words = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    if dtype is ttnn.float32:
        words |= np.random.default_rng(1).integers(0, 1 << 16, words.size, dtype=np.uint32)
    exponents = words >> np.uint32(23) & np.uint32(255)
    return np.resize(words[(exponents > 0) & (exponents < 255)], 1 << 16).view(np.float32)


def products(name: str, number: float, x: ttnn.Tensor, values: Floats) -> tuple[Floats, Floats]:
    """Return an operator's and the exact product or quotient.

    Of a tensor and a number.
    """
    if name in ("leaky_relu", "prelu"):
        return flat(getattr(ttnn, name)(x, number)), np.where(values < 0, number * values, values)
    if name == "div_no_nan_bw":
        return flat(ttnn.div_no_nan_bw(x, x, number)[0]), values / number
    copy, product = getattr(ttnn, name)(x, x, x, number)
    np.testing.assert_array_equal(flat(copy), values)
    return flat(product), (-number if name == "subalpha_bw" else number) * values


PRODUCTS = ("addalpha_bw", "div_no_nan_bw", "leaky_relu", "prelu", "subalpha_bw")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_any_number(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = normal_values(dtype)
    x = tensor(values, dtype, device)
    errors = []
    for number in NUMBERS:
        got, exact = products(name, 1.0 / number if name == "div_no_nan_bw" else number, x, values.astype(np.float64))
        errors.append(largest(got, exact, dtype))
    assert_is_the_bound(max(errors), name, dtype, 0.75)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["addalpha_bw", "subalpha_bw"])
def test_products_with_numbers_that_bfloat16_holds_are_rounded_once(
    name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    values = normal_values(dtype)
    x = tensor(values, dtype, device)
    for number in HELD:
        got, exact = products(name, number, x, values.astype(np.float64))
        assert largest(got, exact, dtype) <= 0.5


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_weight_per_channel_is_a_product(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = normal_values(dtype)[:8192].reshape(2, 4, 32, 32)
    weights = normal_values(dtype)[16000:48000:8000]
    x = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
    result = ttnn.prelu(x, ttnn.Tensor(weights, dtype, device, ttnn.TILE_LAYOUT))
    exact = np.where(values < 0, values.astype(np.float64) * weights.reshape(1, 4, 1, 1), values).reshape(-1)
    assert largest(flat(result), exact, dtype) <= 0.5


def mantissas(dtype: ttnn.DataType, seed: int) -> Values:
    """Return all bfloat16 mantissas with both signs.

    For float32 as many at random.
    """
    kept = 1.0 + np.arange(128) / 128
    if dtype is ttnn.float32:
        kept = np.random.default_rng(seed).uniform(1.0, 2.0, 128)
    return np.concatenate([kept, -kept]).astype(np.float32)


@pytest.mark.parametrize("exponent", [0, -100, 60])
@pytest.mark.parametrize("dtype", DTYPES)
def test_outer_products_of_all_mantissas(dtype: ttnn.DataType, exponent: int, device: ttnn.MeshDevice) -> None:
    a, b = np.ldexp(mantissas(dtype, 1), exponent).astype(np.float32), mantissas(dtype, 2)
    x, y = (ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT) for values in (a, b))
    exact = np.multiply.outer(a.astype(np.float64), b.astype(np.float64)).reshape(-1)
    assert_is_the_bound(largest(flat(ttnn.outer(x, y)), exact, dtype), "outer", dtype, 0.999)
    stacked = (ttnn.Tensor(np.stack([values, values]), dtype, device, ttnn.TILE_LAYOUT) for values in (a, b))
    # Several vectors are multiplied element by element.
    assert largest(flat(ttnn.outer(*stacked)), np.tile(exact, 2), dtype) <= 0.5


def polynomials() -> list[list[float]]:
    random = np.random.default_rng(3)
    found = [[1.0156249] * count for count in range(1, 7)]
    for count in range(1, 8):
        for _ in range(16):
            sizes = random.uniform(1.0, 2.0, count) * 2.0 ** random.integers(-4, 5, count)
            found.append((sizes * random.choice([-1.0, 1.0], count)).tolist())
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_polynomials(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = normal_values(dtype)
    values = np.resize(values[(np.abs(values) >= 2.0**-16) & (np.abs(values) < 2.0**16)], 1 << 14)
    x, exact = tensor(values, dtype, device), values.astype(np.float64)
    measure = accuracy_of("polyval").magnitude
    errors = [
        largest(flat(ttnn.polyval(x, c)), golden.polyval(exact, c), dtype, measure(exact, c)) for c in polynomials()
    ]
    assert_is_the_bound(max(errors), "polyval", dtype)


def parts(name: str, dtype: ttnn.DataType) -> tuple[Values, Values]:
    """Return imaginary and real parts within an operator's operand range.

    They are those of `atan2`.
    """
    imag, real = (words.view(np.float32) for words in pairs_for("atan2", dtype.name.lower()))
    limit = accuracy_of(name).largest
    inside = (np.abs(imag) <= limit) & (np.abs(real) <= limit)
    return np.resize(imag[inside], imag.size), np.resize(real[inside], real.size)


def assert_parts(name: str, result: Any, exact: Any, dtype: ttnn.DataType, magnitude: Any = None) -> None:
    """Hold the real and the imaginary part against the bound."""
    sizes = (None, None) if magnitude is None else (np.real(magnitude), np.imag(magnitude))
    if magnitude is not None and not np.iscomplexobj(magnitude):
        sizes = (magnitude, magnitude)
    both = (
        largest(flat(result.real), exact.real, dtype, sizes[0]),
        largest(flat(result.imag), exact.imag, dtype, sizes[1]),
    )
    assert_is_the_bound(max(both), name, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["angle", "polar", "angle_bw", "polar_bw"])
def test_complex_tensors(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    imag, real = parts(name, dtype)
    random = np.random.default_rng(4)
    z = ttnn.complex_tensor(tensor(real, dtype, device), tensor(imag, dtype, device))
    exact_z = real.astype(np.float64) + 1j * imag
    more: list[Any] = []
    exact_more: list[Any] = []
    if name.endswith("_bw"):
        grads = [random.permutation(values) for values in (real, imag)]
        tensors = [tensor(values, dtype, device) for values in grads]
        of_complex = name == "polar_bw"
        more = [ttnn.complex_tensor(*tensors) if of_complex else tensors[0]]
        exact_more = [grads[0].astype(np.float64) + 1j * grads[1] if of_complex else grads[0].astype(np.float64)]
    result = getattr(ttnn, name)(*more, z, memory_config=PLACE)
    entry = registry.find(f"ttnn.{name}").entry
    assert entry is not None
    assert entry.golden is not None
    exact = entry.golden(*exact_more, exact_z)
    if more:
        (result,), (exact,) = result, exact
    measure = accuracy_of(name).magnitude
    if name == "angle":
        assert_is_the_bound(largest(flat(result), exact, dtype), name, dtype)
    else:
        magnitude = None if measure is None else measure(*exact_more, exact_z)
        assert_parts(name, result, exact, dtype, magnitude)


@pytest.mark.parametrize("dtype", DTYPES)
def test_complex_tensors_are_passed_on(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = normal_values(dtype)
    x, y = tensor(values, dtype, device), tensor(values[::-1], dtype, device)
    a, b = values.astype(np.float64), values[::-1].astype(np.float64)
    z = ttnn.complex_tensor(x, y)
    for result, real, imag in (
        (z, a, b),
        (ttnn.real_bw(x, z, memory_config=PLACE)[0], a, 0.0 * a),
        (ttnn.imag_bw(x, z, memory_config=PLACE)[0], 0.0 * a, a),
        (ttnn.conj_bw(z, z, memory_config=PLACE)[0], a, -b),
    ):
        np.testing.assert_array_equal(flat(result.real), real)
        np.testing.assert_array_equal(flat(result.imag), imag)
    for name in ("complex_tensor", "conj_bw", "imag_bw", "real_bw"):
        assert accuracy_of(name).exact


def uses_of_rows(device: ttnn.MeshDevice, grad: Values) -> float:
    """Return `embedding_bw`'s largest error, row n used n times."""
    indices = np.repeat(np.arange(32), np.arange(32)).astype(np.uint32)[None, :]
    indices = np.concatenate([indices, np.full((1, 512 - indices.size), 32, np.uint32)], 1)
    weight = ttnn.zeros((64, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = ttnn.embedding_bw(
        ttnn.Tensor(indices, ttnn.uint32, None, ttnn.ROW_MAJOR_LAYOUT).to(device),
        weight,
        ttnn.Tensor(grad, ttnn.bfloat16, device, ttnn.TILE_LAYOUT),
    )
    operands = (indices, np.zeros((64, 32)), grad.astype(np.float64))
    magnitude = accuracy_of("embedding_bw").magnitude(*operands)
    exact = backward.embedding(*operands)
    used = magnitude > 0
    np.testing.assert_array_equal(flat(result)[~used.reshape(-1)], 0.0)
    return largest(flat(result)[used.reshape(-1)], exact[used], ttnn.bfloat16, magnitude[used])


def test_sums_of_gradients(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(6).normal(size=(1, 1, 512, 32)).astype(np.float32)
    held = (random.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    # Every addition loses what is added, nearly a unit: 1 comes first in the uses of a row.
    lost = np.full((1, 1, 512, 32), 2.0**-7 - 2.0**-15, np.float32)
    lost[:, :, [0, *np.cumsum(np.arange(1, 32))]] = 1.0
    errors = [uses_of_rows(device, grad) for grad in (held, lost)]
    assert_is_the_bound(max(errors), "embedding_bw", ttnn.bfloat16, 0.75)
