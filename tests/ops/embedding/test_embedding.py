"""`ttnn.embedding`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT


def indices(values: np.ndarray, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values.astype(np.uint32), ttnn.uint32, device=device, layout=ROWS)


@pytest.mark.parametrize("layout", [ROWS, TILES, None])
@pytest.mark.parametrize("table_layout", [ROWS, TILES])
def test_rows_of_a_table(table_layout: ttnn.Layout, layout: ttnn.Layout | None, device: ttnn.MeshDevice) -> None:
    table = make((50, 96), ttnn.bfloat16, table_layout, device)
    named = np.random.default_rng(0).integers(0, 50, (3, 37))
    result = ttnn.embedding(indices(named, device), table, layout=layout)
    assert result.layout == (table_layout if layout is None else layout)
    np.testing.assert_array_equal(values_of(result), values_of(table)[named])


@pytest.mark.parametrize("layout", [ROWS, TILES, None])
@pytest.mark.parametrize("index_layout", [ROWS, TILES])
@pytest.mark.parametrize("index_dtype", [ttnn.uint32, ttnn.bfloat16])
@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b])
def test_a_block_float_table_is_converted_to_bfloat16(
    dtype: ttnn.DataType,
    index_dtype: ttnn.DataType,
    index_layout: ttnn.Layout,
    layout: ttnn.Layout | None,
    device: ttnn.MeshDevice,
) -> None:
    table = make((50, 96), dtype, TILES, device)
    named = np.random.default_rng(0).integers(0, 50, (3, 37))
    values = named.astype(np.uint32 if index_dtype is ttnn.uint32 else np.float32)
    result = ttnn.embedding(
        ttnn.Tensor(values, index_dtype, device=device, layout=index_layout), table, padding_idx=3, layout=layout
    )
    assert (result.dtype, result.layout) == (ttnn.bfloat16, TILES if layout is None else layout)
    np.testing.assert_array_equal(values_of(result), values_of(table)[named])


@pytest.mark.parametrize("table_dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.float32, ttnn.bfloat16])
def test_dtype_is_that_of_an_output_in_tiles_and_ignored_for_rows(
    dtype: ttnn.DataType, table_dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    table = make((64, 128), table_dtype, TILES, device)
    named = np.arange(32).reshape(1, 32)
    tiled = ttnn.embedding(indices(named, device), table, dtype=dtype)
    assert (tiled.dtype, tiled.layout) == (dtype, TILES)
    in_rows = ttnn.embedding(indices(named, device), table, layout=ROWS, dtype=dtype)
    assert (in_rows.dtype, in_rows.layout) == (ttnn.bfloat16, ROWS)
    np.testing.assert_array_equal(values_of(in_rows), values_of(table)[named])


def test_dtype_of_rows_is_refused_where_the_official_package_refuses_it(device: ttnn.MeshDevice) -> None:
    table = make((64, 128), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.DTypeError, match="Can only typecast output embeddings when producing TILE_LAYOUT output"):
        ttnn.embedding(indices(np.zeros((1, 32)), device), table, dtype=ttnn.float32)
    assert ttnn.embedding(indices(np.zeros((1, 31)), device), table, dtype=ttnn.float32).dtype == ttnn.bfloat16


@pytest.mark.parametrize("layout", [ROWS, TILES])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_indices_without_a_batch_give_rows_without_one(
    dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    table = make((50, 96), dtype, TILES, device)
    named = np.random.default_rng(0).integers(0, 50, (37,))
    result = ttnn.embedding(indices(named, device), table, layout=layout)
    assert result.shape == [37, 96]
    np.testing.assert_array_equal(values_of(result), values_of(table)[named])


def test_a_vector_is_a_table_of_one_row(device: ttnn.MeshDevice) -> None:
    table = make((96,), ttnn.bfloat16, ROWS, device)
    result = ttnn.embedding(indices(np.zeros((1, 3)), device), table)
    np.testing.assert_array_equal(values_of(result), np.broadcast_to(values_of(table), (1, 3, 96)))


def test_bits_of_rows_stay_and_pass_through_dst_in_tiles(device: ttnn.MeshDevice) -> None:
    words = np.array([0x8000, 0x0001, 0x7FC0, 0x3F80] * 8, np.uint32) << 16
    table = ttnn.Tensor(words.view(np.float32).reshape(1, 32), ttnn.bfloat16, device=device, layout=ROWS)
    named = indices(np.zeros((1, 1)), device)
    zero, denormal, nan, one = values_of(ttnn.embedding(named, table)).reshape(-1)[:4]
    assert (zero, denormal, one) == (0, 2.0**-133, 1)
    assert np.signbit(zero)
    assert np.isnan(nan)
    zero, denormal, nan, one = values_of(ttnn.embedding(named, table, layout=TILES)).reshape(-1)[:4]
    assert (zero, denormal, nan, one) == (0, 0, np.inf, 1)
    assert not np.signbit(zero)


def test_the_result_is_cast_and_placed(device: ttnn.MeshDevice) -> None:
    table = make((8, 64), ttnn.bfloat16, ROWS, device)
    named = indices(np.arange(32).reshape(1, 32) % 8, device)
    result = ttnn.embedding(named, table, layout=TILES, dtype=ttnn.bfloat8_b, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (result.dtype, result.memory_config()) == (ttnn.bfloat8_b, ttnn.L1_MEMORY_CONFIG)
    output = ttnn.empty((1, 32, 64), ttnn.bfloat16, TILES, device)
    assert ttnn.embedding(named, table, layout=TILES, output_tensor=output) is output
    np.testing.assert_array_equal(values_of(output)[0], values_of(table)[np.arange(32) % 8])


def test_an_index_behind_the_table_is_refused(device: ttnn.MeshDevice) -> None:
    table = make((8, 64), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.ParameterError, match="has the index 8, the table 8 rows"):
        ttnn.embedding(indices(np.array([[0, 8]]), device), table)
    with pytest.raises(ttnn.DTypeError, match="input_tensor is INT32"):
        ttnn.embedding(ttnn.Tensor(np.zeros((1, 2), np.int32), ttnn.int32, device=device, layout=ROWS), table)
    with pytest.raises(ttnn.DTypeError, match="weight is FLOAT32"):
        ttnn.embedding(indices(np.zeros((1, 2)), device), make((8, 64), ttnn.float32, ROWS, device))


def test_no_indices_for_a_result_are_refused(device: ttnn.MeshDevice) -> None:
    table = make((128, 64), ttnn.bfloat16, ROWS, device)
    with pytest.raises(ttnn.ShapeError, match="it has no indices to read"):
        ttnn.embedding(make((1, 0, 64, 128), ttnn.bfloat16, TILES, device), table)
    for wrong in (np.nan, -2.0):
        with pytest.raises(ttnn.ParameterError, match="rows are counted from 0"):
            ttnn.embedding(ttnn.full((1, 32), wrong, ttnn.bfloat16, ROWS, device), table)
    with pytest.raises(ttnn.StorageError, match="input_tensor is a host tensor of Shape"):
        ttnn.embedding(ttnn.zeros((1, 32), ttnn.uint32, ROWS), table)
