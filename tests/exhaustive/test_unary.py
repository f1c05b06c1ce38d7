"""All bfloat16 values through unary operators, Dst widths, CPU levels."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from ttnn.cli import sweep
from ttnn.operation.registry import Op


@pytest.mark.parametrize("dtype", sweep.DTYPES)
@pytest.mark.parametrize("entry", sweep.unary_entries(), ids=str)
def test_every_value(entry: Op, dtype: str, device: ttnn.MeshDevice) -> None:
    result = sweep.sweep(entry, dtype, device)
    assert result.values == {"bfloat16": 65536, "float32": 131072}[dtype]
    assert result.differing_between_levels == 0
    assert result.bound_ulp is not None
    assert result.max_ulp <= result.bound_ulp


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("value", [-0.1, 0.3, 1.0, 7.0, 123.456, 14268.719, 0.8705131112820677])
def test_quotients_of_any_number_keep_the_stated_bound(
    value: float, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    """The bound holds where operand and result are normal."""
    bound = ttnn.rdiv.entry.accuracy
    x = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    x = x[np.isfinite(x) & (np.abs(x) >= 2.0**-126) & (np.abs(x) <= bound.largest)]
    x = np.resize(x, (-(-x.size // 1024), 32, 32))
    got = np.asarray(ttnn.rdiv(ttnn.Tensor(x, dtype, device, ttnn.TILE_LAYOUT), value).to_list(), np.float64)
    exact = value / x.astype(np.float64)
    normal = (np.abs(exact) >= 2.0**-125) & (np.abs(exact) <= 2.0**127)
    assert normal.sum() > 50_000
    unit = np.ldexp(1.0, np.frexp(exact)[1] - (8 if dtype is ttnn.bfloat16 else 24))
    errors = np.abs(got - exact)[normal] / unit[normal]
    assert 0.25 < errors.max() <= bound.bound(dtype, device.arch())
