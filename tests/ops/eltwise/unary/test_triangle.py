"""`ttnn.tril` and `ttnn.triu`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32]


@pytest.mark.parametrize("dtype", [*FLOATS, ttnn.int32, ttnn.uint32])
@pytest.mark.parametrize("diagonal", [0, 1, -1, 5, -63, 64, 200, -200])
def test_triangles(dtype: ttnn.DataType, diagonal: int, device: ttnn.MeshDevice) -> None:
    x = make((2, 64, 70), dtype, ttnn.TILE_LAYOUT, device)
    for triangle, reference in ((ttnn.tril, np.tril), (ttnn.triu, np.triu)):
        np.testing.assert_array_equal(values_of(triangle(x, diagonal=diagonal)), reference(values_of(x), diagonal))
