"""Indices of `ttnn.max_pool2d`: positions of the largest elements of pooling windows.

Of several equal elements the first one counts, as in torch; the official kernel does not promise which.
Source: tt-metal `ttnn/cpp/ttnn/operations/pool/generic`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttnn.base.enums import DataType, Layout
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.operation.registry import find
from ttnn.ops._programs.common import on_device
from ttnn.ops._programs.sticks import Indices, pooled
from ttnn.ops.data_movement.layout import untilized
from ttnn.ops.data_movement.permute import moved_to
from ttnn.tensor.tensor import Tensor

_NARROW: Final = (1 << 16) - 1


def largest_at(
    name: str,
    rows: Tensor,
    sticks: Indices,
    image: tuple[int, int],
    channels: int,
    memory_config: MemoryConfig | None,
    layout: Layout,
) -> Tensor:
    """Return each window's largest pixel, as an index in its image.

    Args:
        name: The operator.
        rows: Sticks, row-major.
        sticks: [outputs, places]: numbers of sticks, -1 where there is none.
        image: Rows and columns.
        channels: Channels.
        memory_config: Memory config of the result. Default: interleaved in DRAM.
        layout: Layout of the result.
    """
    device = on_device(name, rows)
    shape = (1, 1, len(sticks), channels)
    largest = pooled(name, rows, shape, sticks, layout=Layout.TILE)
    # Pixels are numbers up to 2**24 as float32 has them, from the first that a window has.
    numbers = np.where(sticks < 0, -1, sticks % (image[0] * image[1]))
    firsts = numbers[np.arange(len(sticks)), (numbers >= 0).argmax(axis=1)]
    found = _spread(firsts, shape, rows)
    for place in reversed(range(sticks.shape[1])):
        of_place = pooled(name, rows, shape, np.ascontiguousarray(sticks[:, place : place + 1]), layout=Layout.TILE)
        same = find("ttnn.typecast")(find("ttnn.eq")(of_place, largest), DataType.FLOAT32)
        # What lies outside of the image is smaller than everything, unless that is -inf, too.
        inside = np.where(numbers[:, place] < 0, firsts, numbers[:, place])
        found = find("ttnn.where")(same, _spread(inside, shape, rows), found)
    narrow = image[0] * image[1] <= _NARROW
    whole = find("ttnn.typecast")(found, DataType.UINT16 if narrow else DataType.UINT32)
    result = whole if layout is Layout.TILE else untilized(name, whole, DRAM_MEMORY_CONFIG)
    assert device is on_device(name, result)
    target = memory_config or DRAM_MEMORY_CONFIG
    return result if result.spec.memory_config == target else moved_to(result, target)


def _spread(numbers: Indices, shape: tuple[int, ...], rows: Tensor) -> Tensor:
    """Return a number for every window, in all channels."""
    values = np.broadcast_to(numbers.astype(np.float32)[:, None], shape[2:]).reshape(shape)
    return Tensor(np.ascontiguousarray(values), DataType.FLOAT32, on_device("ttnn.max_pool2d", rows), Layout.TILE)
