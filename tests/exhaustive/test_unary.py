"""Every bfloat16 value through every unary operator, in both Dst widths and at every CPU level."""

from __future__ import annotations

import pytest

import ttnn
from ttnn.cli import sweep
from ttnn.ops.registry import Op


@pytest.mark.parametrize("dtype", sweep.DTYPES)
@pytest.mark.parametrize("entry", sweep.unary_entries(), ids=str)
def test_every_value(entry: Op, dtype: str, device: ttnn.MeshDevice) -> None:
    result = sweep.sweep(entry, dtype, device)
    assert result.values == {"bfloat16": 65536, "float32": 131072}[dtype]
    assert result.differing_between_levels == 0
    assert result.bound_ulp is not None
    assert result.max_ulp <= result.bound_ulp
