"""`ttnn.roll`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("shape", [(2, 64, 96), (3, 5, 33)])
def test_elements_move_around(shape: tuple[int, ...], layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    x = make(shape, ttnn.float32, layout, device)
    values = values_of(x)
    for shift in (0, 1, -3, 32, 1000):
        for dim in (0, 1, -1):
            np.testing.assert_array_equal(values_of(ttnn.roll(x, shift, dim)), np.roll(values, shift, dim))
        np.testing.assert_array_equal(values_of(ttnn.roll(x, shift)), np.roll(values, shift))
    np.testing.assert_array_equal(values_of(ttnn.roll(x, [1, -2], [0, 2])), np.roll(values, (1, -2), (0, 2)))


def test_every_shift_has_a_dimension(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ShapeError, match="must have as many entries"):
        ttnn.roll(x, [1, 2], [0])
    with pytest.raises(ttnn.ShapeError, match="out of range"):
        ttnn.roll(x, 1, 2)


def test_block_floats_pass_rows_as_bfloat16(device: ttnn.MeshDevice) -> None:
    x = make((64, 64), ttnn.bfloat8_b, ttnn.TILE_LAYOUT, device)
    moved = ttnn.roll(x, 2)
    assert moved.dtype is ttnn.bfloat16
    # Values keep their bits, although those of other exponents become neighbours.
    np.testing.assert_array_equal(values_of(moved), np.roll(values_of(x), 2))
    assert ttnn.roll(x, 32, 0).dtype is ttnn.bfloat8_b
