"""`ttnn.bitwise_not`."""

from __future__ import annotations

import numpy as np

import ttnn
from testkit.operands import make, raw_of


def test_bitwise_not_of_words(device: ttnn.MeshDevice) -> None:
    x = make((33, 70), ttnn.float32, ttnn.TILE_LAYOUT, device)
    np.testing.assert_array_equal(raw_of(ttnn.bitwise_not(x)), ~raw_of(x))
