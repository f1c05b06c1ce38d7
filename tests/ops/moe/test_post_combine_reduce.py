"""`ttnn.experimental.deepseek_prefill.post_combine_reduce` against a sum by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

Array = np.ndarray
combine = ttnn.experimental.deepseek_prefill.post_combine_reduce
ROWS = ttnn.ROW_MAJOR_LAYOUT


def _put(values: Array, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.to_device(ttnn.Tensor(values, dtype, None, ROWS), device)


def _operands(shape: tuple[int, ...], seed: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    weights = rng.random((*shape[:-1], 1)).astype(ml_dtypes.bfloat16)
    weights[rng.random(weights.shape) < 0.3] = 0
    return rows, weights


@pytest.mark.parametrize("shape", [(1, 1, 32, 4, 64), (96, 3, 1056), (2, 32, 1, 32)])
def test_sums_of_weighted_rows(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    rows, weights = _operands(shape)
    found = combine(_put(rows, device), _put(weights, device), expert_dim=len(shape) - 2)
    assert (found.dtype, found.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
    assert tuple(found.shape) == (*shape[:-2], shape[-1])
    assert found.memory_config() == ttnn.L1_MEMORY_CONFIG
    golden = ttnn.get_golden_function(combine)
    expected = np.asarray(golden(rows, weights))
    sizes = np.abs(rows.astype(float) * weights.astype(float)).sum(axis=-2)
    assert (np.abs(values_of(found) - expected) <= 6 * 2**-8 * sizes).all()


def test_one_row_is_a_product(device: ttnn.MeshDevice) -> None:
    rows, _ = _operands((32, 1, 64))
    weights = np.full((32, 1, 1), 0.5, ml_dtypes.bfloat16)
    found = combine(
        _put(rows, device), _put(weights, device), expert_dim=1, output_memory_config=ttnn.DRAM_MEMORY_CONFIG
    )
    np.testing.assert_array_equal(values_of(found), rows[:, 0].astype(np.float32) / 2)
    assert found.memory_config() == ttnn.DRAM_MEMORY_CONFIG


def test_experts_of_other_chips_are_left_out(device: ttnn.MeshDevice) -> None:
    """Their rows may hold anything.

    A token without an expert here has zeros.
    """
    rows, weights = _operands((64, 4, 96))
    weights[weights == 0] = 1
    rng = np.random.default_rng(3)
    table = np.array([0, -1, 2, -1, -1, 0, 1, -1], np.int32)
    experts = rng.integers(0, 8, (64, 4)).astype(np.uint16)
    experts[5] = [1, 3, 4, 7]
    here = table[experts] != -1
    rows[~here] = np.nan
    routes = (_put(experts, device, ttnn.uint16), _put(table, device, ttnn.int32))
    rows[5, 3] = 7
    found = values_of(combine(_put(rows, device), _put(weights, device), *routes, expert_dim=1))
    # Rows that count come first: then those of weight zero after the first are left out in the same way.
    order = np.argsort(~here, axis=1, kind="stable")
    moved = np.take_along_axis(np.where(here[..., None], rows, 0).astype(ml_dtypes.bfloat16), order[..., None], 1)
    factors = np.take_along_axis(np.where(here[..., None], weights, 0).astype(ml_dtypes.bfloat16), order[..., None], 1)
    expected = values_of(combine(_put(moved, device), _put(factors, device), expert_dim=1))
    np.testing.assert_array_equal(found, expected)
    assert not found[5].any()
    golden = ttnn.get_golden_function(combine)
    np.testing.assert_allclose(np.asarray(golden(rows, weights, experts, table)), found, atol=0.2)


def test_operands_that_do_not_fit(device: ttnn.MeshDevice) -> None:
    rows, weights = (_put(part, device) for part in _operands((1, 1, 32, 4, 64)))
    indices = _put(np.zeros((1, 1, 32, 4), np.uint16), device, ttnn.uint16)
    table = _put(np.zeros(8, np.int32), device, ttnn.int32)
    with pytest.raises(ttnn.ParameterError, match="must be provided together or omitted together"):
        combine(rows, weights, indices)
    with pytest.raises(ttnn.ParameterError, match="it must be 3, the last but one"):
        combine(rows, weights, expert_dim=2)
    with pytest.raises(ttnn.ParameterError, match="expert_dim 5 must be less than combine_output rank 5"):
        combine(rows, weights, expert_dim=5)
    with pytest.raises(ttnn.LayoutError, match="combine_output must be ROW_MAJOR"):
        combine(ttnn.to_layout(rows, ttnn.TILE_LAYOUT), weights)
    with pytest.raises(ttnn.DTypeError, match="indices must be uint16"):
        combine(rows, weights, table, table)
    with pytest.raises(ttnn.ShapeError, match="a row of 4 experts for each of 32 tokens"):
        combine(rows, weights, _put(np.zeros((32, 3), np.uint16), device, ttnn.uint16), table)
    with pytest.raises(ttnn.ShapeError, match=r"weights padded_shape\[2\] \(64\) must match"):
        combine(rows, _put(np.zeros((1, 1, 64, 4, 1), ml_dtypes.bfloat16), device))
    with pytest.raises(ttnn.ShapeError, match="Number of tokens 31 must be divisible by 32"):
        combine(*(_put(part, device) for part in _operands((31, 4, 64))), expert_dim=1)
    with pytest.raises(ttnn.ShapeError, match="Embedding dimension 40 must be divisible"):
        combine(*(_put(part, device) for part in _operands((32, 4, 40))), expert_dim=1)
    with pytest.raises(ttnn.ParameterError, match="index 9 is out of range for a table of 8 rows"):
        combine(rows, weights, _put(np.full((1, 1, 32, 4), 9, np.uint16), device, ttnn.uint16), table)
