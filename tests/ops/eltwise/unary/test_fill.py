"""`ttnn.fill`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_fill(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    for dtype, value, expected in (
        (ttnn.bfloat16, 1.99999, 1.9921875),
        (ttnn.float32, 1.99999, np.float32(1.99999)),
        (ttnn.int32, -7, -7),
        (ttnn.int32, -15.5, -15),
        (ttnn.uint16, 43.9, 43),
        (ttnn.uint32, 2**32 - 1, 2**32 - 1),
        (ttnn.uint32, -29, 2**32 - 29),
        (ttnn.uint32, -(2**31), 2**31),
        (ttnn.uint16, 65535.0, 65535),
    ):
        assert set(values_of(ttnn.fill(make((33, 70), dtype, layout, device), value)).reshape(-1)) == {expected}
    blocks = make((33, 70), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device)
    # Cut to bfloat16, then rounded by the packer.
    assert set(values_of(ttnn.fill(blocks, 1.99999)).reshape(-1)) == {2.0}
    for value, dtype in (
        (2.0**31, ttnn.int32),
        (-1.0, ttnn.uint32),
        (-(2**31) - 1, ttnn.uint32),
        (-1, ttnn.uint16),
        (float("nan"), ttnn.uint16),
    ):
        with pytest.raises(ttnn.DTypeError, match=rf"ttnn\.fill: fill_value is .*, no value of {dtype.name}"):
            ttnn.fill(make((2, 2), dtype, layout, device), value)
