"""`ttnn.argmax`."""

from __future__ import annotations

import numpy as np

import ttnn


def test_argmax_ties_nan_and_zeros(device: ttnn.MeshDevice) -> None:
    rows = np.array(
        [[1, 5, 5, 2], [0.0, -0.0, -1, -2], [1, np.nan, 9, np.nan], [-np.inf, -np.inf, -np.inf, -np.inf]], np.float32
    )
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        for dtype in (ttnn.bfloat16, ttnn.float32):
            x = ttnn.Tensor(rows, dtype, device, layout)
            index = ttnn.argmax(x, dim=-1)
            assert (index.dtype, index.layout) == (ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
            assert index.to_list() == [1, 0, 1, 0]
            assert ttnn.argmax(x, dim=-1, keepdim=True).to_list() == [[1], [0], [1], [0]]
    assert ttnn.argmax(ttnn.Tensor(rows[:2], ttnn.float32, device)).item() == 1
