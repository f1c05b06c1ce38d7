"""Reductions of int32 and uint32: wrapping, signs, no padding."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import from_raw, raw_of
from ttnn import _engine

OPERATORS = {"sum": ttnn.sum, "max": ttnn.max, "min": ttnn.min}
KINDS = {ttnn.int32: np.int32, ttnn.uint32: np.uint32}
EVERY = pytest.mark.parametrize("name", OPERATORS)
TYPES = pytest.mark.parametrize("dtype", KINDS, ids=lambda dtype: dtype.name)
LAYOUTS = pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=lambda layout: layout.name)

# The words at which a sign, a carry or a conversion to floating point would show.
WORDS = np.array(
    [
        *(0, 1, 2, 6, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000001, 0x3F800000, 0x7F800000, 0x7FC00000),
        *(0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xBF800000, 0xFF800000, 0xFFFF0000, 0xFFFFFFFE, 0xFFFFFFFF),
    ],
    np.uint32,
)


def expected(name: str, values: Any, dim: Any, keepdim: bool = False) -> Any:
    axis = tuple(dim) if isinstance(dim, list) else dim
    wide = values.astype(np.int64)
    reduced = getattr(np, name)(wide, axis=axis, keepdims=keepdim)
    return (reduced & 0xFFFFFFFF).astype(np.uint32).view(values.dtype).reshape(reduced.shape)


def words(shape: tuple[int, ...], dtype: ttnn.DataType, seed: int = 0) -> Any:
    """Return special words and random ones."""
    generator = np.random.default_rng(seed)
    special = generator.choice(WORDS, shape)
    anything = generator.integers(0, 2**32, shape, np.uint32)
    return np.where(generator.random(shape) < 0.5, special, anything).astype(np.uint32).view(KINDS[dtype])


def check(name: str, x: ttnn.Tensor, values: Any, dim: Any, keepdim: bool = False) -> ttnn.Tensor:
    result: ttnn.Tensor = OPERATORS[name](x, dim, keepdim)
    assert result.dtype is x.dtype
    assert result.layout is ttnn.TILE_LAYOUT
    got = result.to_numpy()
    want = expected(name, values, dim, keepdim)
    assert got.dtype == values.dtype
    assert tuple(result.shape) == want.shape
    np.testing.assert_array_equal(got.reshape(want.shape), want)
    return result


@EVERY
@TYPES
@LAYOUTS
def test_every_choice_of_dimensions(
    name: str, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    for shape in ((1, 1, 64, 40), (2, 3, 33, 65), (1, 2, 32, 64), (40, 50), (70,), (3, 1, 5, 2, 1)):
        values = words(shape, dtype, len(shape))
        x = ttnn.Tensor(values, dtype, device, layout)
        check(name, x, values, None)
        for count in range(1, len(shape) + 1):
            for axes in combinations(range(len(shape)), count):
                check(name, x, values, list(axes), keepdim=count % 2 == 0)
        check(name, x, values, -1, keepdim=True)


@EVERY
@TYPES
def test_pairs_of_words(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """Special words meet by row, by column, and across tiles."""
    grid = np.stack(np.meshgrid(WORDS, WORDS), -1).reshape(-1, 2).view(KINDS[dtype])
    for values, dim in ((grid, 1), (np.ascontiguousarray(grid.T), 0), (np.ascontiguousarray(grid.T)[:, None], 0)):
        check(name, ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT), values, dim)


@EVERY
@TYPES
def test_padding_never_counts(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    worst = {"sum": 12345, "max": np.iinfo(KINDS[dtype]).max, "min": np.iinfo(KINDS[dtype]).min}[name]
    values = words((2, 33, 17), dtype)
    dirty = np.full((2, 64, 32), worst, KINDS[dtype])
    dirty[:, :33, :17] = values
    x = from_raw(raw_of(ttnn.Tensor(dirty, dtype, None, ttnn.TILE_LAYOUT)), (2, 33, 17), dtype, device)
    for dim in (None, -1, -2, 0, [0, 1], [0, 2], [1, 2]):
        check(name, x, values, dim)


@EVERY
@TYPES
def test_long_sums_wrap(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = words((1500, 96), dtype, 5)
    x = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
    for dim in (None, 0, 1):
        check(name, x, values, dim)
    for value in (np.iinfo(KINDS[dtype]).min, np.iinfo(KINDS[dtype]).max):
        constant = np.full((64, 64), value, KINDS[dtype])
        check(name, ttnn.Tensor(constant, dtype, device, ttnn.TILE_LAYOUT), constant, None)


@TYPES
def test_integer_reduction_over_no_elements(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = ttnn.empty((2, 0, 32), dtype, ttnn.TILE_LAYOUT, device)
    np.testing.assert_array_equal(ttnn.sum(x, 1).to_numpy(), np.zeros((2, 32)))
    for name in ("max", "min"):
        with pytest.raises(ttnn.ShapeError, match=r"dimension 1 of .* has size 0"):
            OPERATORS[name](x, 1)


@EVERY
@TYPES
def test_integer_reductions_have_a_32_bit_dst(name: str, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """Integers always have a 32-bit Dst; memory config as requested."""
    values = words((64, 96), dtype)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=False)
    x = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
    for options in ({"compute_kernel_config": config}, {"fast_and_approximate_mode": True}):
        np.testing.assert_array_equal(OPERATORS[name](x, -1, **options).to_numpy(), expected(name, values, -1))
    result = OPERATORS[name](x, -2, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
    np.testing.assert_array_equal(result.to_numpy(), expected(name, values, -2))


@TYPES
def test_output_layout(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    values = words((2, 40, 50), dtype)
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        x = ttnn.Tensor(values, dtype, device, layout)
        for wanted in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
            result = ttnn.sum(x, -1, output_layout=wanted)
            assert result.layout is wanted
            np.testing.assert_array_equal(result.to_numpy(), expected("sum", values, -1))


@pytest.mark.usefixtures("cpu_level", "host_threads")
def test_results_do_not_depend_on_threads_and_cpu_level(device: ttnn.MeshDevice) -> None:
    for dtype in KINDS:
        values = words((3, 2, 70, 100), dtype)
        x = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
        for level in _engine.cpu_levels():
            for threads in (1, 2):
                _engine.set_cpu_level(level)
                _engine.set_threads(threads)
                for name in OPERATORS:
                    for dim in (None, -1, -2, 0):
                        check(name, x, values, dim)


INTEGERS = {
    ttnn.int32: np.int32,
    ttnn.uint32: np.uint32,
    ttnn.uint16: np.uint16,
    ttnn.uint8: np.uint8,
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.name)
@LAYOUTS
def test_relu6(dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    """All short values, and special and random long words."""
    kind = INTEGERS[dtype]
    if kind().itemsize == 4:
        values = np.concatenate([WORDS, np.random.default_rng(1).integers(0, 2**32, 2026, np.uint32)]).view(kind)
    else:
        values = np.arange(np.iinfo(kind).max + 1).astype(kind)
    values = np.concatenate([values, values[:7]]).reshape(1, -1)
    result = ttnn.relu6(ttnn.Tensor(values, dtype, device, layout))
    assert result.dtype is dtype
    assert result.layout is layout
    np.testing.assert_array_equal(result.to_numpy(), np.clip(values.astype(np.int64), 0, 6))
