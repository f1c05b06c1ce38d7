"""Slices that indices name, elements that are found, counters, and filled matrices."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS = ttnn.ROW_MAJOR_LAYOUT
TILES = ttnn.TILE_LAYOUT


def _ints(
    values: list[int], shape: list[int], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.uint32
) -> ttnn.Tensor:
    return ttnn.Tensor(values, shape, dtype, ROWS, device)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize(("dtype", "value"), [(ttnn.bfloat16, 2.5), (ttnn.float32, -0.1), (ttnn.int32, -7)])
@pytest.mark.parametrize("name", ["index_fill", "index_fill_new"])
def test_index_fill(name: str, dim: int, dtype: ttnn.DataType, value: float, device: ttnn.MeshDevice) -> None:
    operator = getattr(ttnn, name)
    x = make((3, 5, 33), dtype, ROWS, device)
    expected = values_of(x)
    result = operator(x, dim, _ints([2, 0, 2, 900], [4], device), value, memory_config=ttnn.L1_MEMORY_CONFIG)
    stored = value if dtype is ttnn.int32 else float(np.float32(value))
    np.moveaxis(expected, dim, 0)[[0, 2]] = stored
    np.testing.assert_array_equal(values_of(result), expected)
    assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
    with pytest.raises(ttnn.DTypeError, match=f"^ttnn.{name}: .* is not a value of"):
        operator(x, dim, _ints([0], [1], device), 1.5 if dtype is ttnn.int32 else 1)


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.int32])
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_indexed_fill(dim: int, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    if dtype is ttnn.bfloat8_b and layout is ROWS:
        return
    shape, places = [6, 4, 40, 50], [3, 0, 3]
    a = make(tuple(shape), dtype, layout, device)
    shape[dim] = len(places)
    b = make(tuple(shape), dtype, layout, device, seed=2)
    index = _ints(places, [1, 1, 1, 3], device)
    if dtype is ttnn.bfloat8_b and dim >= 2:
        with pytest.raises(ttnn.DTypeError, match="share exponents"):
            ttnn.indexed_fill(index, a, b, dim=dim)
        return
    expected = values_of(a)
    for number, place in enumerate(places):
        np.moveaxis(expected, dim, 0)[place] = np.moveaxis(values_of(b), dim, 0)[number]
    np.testing.assert_array_equal(values_of(ttnn.indexed_fill(index, a, b, dim=dim)), expected)
    with pytest.raises(ttnn.ParameterError, match="goes beyond"):
        ttnn.indexed_fill(_ints([0, 1, 90], [1, 1, 1, 3], device), a, b, dim=dim)


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.uint16, ttnn.int32])
def test_nonzero(dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    values = (np.random.default_rng(1).random((1, 2, 3, 33)) < 0.4).astype(np.float32)
    kind = {ttnn.uint16: np.uint16, ttnn.int32: np.int32}.get(dtype, np.float32)
    count, found = ttnn.nonzero(ttnn.Tensor(values.astype(kind), dtype, None, layout).to(device))
    places = np.flatnonzero(values)
    assert values_of(count).reshape(-1).tolist() == [places.size, *[0] * 7]
    assert values_of(found).reshape(-1)[: places.size].tolist() == places.tolist()
    assert not values_of(found).reshape(-1)[places.size :].any()


def test_isin(device: ttnn.MeshDevice) -> None:
    x = make((3, 40), ttnn.int32, ROWS, device, limit=20)
    others = _ints([3, -5, 7], [3], device, ttnn.int32)
    among = np.isin(values_of(x), [3, -5, 7])
    assert among.any()
    np.testing.assert_array_equal(values_of(ttnn.experimental.isin(x, others)), among * (2.0**32 - 1))
    np.testing.assert_array_equal(values_of(ttnn.experimental.isin(x, others, invert=True)), ~among * (2.0**32 - 1))


def test_plus_one_in_place(device: ttnn.MeshDevice) -> None:
    x = _ints([-2, -1, 0, 2**31 - 1], [4], device, ttnn.int32)
    assert ttnn.plus_one(x) is x
    assert values_of(x).tolist() == [-1, 0, 1, -(2**31)]
    ttnn.plus_one(x, skip_negative_entries=True)
    assert values_of(x).tolist() == [-1, 1, 2, -(2**31)]
    with pytest.raises(ttnn.DTypeError, match="counters"):
        ttnn.plus_one(make((4,), ttnn.bfloat16, ROWS, device))


def test_filled_matrices(device: ttnn.MeshDevice) -> None:
    like = make((32, 32), ttnn.bfloat16, ROWS, device)
    expected = np.full((2, 3, 40, 50), -1.0)
    expected[..., :33, :7] = 2.5
    np.testing.assert_array_equal(values_of(ttnn.fill_rm(2, 3, 40, 50, 33, 7, like, 2.5, -1.0)), expected)
    np.testing.assert_array_equal(values_of(ttnn.fill_ones_rm(2, 3, 40, 50, 33, 7, like)), expected == 2.5)
    np.testing.assert_array_equal(values_of(ttnn.fill_ones_rm(2, 3, 40, 50, 0, 7, like)), expected * 0)
    with pytest.raises(ttnn.ShapeError, match="hOnes"):
        ttnn.fill_ones_rm(2, 3, 40, 50, 41, 7, like)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32])
def test_padding_is_filled(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((2, 40, 50), dtype, TILES, device)
    filled = ttnn.fill_implicit_tile_padding(x, 3)
    np.testing.assert_array_equal(values_of(filled), values_of(x))
    pytest.importorskip("torch")
    padded = filled.cpu().to_torch_with_padded_shape()
    assert tuple(padded.shape) == (2, 64, 64)
    assert (padded[:, 40:, :] == 3).all()
    assert (padded[:, :, 50:] == 3).all()
    whole = make((64, 64), dtype, TILES, device)
    assert ttnn.fill_implicit_tile_padding(whole, 3) is whole


def test_membership_counts_what_makes_tensors_flat(device: ttnn.MeshDevice) -> None:
    def entries(*shapes: tuple[int, ...]) -> int:
        operands = [
            ttnn.Tensor(np.arange(np.prod(shape), dtype=np.int32).reshape(shape), ttnn.int32, device)
            for shape in shapes
        ]
        device.clear_program_cache()
        for _ in range(2):
            ttnn.experimental.isin(*operands)
        return device.num_program_cache_entries()

    assert [entries((10,), (20,)), entries((10, 10), (20, 20)), entries((5, 10, 5), (20,))] == [1, 4, 3]
