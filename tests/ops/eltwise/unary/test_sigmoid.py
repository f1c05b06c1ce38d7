"""`ttnn.sigmoid` on some faces of a tile."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of


@pytest.mark.parametrize(("mode", "shape"), [(1, (16, 100)), (1, (70,)), (2, (100, 16)), (2, (3, 64, 2))])
def test_faces_that_hold_the_whole_tensor(mode: int, shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    x = make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    np.testing.assert_array_equal(raw_of(ttnn.sigmoid(x, vector_mode=mode)), raw_of(ttnn.sigmoid(x)))


@pytest.mark.parametrize(("mode", "shape"), [(1, (17, 8)), (2, (8, 17)), (0, (1, 1)), (3, (1, 1))])
def test_faces_that_leave_out_a_part_are_refused(mode: int, shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.UnsupportedError, match=rf"vector_mode={mode} leaves faces of .* as they are"):
        ttnn.sigmoid(make(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device), vector_mode=mode)


def test_rows_have_no_faces(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.UnsupportedError, match="in ROW_MAJOR"):
        ttnn.sigmoid(make((8, 8), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device), vector_mode=2)
