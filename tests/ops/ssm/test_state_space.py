"""Mamba steps against numpy with each step's bfloat16 rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import ssm as golden

TILES, RM = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b]


def _integers(shape: tuple[int, ...], limit: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-limit, limit, size=shape, endpoint=True).astype(np.float32)


def _tensor(values: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice, place: Any = None, layout: Any = TILES) -> Any:
    return ttnn.Tensor(values, dtype, None, layout).to(device, place)


def _by_width(rows: int, columns: int, cores: int) -> ttnn.MemoryConfig:
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(cores - 1, 0))})
    spec = ttnn.ShardSpec(grid, [rows, columns // cores], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1, spec)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [32, 64])
def test_sums_of_32_columns(rows: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    # Sums of small integers are exact.
    values = _integers((1, 1, rows, 2048), 3)
    result = ttnn.experimental.hc_sum_reduce(_tensor(values, dtype, device))
    assert (tuple(result.shape), result.dtype) == ((1, 1, rows, 64), dtype)
    np.testing.assert_array_equal(values_of(result), golden.hc_sum_reduce(values))


def test_sums_depend_on_the_fidelity(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 32, 1024), ttnn.bfloat16, TILES, device)
    full, low = (
        values_of(ttnn.experimental.hc_sum_reduce(x, math_fidelity=fidelity))
        for fidelity in (None, ttnn.MathFidelity.LoFi)
    )
    expected = golden.hc_sum_reduce(values_of(x))
    assert np.abs(full - expected).max() < np.abs(low - expected).max() < 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "columns", "cores"), [(32, 512, 1), (64, 1024, 2)])
def test_states_of_integers_are_exact(
    rows: int, columns: int, cores: int, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    place, line = _by_width(rows, columns, cores), _by_width(1, columns, cores)
    # Factors 0 and 1 keep sums small.
    a, bx = np.abs(_integers((1, 1, rows, columns), 1)), _integers((1, 1, rows, columns), 1, 1)
    start = _integers((1, 1, 1, columns), 8, 2)
    h = _tensor(start, ttnn.bfloat16, device, line, RM)
    result = ttnn.experimental.prefix_scan(_tensor(a, dtype, device, place), _tensor(bx, dtype, device, place), h)
    expected = golden.prefix_scan(a, bx, start)
    assert (result.dtype, result.memory_config()) == (dtype, place)
    np.testing.assert_array_equal(values_of(result), expected)
    np.testing.assert_array_equal(values_of(h)[0, 0, 0], expected[0, 0, -1])


def _bfloat16(values: Any) -> Any:
    words = np.asarray(values, np.float32).view(np.uint32)
    return ((words + 0x7FFF + (words >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def test_states_are_kept_in_bfloat16(device: ttnn.MeshDevice) -> None:
    """Every state is within two roundings of the recurrence."""
    place, line = _by_width(32, 512, 1), _by_width(1, 512, 1)
    a, bx = (make((1, 1, 32, 512), ttnn.bfloat16, TILES, device, seed, place) for seed in (0, 1))
    h = make((1, 1, 1, 512), ttnn.bfloat16, RM, device, 2, line)
    before = values_of(h)[0, 0]
    states = values_of(ttnn.experimental.prefix_scan(a, bx, h))[0, 0]
    previous = np.concatenate([before, states[:-1]])
    product, addend = values_of(a)[0, 0] * previous, values_of(bx)[0, 0]
    largest = np.maximum(np.abs(product), np.abs(addend))
    # Four phases of the product, and the sum, each within half a unit of the larger term.
    assert (np.abs(states - (product + addend)) <= 5 * 2**-8 * np.maximum(largest, np.abs(states))).all()
    np.testing.assert_array_equal(_bfloat16(states), states)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("wide", "other"), [(32, 5120), (163840, 5120), (32, 163840)])
def test_products_of_repeated_operands(wide: int, other: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = _integers((1, 1, 32, wide), 7), _integers((1, 1, 32, other), 7, 1)
    operation = ttnn.experimental.repeat_and_interleave_eltwise_mul
    result = operation(_tensor(a, dtype, device), _tensor(b, dtype, device), dtype=ttnn.bfloat16)
    assert tuple(result.shape) == (1, 1, 32, 163840)
    np.testing.assert_array_equal(
        np.asarray(result.to_torch().float().numpy()), golden.repeat_and_interleave_eltwise_mul(a, b)
    )


def test_products_take_padding_as_elements(device: ttnn.MeshDevice) -> None:
    a, b = _integers((1, 1, 32, 1), 7), _integers((1, 1, 32, 5120), 7, 1)
    result = ttnn.experimental.repeat_and_interleave_eltwise_mul(*(_tensor(x, ttnn.bfloat16, device) for x in (a, b)))
    padded = np.pad(a, [(0, 0), (0, 0), (0, 0), (0, 31)])
    np.testing.assert_array_equal(
        np.asarray(result.to_torch().float().numpy()), golden.repeat_and_interleave_eltwise_mul(padded, b)
    )


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    space = ttnn.experimental
    narrow = make((1, 1, 32, 64), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ShapeError, match="must be a multiple of latent size"):
        space.hc_sum_reduce(narrow)
    with pytest.raises(ttnn.DTypeError, match="Unsupported data format"):
        space.hc_sum_reduce(make((1, 1, 32, 1024), ttnn.float32, TILES, device))
    x = make((1, 1, 32, 1024), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.UnsupportedError, match="packs to BFLOAT16"):
        space.hc_sum_reduce(x, dtype=ttnn.bfloat8_b)
    with pytest.raises(ttnn.MemoryConfigError, match="Unsupported memory layout"):
        space.hc_sum_reduce(x, memory_config=_by_width(32, 32, 1))
    h = make((1, 1, 1, 1024), ttnn.bfloat16, RM, device)
    with pytest.raises(ttnn.MemoryConfigError, match="Expected input tensors to be sharded"):
        space.prefix_scan(x, x, h)
    with pytest.raises(ttnn.LayoutError, match="Expected initial hidden state to be row-major"):
        space.prefix_scan(x, x, x)
    with pytest.raises(ttnn.ShapeError, match="Input a width must be 32"):
        space.repeat_and_interleave_eltwise_mul(narrow, x)


def test_a_product_is_one_program(device: ttnn.MeshDevice) -> None:
    b, x = (make((1, 1, 32, width), ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for width in (32, 5120))
    device.clear_program_cache()
    for _ in range(2):
        ttnn.experimental.repeat_and_interleave_eltwise_mul(b, x)
    assert device.num_program_cache_entries() == 1
