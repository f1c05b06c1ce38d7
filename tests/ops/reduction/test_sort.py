"""Sorting and the largest elements: order, indices, ties, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn


def _tensor(values: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _numbers(shape: tuple[int, ...], different: int = 1000) -> np.ndarray:
    return np.random.default_rng(7).integers(-different, different, size=shape).astype(np.float32) / 4


def _arrays(results: list[ttnn.Tensor]) -> tuple[np.ndarray, np.ndarray]:
    values, indices = (np.asarray(tensor.to_numpy()) for tensor in results)
    return values.astype(np.float32), indices.astype(np.int64)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 32, 64), (2, 1, 40, 50), (33, 300), (1, 32)])
@pytest.mark.parametrize("dim", [-1, -2])
def test_stable_order(shape: tuple[int, ...], dim: int, descending: bool, device: ttnn.MeshDevice) -> None:
    values = _numbers(shape, 30)
    found, indices = _arrays(ttnn.sort(_tensor(values, device), dim, descending, True))
    order = np.argsort(-values if descending else values, axis=dim, kind="stable")
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(found, np.take_along_axis(values, order, axis=dim))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("width", [64, 128, 512, 1000])
def test_the_network_sorts_and_indices_say_from_where(
    width: int, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    values = _numbers((1, 1, 32, width), 20)
    found, indices = _arrays(ttnn.sort(_tensor(values, device, dtype)))
    np.testing.assert_array_equal(found, np.sort(values, axis=-1))
    np.testing.assert_array_equal(np.take_along_axis(values, indices, axis=-1), found)
    assert all(len(set(row)) == width for row in indices.reshape(-1, width))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("width", "k"), [(64, 32), (100, 5), (32, 32), (4096, 50), (256, 256)])
def test_the_first_of_the_order(width: int, k: int, largest: bool, device: ttnn.MeshDevice) -> None:
    values = _numbers((1, 1, 64, width), 4000)
    found, indices = _arrays(ttnn.topk(_tensor(values, device, ttnn.float32), k, -1, largest))
    expected = np.sort(values, axis=-1)
    expected = expected[..., ::-1][..., :k] if largest else expected[..., :k]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.take_along_axis(values, indices, axis=-1), found)


def test_zeros_are_equal_and_infinities_have_places(device: ttnn.MeshDevice) -> None:
    values = np.zeros((32, 64), np.float32)
    values[:, 1::2] = -0.0
    values[:, 5], values[:, 9] = np.inf, -np.inf
    for dtype in (ttnn.bfloat16, ttnn.float32):
        found, indices = _arrays(ttnn.sort(_tensor(values, device, dtype), -1, False, True))
        assert (indices[:, 0] == 9).all()
        assert (indices[:, -1] == 5).all()
        assert not np.signbit(found[:, 1:-1]).any()


def test_indices_have_the_type_of_the_official_package(device: ttnn.MeshDevice) -> None:
    for dtype, expected in ((ttnn.bfloat16, ttnn.uint16), (ttnn.float32, ttnn.uint32)):
        x = _tensor(_numbers((32, 64)), device, dtype)
        assert ttnn.sort(x)[1].dtype == expected
        assert ttnn.topk(x, 4)[1].dtype == expected
    rows = ttnn.to_layout(_tensor(_numbers((32, 64)), device), ttnn.ROW_MAJOR_LAYOUT)
    assert [tensor.layout for tensor in ttnn.sort(rows)] == [ttnn.ROW_MAJOR_LAYOUT] * 2


def test_results_may_be_given(device: ttnn.MeshDevice) -> None:
    x = _tensor(_numbers((32, 64)), device)
    plain = ttnn.sort(x)
    out = tuple(ttnn.clone(tensor) for tensor in ttnn.sort(x, -1, True))
    results = ttnn.sort(x, out=out)
    assert results[0] is out[0]
    for got, expected in zip(results, plain, strict=True):
        np.testing.assert_array_equal(np.asarray(got.to_numpy()), np.asarray(expected.to_numpy()))


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _tensor(_numbers((32, 64)), device)
    with pytest.raises(ttnn.ParameterError, match="k is 65"):
        ttnn.topk(x, 65)
    with pytest.raises(ttnn.LayoutError, match="row-major"):
        ttnn.topk(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), 3)
    with pytest.raises(ttnn.DTypeError, match="typecast"):
        ttnn.sort(ttnn.typecast(x, ttnn.int32))
    with pytest.raises(ttnn.ShapeError, match="dim=2"):
        ttnn.sort(x, 2)
    assert ttnn.topk(x, 64)[0].shape == (32, 64)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("size", [1, 5, 64, 100])
def test_one_row_without_a_height(size: int, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    values = _numbers((size,), 200)
    results = ttnn.sort(ttnn.to_layout(_tensor(values, device), layout), stable=True)
    assert all(tuple(result.shape) == (size,) for result in results)
    assert all(result.layout is layout for result in results)
    found, indices = _arrays(results)
    np.testing.assert_array_equal(indices, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(found, np.sort(values))


@pytest.mark.parametrize("wanted", [ttnn.uint16, ttnn.uint32])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_indices_have_the_type_of_their_tensor(
    dtype: ttnn.DataType, wanted: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    x = _tensor(_numbers((32, 64), 4000), device, dtype)
    targets = ttnn.zeros_like(x), ttnn.typecast(ttnn.zeros_like(x), wanted)
    values, indices = ttnn.sort(x, stable=True, out=targets)
    assert values is targets[0]
    assert indices is targets[1]
    assert indices.dtype is wanted
    expected = _arrays(ttnn.sort(x, stable=True))
    np.testing.assert_array_equal(_arrays([values, indices])[1], expected[1])


@pytest.mark.parametrize("dim", [-1, -2])
def test_names_come_instead_of_indices(dim: int, device: ttnn.MeshDevice) -> None:
    shape = (1, 1, 64, 8192) if dim == -1 else (1, 1, 8192, 32)
    x = _tensor(_numbers(shape, 4000), device)
    names = np.random.default_rng(1).integers(0, 60000, size=shape).astype(np.uint16)
    given = ttnn.to_device(ttnn.Tensor(names, ttnn.uint16, None, ttnn.TILE_LAYOUT), device)
    values, indices = _arrays(ttnn.topk(x, 32, dim))
    again, found = _arrays(ttnn.topk(x, 32, dim, indices_tensor=given))
    np.testing.assert_array_equal(again, values)
    np.testing.assert_array_equal(found, np.take_along_axis(names, indices, axis=dim))
    with pytest.raises(ttnn.DTypeError, match="typecast it to UINT16"):
        ttnn.topk(x, 32, dim, indices_tensor=ttnn.typecast(given, ttnn.uint32))
    with pytest.raises(ttnn.DTypeError, match="typecast it to UINT16 or UINT32"):
        ttnn.topk(x, 32, dim, indices_tensor=x)
    with pytest.raises(ttnn.ShapeError, match="a name for every element"):
        ttnn.topk(x, 32, dim, indices_tensor=given[:, :, :32, :32])


@pytest.mark.parametrize(("width", "k"), [(64, 32), (8160, 32), (8192, 96)])
def test_a_single_core_makes_its_own_indices(width: int, k: int, device: ttnn.MeshDevice) -> None:
    x = _tensor(_numbers((1, 1, 32, width), 4000), device)
    names = ttnn.to_device(ttnn.Tensor(np.zeros((1, 1, 32, 32)), ttnn.uint16, None, ttnn.TILE_LAYOUT), device)
    given, own = _arrays(ttnn.topk(x, k, indices_tensor=names)), _arrays(ttnn.topk(x, k))
    np.testing.assert_array_equal(given[0], own[0])
    np.testing.assert_array_equal(given[1], own[1])


def test_few_cores_make_their_own_indices(device: ttnn.MeshDevice) -> None:
    x = _tensor(_numbers((1, 1, 32, 8192), 4000), device)
    names = ttnn.to_device(ttnn.Tensor(np.zeros((1, 1, 32, 8192)), ttnn.uint16, None, ttnn.TILE_LAYOUT), device)
    few, many = (
        ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(x, y))]) for x, y in ((1, 2), (4, 5))
    )
    assert _arrays(ttnn.topk(x, 32, indices_tensor=names, sub_core_grids=few))[1].any()
    assert not _arrays(ttnn.topk(x, 32, indices_tensor=names, sub_core_grids=many))[1].any()
