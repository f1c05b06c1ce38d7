"""`ttnn.experimental.deepseek_prefill`: `extract` and `insert`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

prefill = ttnn.experimental.deepseek_prefill
STARTS, COUNTS, TABLE = [0, 64, 96, 160], [32, 17, 40, 0], [3, 2, 1]


def _numbers(values: list[int], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.uint32) -> ttnn.Tensor:
    return ttnn.Tensor(values, [len(values)], dtype, ttnn.ROW_MAJOR_LAYOUT, device)


def _tokens(rows: int, device: ttnn.MeshDevice, seed: int, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return make((rows, 64), dtype, ttnn.TILE_LAYOUT, device, seed)


def _indices(device: ttnn.MeshDevice) -> list[ttnn.Tensor]:
    return [_numbers(values, device) for values in (STARTS, COUNTS, TABLE)]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize(("local", "first", "count"), [(0, 160, 0), (1, 96, 64), (2, 64, 32)])
def test_rows_of_an_expert(local: int, first: int, count: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    """Tiles are copied, after the last row of the expert too."""
    tokens, others = _tokens(192, device, 1, dtype), _tokens(64, device, 2, dtype)
    expected = values_of(tokens)
    found = prefill.extract(tokens, *_indices(device), local_expert_id=local, max_dispatched_tokens_per_expert=96)
    assert (found.dtype, tuple(found.shape)) == (dtype, (96, 64))
    np.testing.assert_array_equal(values_of(found)[:count], expected[first : first + count])
    assert prefill.insert(tokens, others, *_indices(device), local_expert_id=local) is tokens
    golden = ttnn.get_golden_function(prefill.insert)
    reference = golden(expected, values_of(others), STARTS, COUNTS, TABLE, local_expert_id=local)
    expected[first : first + count] = values_of(others)[:count]
    np.testing.assert_array_equal(values_of(tokens), expected)
    np.testing.assert_array_equal(np.asarray(reference), expected)


def test_operands_that_do_not_fit(device: ttnn.MeshDevice) -> None:
    tokens, others = _tokens(192, device, 1), _tokens(64, device, 2)
    start, counts, table = _indices(device)

    def insert(*operands: ttnn.Tensor, local: int = 0) -> ttnn.Tensor:
        return prefill.insert(*operands, local_expert_id=local)

    with pytest.raises(ttnn.DTypeError, match="typecast one of them"):
        insert(tokens, _tokens(64, device, 2, ttnn.bfloat8_b), start, counts, table)
    with pytest.raises(ttnn.DTypeError, match="start is INT32"):
        insert(tokens, others, _numbers(STARTS, device, ttnn.int32), counts, table)
    with pytest.raises(ttnn.MemoryConfigError, match="local_tensor must be interleaved in DRAM"):
        insert(tokens, ttnn.to_memory_config(others, ttnn.L1_MEMORY_CONFIG), start, counts, table)
    with pytest.raises(ttnn.ShapeError, match="start has 3 experts, counts 4"):
        insert(tokens, others, table, counts, table)
    with pytest.raises(ttnn.ParameterError, match="local_expert_id=3 is out of range"):
        insert(tokens, others, start, counts, table, local=3)
    with pytest.raises(ttnn.ParameterError, match="names expert 9 of 4"):
        insert(tokens, others, start, counts, _numbers([9], device))
    with pytest.raises(ttnn.ParameterError, match="global_tensor has 128"):
        insert(_tokens(128, device, 1), others, start, counts, table, local=1)
    with pytest.raises(ttnn.ParameterError, match="the expert has 64 rows, local_tensor 32"):
        insert(tokens, _tokens(32, device, 2), start, counts, table, local=1)
    for most, text in ((0, "positive multiple"), (40, "positive multiple"), (32, "the result has 32")):
        with pytest.raises(ttnn.ParameterError, match=text):
            prefill.extract(tokens, start, counts, table, local_expert_id=1, max_dispatched_tokens_per_expert=most)
