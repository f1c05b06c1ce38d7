"""Indexed elements: bits against numpy, FP32 sums rounded once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import make, values_of

GATHERS = [
    ((2, 64, 96), -1, (2, 64, 40)),
    ((3, 33, 50), 1, (3, 7, 50)),
    ((40,), 0, (90,)),
    ((2, 3, 33, 50), 0, (2, 3, 30, 50)),
]
SCATTERS = [((2, 64, 96), -1, (2, 64, 40)), ((3, 33, 50), 1, (2, 70, 50)), ((5, 9), 0, (5, 4)), ((40,), 0, (90,))]


def _indices(
    shape: tuple[int, ...], below: int, device: ttnn.MeshDevice, layout: ttnn.Layout, dtype: ttnn.DataType = ttnn.uint32
) -> tuple[npt.NDArray[np.int64], ttnn.Tensor]:
    values = np.random.default_rng(3).integers(0, below, shape)
    return values, ttnn.Tensor(values.reshape(-1).tolist(), list(shape), dtype, layout, device)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize(("shape", "dim", "of_index"), GATHERS)
def test_gather_takes_what_numpy_takes(
    shape: tuple[int, ...], dim: int, of_index: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    x = make(shape, dtype, ttnn.TILE_LAYOUT, device)
    values, index = _indices(of_index, shape[dim], device, ttnn.TILE_LAYOUT)
    result = ttnn.gather(x, dim, index)
    part = values_of(x)[
        tuple(slice(None) if axis == dim % len(shape) else slice(size) for axis, size in enumerate(of_index))
    ]
    np.testing.assert_array_equal(values_of(result), np.take_along_axis(part, values, dim))
    assert (result.dtype, result.layout) == (dtype, ttnn.TILE_LAYOUT)


@pytest.mark.parametrize("reduce", [None, "add", "multiply"])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize(("shape", "dim", "of_index"), SCATTERS)
def test_scatter_rounds_once(
    shape: tuple[int, ...],
    dim: int,
    of_index: tuple[int, ...],
    layout: ttnn.Layout,
    reduce: str | None,
    device: ttnn.MeshDevice,
) -> None:
    x = make(shape, ttnn.bfloat16, layout, device)
    src = make(of_index, ttnn.bfloat16, layout, device, seed=2)
    values, index = _indices(of_index, shape[dim], device, layout)
    expected = values_of(x).astype(np.float32)
    given = values_of(src).astype(np.float32)
    for place in np.ndindex(*of_index):
        to = list(place)
        to[dim] = values[place]
        old, new = expected[tuple(to)], given[place]
        expected[tuple(to)] = new if reduce is None else old + new if reduce == "add" else old * new
    bits = expected.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(values_of(ttnn.scatter(x, dim, index, src, reduce=reduce)), rounded)
    if reduce == "add":
        np.testing.assert_array_equal(values_of(ttnn.scatter_add(x, dim, index, src)), rounded)


@pytest.mark.parametrize(("reduce", "combine"), [("add", np.add), ("multiply", np.multiply)])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_uint16_sums_wrap(layout: ttnn.Layout, reduce: str, combine: np.ufunc, device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(5).integers(0, 1 << 16, (2, 3, 50), dtype=np.uint16)
    x, src = (ttnn.Tensor(part.reshape(-1).tolist(), [3, 50], ttnn.uint16, layout, device) for part in values)
    names, index = _indices((3, 50), 50, device, layout)
    expected = values[0].copy()
    combine.at(expected, (np.arange(3)[:, None], names), values[1])
    np.testing.assert_array_equal(values_of(ttnn.scatter(x, -1, index, src, reduce=reduce)), expected)
    if reduce == "add":
        np.testing.assert_array_equal(values_of(ttnn.scatter_add(x, -1, index, src)), expected)


def test_an_index_behind_the_end(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    _, index = _indices((32, 32), 32, device, ttnn.TILE_LAYOUT)
    far = ttnn.full((32, 32), 32, ttnn.uint32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ParameterError, match=r"ttnn\.gather: index 32 is out of range for a table of 32 rows"):
        ttnn.gather(x, 1, far)
    nothing = ttnn.zeros((32, 0), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ShapeError, match="it has no elements for indices"):
        ttnn.gather(nothing, 1, far)
    np.testing.assert_array_equal(values_of(ttnn.scatter(x, 1, far, x)), values_of(x))
    with pytest.raises(ttnn.ShapeError, match="is too long"):
        ttnn.gather(ttnn.reshape(x, (1, 32, 32)), 2, ttnn.reshape(index, (32, 1, 32)))
    with pytest.raises(ttnn.ParameterError, match="'add' or 'multiply'"):
        ttnn.scatter(x, 1, index, x, reduce="max")


def test_tosa(device: ttnn.MeshDevice) -> None:
    x = make((3, 40, 33), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    src = make((3, 7, 33), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, seed=2)
    names = np.stack([np.random.default_rng(seed).permutation(40)[:7] for seed in range(3)])
    index = ttnn.Tensor(names.reshape(-1).tolist(), [3, 7], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
    batches = np.arange(3)[:, None]
    np.testing.assert_array_equal(values_of(ttnn.tosa_gather(x, index)), values_of(x)[batches, names])
    expected = values_of(x)
    expected[batches, names] = values_of(src)
    np.testing.assert_array_equal(values_of(ttnn.tosa_scatter(x, index, src)), expected)
    with pytest.raises(ttnn.ShapeError, match="rank 3"):
        ttnn.tosa_gather(index, index)


@pytest.mark.parametrize(
    ("data", "dim", "index", "source", "layout", "count"),
    [
        ((2, 30, 64), -1, (2, 30, 64), (2, 30, 64), ttnn.ROW_MAJOR_LAYOUT, 1),
        ((6, 8, 64), -1, (2, 5, 10), (3, 40, 100), ttnn.ROW_MAJOR_LAYOUT, 2),
        ((50, 20), 0, (50, 20), (50, 20), ttnn.ROW_MAJOR_LAYOUT, 4),
        ((10, 10, 10), 0, (10, 10, 10), (10, 10, 10), ttnn.TILE_LAYOUT, 6),
        ((100,), -1, (80,), (80,), ttnn.TILE_LAYOUT, 5),
        ((100,), -1, (80,), (90,), ttnn.TILE_LAYOUT, 8),
    ],
)
def test_programs_of_a_scatter_count(
    data: tuple[int, ...],
    dim: int,
    index: tuple[int, ...],
    source: tuple[int, ...],
    layout: ttnn.Layout,
    count: int,
    device: ttnn.MeshDevice,
) -> None:
    x, y = make(data, ttnn.bfloat16, layout, device), make(source, ttnn.bfloat16, layout, device, seed=1)
    names = ttnn.Tensor(np.zeros(index, np.int32), ttnn.uint16, device=device, layout=layout)
    device.clear_program_cache()
    for _ in range(2):
        ttnn.scatter(x, dim, names, y)
    assert device.num_program_cache_entries() == count
