"""Indices of `ttnn.max_pool2d`: positions of the largest elements of pooling windows.

Of several equal elements, one wins by the order of the kernel's comparisons: the vector unit compares eight sticks as a
tree, the even ones first, and starts with the last group of eight. A window of several chunks ends with its last chunk.
Source: the kernels `pool/generic/device/kernels/compute/compute_mpwi.cpp` and `ckernel_sfpu_max_pool_indices.h`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ttnn.base.enums import DataType, Layout
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.common import allocate, on_device
from ttnn.ops._programs.sticks import Axis, Indices, placed
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NARROW: Final = (1 << 16) - 1
_EIGHT: Final = np.array([0, 2, 4, 6, 1, 3, 5, 7])
"""Sticks in the order in which equal elements of them win."""
_SMALL: Final = 9
"""Sticks of the kernel for small windows.

Eight, and one that wins last.
"""


def winning_order(height: int, width: int, chunk: int) -> Indices:
    """Return a window's pixels in the order in which equal elements win.

    Args:
        height: Rows of the window.
        width: Columns of the window.
        chunk: Most sticks that the kernel compares at once: 16 or 32.
    """
    window = height * width
    if window <= min(chunk, _SMALL):
        return _up_to(np.append(_EIGHT, _SMALL - 1), window)
    groups = (np.arange(4)[::-1, None] * len(_EIGHT) + _EIGHT).reshape(-1)
    if window <= chunk:
        return _up_to(groups, window)
    # A chunk has pixels of one row.
    starts = [row * width + column for row in range(height) for column in range(0, width, chunk)]
    ends = [*starts[1:], window]
    chunks = [start + _up_to(groups, end - start) for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(chunks[::-1]).astype(np.int32)


def has_wide_indices(axes: tuple[Axis, Axis]) -> bool:
    """Return whether 16 bits are too few to count an image's pixels."""
    return axes[0].extent * axes[1].extent > _NARROW


def _up_to(order: Any, count: int) -> Indices:
    return np.asarray(order[order < count], np.int32)


def largest_and_indices(
    name: str,
    rows: Tensor,
    sticks: Indices,
    axes: tuple[Axis, Axis],
    batch: int,
    channels: int,
    chunk: int,
    memory_config: MemoryConfig | None,
    layout: Layout,
) -> tuple[Tensor, Tensor]:
    """Return each window's largest elements, and their pixels in their image.

    Args:
        name: The operator.
        rows: Sticks, row-major.
        sticks: [outputs, places]: numbers of sticks, -1 where there is none.
        axes: The windows along rows and columns of the image.
        batch: Images.
        channels: Channels.
        chunk: Most sticks that the kernel compares at once.
        memory_config: Memory config of the results. Default: interleaved in DRAM.
        layout: Layout of the results.
    """
    device = on_device(name, rows)
    down, across = axes
    order = winning_order(down.size, across.size, chunk)
    # Padding has indices, too: one less than to its right, a row less than below. They wrap.
    pixels = (down.positions()[:, None, :, None] * across.extent + across.positions()[None, :, None, :]).reshape(
        -1, len(order)
    )
    wide = has_wide_indices(axes)
    shape = (1, 1, len(sticks), channels)
    values = allocate(TensorSpec.of(shape, DataType.BFLOAT16, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    kind = DataType.UINT32 if wide else DataType.UINT16
    indices = allocate(TensorSpec.of(shape, kind, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert rows.buffer is not None
    assert values.buffer is not None
    assert indices.buffer is not None
    engine_steps.pool_largest(
        rows.buffer,
        values.buffer,
        indices.buffer,
        channels=channels,
        window=len(order),
        sticks=np.ascontiguousarray(sticks[:, order], np.int32).reshape(-1),
        pixels=np.tile(pixels[:, order], (batch, 1)).astype(np.uint32).reshape(-1),
        dst32=wide,
    )
    first, second = (placed(name, tensor, memory_config, layout) for tensor in (values, indices))
    return first, second
