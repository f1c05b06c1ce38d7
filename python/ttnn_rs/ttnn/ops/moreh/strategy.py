"""Choice between the moreh softmax programs for small and for large tensors.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_softmax/device/moreh_softmax_device_operation.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ttnn.base.exceptions import ParameterError
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops._programs.pipeline import COLUMNS, ROWS
from ttnn.ops.moreh.checks import l1_base

_LIMIT: Final = 512 * 1024


def is_large(
    name: str, strategy: str, shape: tuple[int, ...], axis: int, device: MeshDevice, bytes_of: Callable[[int], int]
) -> bool:
    """Return whether the large tensor program runs.

    It adds tiles before it reduces one.

    Args:
        name: Who asks.
        strategy: The name of the strategy that was asked for.
        shape: The logical shape.
        axis: The dimension, counted from the end.
        device: Where the program runs.
        bytes_of: Bytes of circular buffers that the program of small tensors needs for lines of so many tiles.

    Raises:
        ParameterError: the strategy is for another dimension, or lines are too long for it.
    """
    if axis not in (ROWS, COLUMNS):
        if strategy not in ("NONE", "LARGE_C"):
            raise ParameterError(
                f"{name}: strategy {strategy} is not for leading dimensions; use LARGE_C or NONE.",
                vendor="Invalid parallelization strategy. large c is for dim 0 - (rank - 3)",
            )
        return True
    letter = "W" if axis == ROWS else "H"
    fits = l1_base(device) + bytes_of(-(-shape[axis] // 32)) <= _LIMIT
    if strategy == "NONE":
        return not fits
    if strategy not in (f"SMALL_{letter}", f"LARGE_{letter}"):
        raise ParameterError(
            f"{name}: strategy {strategy} is not for dimension {axis}; use SMALL_{letter}, LARGE_{letter} or NONE.",
            vendor=f"Invalid parallelization strategy. {strategy} is not for dim {letter}",
        )
    if strategy.startswith("SMALL") and not fits:
        raise ParameterError(
            f"{name}: strategy {strategy} keeps whole lines in L1, and {shape[axis]} elements do not fit; use NONE.",
            vendor=f"not enough circular buffer memory for {strategy}",
        )
    return strategy.startswith("LARGE")
