"""Tensors filled by an operator."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of

TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
def test_creation_functions_fill_every_layout(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    for where in (None, device):
        for layout in (TILE, ROWS):
            for made, value in (
                (ttnn.zeros((3, 5), dtype, layout, where), 0),
                (ttnn.ones((3, 5), dtype, layout, where), 1),
                (ttnn.full((3, 5), 7, dtype, layout, where), 7),
                (ttnn.full_like(ttnn.zeros((3, 5), dtype, layout, where), 2), 2),
            ):
                assert (made.dtype, made.layout) == (dtype, layout)
                assert made.device() is where
                assert np.all(values_of(made) == value)


def test_arange(device: ttnn.MeshDevice) -> None:
    assert ttnn.arange(5).to_list() == [0, 1, 2, 3, 4]
    assert ttnn.arange(5).dtype == ttnn.bfloat16
    made = ttnn.arange(-2, 10, 3, dtype=ttnn.int32, device=device, layout=TILE)
    assert made.to_list() == [-2, 1, 4, 7]
    assert made.padded_shape == [32, 32]
    assert ttnn.arange(2**31 - 3, 2**31, 1, dtype=ttnn.uint32).to_list() == [2**31 - 3, 2**31 - 2, 2**31 - 1]
    assert ttnn.arange(3, 0, -1, dtype=ttnn.int32).to_list() == [3, 2, 1]
    for step in (5, -1):
        for dtype in (ttnn.bfloat16, ttnn.uint16):
            assert ttnn.arange(0, 0, step, dtype=dtype, device=device).shape == [0]
    with pytest.raises(ttnn.ShapeError, match="from 0 to 3 in steps of -1 there are no values"):
        ttnn.arange(0, 3, -1)


def test_full_into_a_tensor(device: ttnn.MeshDevice) -> None:
    target = ttnn.empty((3, 5), ttnn.float32, TILE, device)
    assert ttnn.full((3, 5), 2.5, optional_tensor=target) is target
    assert np.all(values_of(target) == 2.5)
    like = ttnn.empty_like(target, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (like.dtype, like.memory_config()) == (ttnn.bfloat16, ttnn.L1_MEMORY_CONFIG)
