"""`ttnn.logit`."""

from __future__ import annotations

import numpy as np

import ttnn
from operands import raw_of


def test_logit_holds_its_operand(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.linspace(-1, 2, 4096).reshape(64, 64).astype(np.float32), ttnn.float32, device, ttnn.TILE_LAYOUT)
    held = ttnn.clamp(x, 0.125, 0.875)
    for eps in (0.125, 0.875):
        np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=eps)), raw_of(ttnn.logit(held)))
    np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=-1.0)), raw_of(ttnn.logit(x)))
