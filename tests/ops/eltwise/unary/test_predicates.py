"""Predicates of one tensor that no vector covers."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_signbit_of_integers_is_their_top_bit(layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    numbers = np.array([[-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1]], np.int32)
    result = values_of(ttnn.signbit(ttnn.Tensor(numbers, ttnn.int32, device, layout)))
    np.testing.assert_array_equal(result, numbers < 0)
