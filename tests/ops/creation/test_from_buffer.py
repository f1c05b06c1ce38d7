"""`ttnn.from_buffer`: elements of a list in their order."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn

RM = ttnn.ROW_MAJOR_LAYOUT
BUFFERS: list[tuple[ttnn.DataType, list[Any]]] = [
    (ttnn.bfloat16, [1.25, -2.75, 3.125, 4.375, 5.625, 6.875]),
    (ttnn.float32, [1.5, 2.75, 3.140625, -4.25, 0.0, 6.5]),
    (ttnn.int32, [-100, -200, 2**31 - 1, 400, 500, -(2**31)]),
    (ttnn.uint32, [1, 2, 3, 4, 5, 2**32 - 1]),
    (ttnn.uint16, [1, 2, 3, 4, 5, 2**16 - 1]),
    (ttnn.uint8, [0, 1, 2, 3, 4, 255]),
]


@pytest.mark.parametrize(("dtype", "buffer"), BUFFERS)
@pytest.mark.parametrize("shape", [[6], [2, 3], [1, 3, 2]])
def test_from_buffer_keeps_every_element(
    shape: list[int], dtype: ttnn.DataType, buffer: list[Any], device: ttnn.MeshDevice
) -> None:
    result = ttnn.from_buffer(buffer, shape, dtype, device)
    assert (list(result.shape), result.dtype, result.layout) == (shape, dtype, RM)
    assert ttnn.reshape(result, [6]).to_list() == buffer


def test_layout_and_place(device: ttnn.MeshDevice) -> None:
    result = ttnn.from_buffer(
        [0.5] * 64, ttnn.Shape([2, 32]), ttnn.bfloat16, device, ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG
    )
    assert (result.layout, result.memory_config()) == (ttnn.TILE_LAYOUT, ttnn.L1_MEMORY_CONFIG)
    assert result.to_list() == [[0.5] * 32] * 2


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.DTypeError, match="Unreachable"):
        ttnn.from_buffer([1, 2], [2], ttnn.bfloat8_b, device)
    with pytest.raises(ttnn.ShapeError, match="buffer has 3 elements"):
        ttnn.from_buffer([1, 2, 3], [2], ttnn.int32, device)
    with pytest.raises(ttnn.DTypeError, match="not UINT16"):
        ttnn.from_buffer([1, 70000], [2], ttnn.uint16, device)
    with pytest.raises(ttnn.DTypeError, match="not INT32"):
        ttnn.from_buffer([1.5, 2.0], [2], ttnn.int32, device)
    with pytest.raises(ttnn.DTypeError, match="must be a list of scalars"):
        ttnn.from_buffer([[1, 2], [3, 4]], [2, 2], ttnn.int32, device)
    with pytest.raises(ttnn.DTypeError, match="must be a list of scalars"):
        ttnn.from_buffer([[1], [3, 4]], [3], ttnn.int32, device)
