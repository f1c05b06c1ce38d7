"""`numerics` of an operator: the state of its bits, per data type."""

from __future__ import annotations

import pytest

import ttnn
from ttnn.operation import registry
from ttnn.operation.numerics import covered


@pytest.mark.parametrize(
    ("operator", "dtype", "state"),
    [
        (ttnn.exp, ttnn.bfloat16, "verified"),
        (ttnn.exp, ttnn.bfloat8_b, "verified"),
        (ttnn.matmul, ttnn.bfloat4_b, "verified"),
        (ttnn.add_, ttnn.int32, "verified"),
        (ttnn.acos, ttnn.bfloat16, "listing"),
        (ttnn.hypot, ttnn.float32, "listing"),
        (ttnn.exp_bw, ttnn.float32, "listing"),
        (ttnn.abs, ttnn.uint32, "reference"),
        (ttnn.permute, ttnn.bfloat16, "movement"),
    ],
)
def test_numerics_attribute_names_the_bit_status(
    operator: registry.FastOperation, dtype: ttnn.DataType, state: str
) -> None:
    assert operator.numerics[dtype] == state


def test_every_data_type_of_an_entry_has_a_state() -> None:
    for operation in registry.operations():
        dtypes = () if operation.entry is None else operation.entry.dtypes
        assert tuple(operation.numerics) == tuple(dtypes)


def test_covered_operators_and_data_types_exist() -> None:
    entries = {entry.name: {dtype.name.lower() for dtype in entry.dtypes} for entry in registry.entries()}
    assert {name: dtypes for name, dtypes in covered().items() if not set(dtypes) <= entries.get(name, set())} == {}
