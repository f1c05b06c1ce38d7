"""`softcap`, `clamped_silu_glu` and `situ_glu`: bits, errors, and refusals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import assert_within, from_raw, make, raw_of, ulp_distance, values_of
from ttnn.operation import registry

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
CORES = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (1, 1))})
GATED = [("clamped_silu_glu", (1.0,)), ("situ_glu", (4.0, 25.0)), ("situ_glu", (0.5, -1.0))]


@pytest.fixture
def blackhole() -> Iterator[ttnn.MeshDevice]:
    """Return an open Blackhole, which is the chip that has `softcap`."""
    with ttnn.manage_config("arch_name", "blackhole"):
        opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def _every_bfloat16(device: ttnn.MeshDevice) -> tuple[npt.NDArray[np.uint16], ttnn.Tensor]:
    words = np.arange(2**16, dtype=np.uint16)
    return words, from_raw(words, (2048, 32), ttnn.bfloat16, device)


def _bits(tensor: ttnn.Tensor) -> npt.NDArray[np.uint16]:
    return raw_of(tensor).view(np.uint16)


def _pair(dtype: ttnn.DataType, device: ttnn.MeshDevice, layout: ttnn.Layout = TILES) -> list[ttnn.Tensor]:
    return [ttnn.multiply(make((40, 70), dtype, layout, device, seed), 8.0) for seed in (1, 2)]


def test_softcap_at_one_is_the_hyperbolic_tangent(blackhole: ttnn.MeshDevice) -> None:
    words, x = _every_bfloat16(blackhole)
    got = _bits(ttnn.softcap(x, 1.0))
    # The product with 1 / beta has one NaN, which is positive.
    nan = words & 0x7FFF > 0x7F80
    assert set(got[nan].tolist()) == {0x3F80}
    np.testing.assert_array_equal(got[~nan], _bits(ttnn.tanh(x))[~nan])


@pytest.mark.parametrize("power", [-3, 2, 5])
def test_powers_of_two_scale_the_hyperbolic_tangent(power: int, blackhole: ttnn.MeshDevice) -> None:
    words, x = _every_bfloat16(blackhole)
    # Away from the ends of the range both products are exact.
    exponents = words >> 7 & 0xFF
    inside = (exponents > 40) & (exponents < 214)
    scaled = np.where(inside, words.astype(np.int32) - (power << 7), 0).astype(np.uint16)
    tangent = _bits(ttnn.tanh(from_raw(scaled, (2048, 32), ttnn.bfloat16, blackhole))).astype(np.int32)
    expected = np.where(tangent & 0x7FFF != 0, tangent + (power << 7), tangent)
    got = _bits(ttnn.softcap(x, 2.0**power)).astype(np.int32)
    np.testing.assert_array_equal(got[inside], expected[inside])


@pytest.mark.parametrize("beta", [25.0, -0.3])
def test_softcap_is_rounded_once(beta: float, blackhole: ttnn.MeshDevice) -> None:
    _, x = _every_bfloat16(blackhole)
    values = values_of(x)
    near = np.isfinite(values) & (np.abs(values) > 2.0**-60) & (np.abs(values) < 2.0**60)
    exact = beta * np.tanh(np.where(near, values, 1.0) / np.float32(beta))
    got = np.where(near, values_of(ttnn.softcap(x, beta)), exact)
    # The polynomial's slope at 0 is 0.999; the rest is the last rounding.
    assert ulp_distance(exact, got, ttnn.bfloat16) < 1.0


@pytest.mark.parametrize("layout", [TILES, ROWS])
@pytest.mark.parametrize("beta", [2.0, -0.75])
def test_softcap_of_layouts(beta: float, layout: ttnn.Layout, blackhole: ttnn.MeshDevice) -> None:
    x = make((3, 33, 50), ttnn.bfloat16, layout, blackhole, 1)
    output = make((3, 33, 50), ttnn.bfloat16, layout, blackhole, 2)
    got = ttnn.softcap(x, beta, output_tensor=output)
    assert got is output
    entry = registry.find("ttnn.softcap").entry
    assert entry is not None
    assert entry.golden is not None
    assert entry.accuracy is not None
    assert_within(entry.golden(values_of(x), beta), got, entry.accuracy.bound(got.dtype, got.device().arch()))


@pytest.mark.parametrize(("name", "numbers"), GATED)
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_results_match_the_golden_function(
    name: str, numbers: tuple[float, ...], dtype: ttnn.DataType, blackhole: ttnn.MeshDevice
) -> None:
    entry = registry.find(f"ttnn.{name}").entry
    assert entry is not None
    assert entry.golden is not None
    assert entry.accuracy is not None
    for up_shape in ((40, 70), (1, 70), (40, 1)):
        gate, up = make((40, 70), dtype, TILES, blackhole, 1), make(up_shape, dtype, TILES, blackhole, 2)
        got = getattr(ttnn, name)(gate, up, *numbers)
        assert (got.dtype, got.shape, got.layout) == (dtype, gate.shape, TILES)
        assert_within(
            entry.golden(values_of(gate), values_of(up), *numbers),
            got,
            entry.accuracy.bound(dtype, got.device().arch()),
        )


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("limit", [10.0, 0.0, 0.5])
def test_clamped_silu_glu_step_by_step(dtype: ttnn.DataType, limit: float, device: ttnn.MeshDevice) -> None:
    gate, up = _pair(dtype, device)
    expected = ttnn.multiply(ttnn.silu(ttnn.minimum(gate, limit)), ttnn.clamp(up, min=-limit, max=limit))
    np.testing.assert_array_equal(raw_of(ttnn.clamped_silu_glu(gate, up, limit)), raw_of(expected))


@pytest.mark.parametrize("layout", [TILES, ROWS])
def test_situ_glu_step_by_step(layout: ttnn.Layout, blackhole: ttnn.MeshDevice) -> None:
    gate, up = _pair(ttnn.bfloat16, blackhole, layout)
    gated = ttnn.multiply(ttnn.softcap(gate, 4.0), ttnn.sigmoid(gate))
    expected = ttnn.multiply(gated, ttnn.softcap(up, 25.0))
    np.testing.assert_array_equal(raw_of(ttnn.situ_glu(gate, up, 4.0, 25.0)), raw_of(expected))


@pytest.mark.parametrize(("name", "numbers"), GATED)
def test_where_results_live(name: str, numbers: tuple[float, ...], blackhole: ttnn.MeshDevice) -> None:
    config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
    gate, up = (make((64, 64), ttnn.bfloat16, TILES, blackhole, seed) for seed in (1, 2))
    operation = getattr(ttnn, name)
    expected = values_of(operation(gate, up, *numbers))
    for place in (config, ttnn.L1_MEMORY_CONFIG):
        assert operation(ttnn.to_memory_config(gate, place), up, *numbers).memory_config() == place
        got = operation(gate, up, *numbers, memory_config=place)
        assert got.memory_config() == place
        np.testing.assert_array_equal(values_of(got), expected)
    np.testing.assert_array_equal(values_of(operation(gate, up, *numbers, sub_core_grids=CORES)), expected)


def test_wrong_bounds_raise_errors(blackhole: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, TILES, blackhole, 1)
    for limit in (-1.0, float("nan")):
        with pytest.raises(ttnn.ParameterError, match="clamped_silu_glu: limit is"):
            ttnn.clamped_silu_glu(x, x, limit)
    for nothing in (0.0, 1e-60, float("nan")):
        for betas in ((nothing, 1.0), (1.0, nothing)):
            with pytest.raises(ttnn.ParameterError, match="beta1 and beta2 must be non-zero"):
                ttnn.situ_glu(x, x, *betas)
        with pytest.raises(ttnn.ParameterError, match="SOFTCAP requires a non-zero beta"):
            ttnn.softcap(x, nothing)
    with pytest.raises(ttnn.MemoryConfigError, match="core restriction cannot be combined with an interleaved-L1"):
        ttnn.situ_glu(x, x, 1.0, 1.0, memory_config=ttnn.L1_MEMORY_CONFIG, sub_core_grids=CORES)


def test_wrong_operands_raise_errors(blackhole: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, TILES, blackhole, 1)
    whole, wide = (make((32, 32), dtype, TILES, blackhole, 1) for dtype in (ttnn.int32, ttnn.float32))
    for pair in ((whole, x), (x, whole), (whole, whole)):
        with pytest.raises(ttnn.DTypeError, match="SILU does not support integer input dtype"):
            ttnn.clamped_silu_glu(*pair, 1.0)
        with pytest.raises(ttnn.DTypeError, match="SOFTCAP does not support integer input dtype"):
            ttnn.situ_glu(*pair, 1.0, 1.0)
    for pair in ((wide, x), (x, wide)):
        with pytest.raises(ttnn.DTypeError, match="is FLOAT32"):
            ttnn.situ_glu(*pair, 1.0, 1.0)
    with pytest.raises(ttnn.DTypeError, match="is FLOAT32"):
        ttnn.softcap(wide, 1.0)
    with pytest.raises(ttnn.StorageError):
        ttnn.softcap(x.cpu(), 1.0)


def test_wormhole_has_no_softcap(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, TILES, device, 1)
    for call in (lambda: ttnn.softcap(x, 1.0), lambda: ttnn.situ_glu(x, x, 4.0, 25.0)):
        with pytest.raises(ttnn.DeviceError, match="SOFTCAP is implemented for Blackhole only, got arch wormhole_b0"):
            call()


@pytest.mark.parametrize("alpha", [1e300, -1e300])
def test_parameters_beyond_float32_are_infinite(alpha: float, device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((32, 32), ttnn.bfloat16, TILES, device)
    np.testing.assert_array_equal(values_of(ttnn.celu(x, alpha=alpha)), 1.0)
