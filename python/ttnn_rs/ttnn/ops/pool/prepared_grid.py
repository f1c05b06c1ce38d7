"""`ttnn.prepare_grid_sample_grid`: pixels and weights of grid points.

They are computed once on the host.

Source: tt-metal `ttnn/cpp/ttnn/operations/pool/grid_sample/grid_sample_prepare_grid.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ArgumentError, DTypeError, LayoutError, ParameterError, ShapeError, StorageError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.common import values_on_host
from ttnn.tensor import host_buffer
from ttnn.tensor.tensor import Tensor

__all__ = ["prepare_grid_sample_grid"]

Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.uint16]
NUMBERS: Final = {"bilinear": 6, "nearest": 2}
"""Values of a prepared point: row, column and weights.

Row and column of a pixel are int16; "bilinear" has four weights.
"""
_HALF: Final = np.float32(0.5)
_OUTSIDE: Final = 0xFFFF


def places(points: Floats, extent: tuple[int, int], align_corners: bool) -> tuple[Floats, Floats]:
    """Return rows and columns of points (x, y), in pixels.

    In the order of the host's float32 steps.
    """
    found = []
    for axis, size in ((1, extent[0]), (0, extent[1])):
        whole = np.float32(max(size - 1, 0) if align_corners else size)
        offset = np.float32(0.0) if align_corners else -_HALF
        found.append((points[..., axis] + np.float32(1.0)) * (whole * _HALF) + offset)
    return found[0], found[1]


def _inside(first: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
    return (first >= 0) & (first < size)


def _words(values: npt.NDArray[np.int64]) -> Words:
    return np.clip(values, -(1 << 15), (1 << 15) - 1).astype(np.int16).view(np.uint16)


def _nearest(points: Floats, extent: tuple[int, int], align_corners: bool) -> Words:
    pixels = []
    for place in places(points, extent, align_corners):
        # Halves are rounded away from zero with corners aligned, else upwards.
        exact = place.astype(np.float64)
        away = np.trunc(exact + np.copysign(0.5, exact))
        pixels.append((away if align_corners else np.floor(place + _HALF)).astype(np.int64))
    inside = _inside(pixels[0], extent[0]) & _inside(pixels[1], extent[1])
    return np.stack([np.where(inside, _words(pixel), _OUTSIDE).astype(np.uint16) for pixel in pixels], -1)


def _bilinear(points: Floats, extent: tuple[int, int], align_corners: bool) -> Words:
    rows, columns = places(points, extent, align_corners)
    firsts = [np.floor(place).astype(np.int64) for place in (rows, columns)]
    parts = [place - first.astype(np.float32) for place, first in zip((rows, columns), firsts, strict=True)]
    weights = []
    for down in (0, 1):
        for across in (0, 1):
            inside = _inside(firsts[0] + down, extent[0]) & _inside(firsts[1] + across, extent[1])
            of_row, of_column = (
                part if step else np.float32(1.0) - part for part, step in zip(parts, (down, across), strict=True)
            )
            weights.append(np.where(inside, of_row * of_column, np.float32(0.0)))
    spec = TensorSpec.of((*points.shape[:-1], 4), DataType.BFLOAT16, Layout.ROW_MAJOR)
    packed = host_buffer.pack(np.stack(weights, -1).astype(np.float32), spec)
    cut = np.ascontiguousarray(packed).view(np.uint16).reshape(*points.shape[:-1], 4)
    return np.concatenate([np.stack([_words(first) for first in firsts], -1), cut], -1)


def prepare_grid_sample_grid(
    grid: Tensor,
    input_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    output_dtype: DataType | None = None,
) -> Tensor:
    """Return a grid for `ttnn.grid_sample` with `use_precomputed_grid=True`.

    Shape: [N, h, w, 2] -> [N, h, w, 6], or [N, h, w, 2] for `mode="nearest"`.
    Each point has the row and the column of its first pixel, as bits of int16, and for "bilinear" four weights. Host
    tensors are taken and returned.

    Args:
        grid: Points x and y in float32, row-major, on the host.
        input_shape: [N, H, W, C] of the images.
        mode: "bilinear" or "nearest".
        padding_mode: "zeros".
        align_corners: -1 and 1 are the centres of the outer pixels.
        output_dtype: bfloat16.

    Raises:
        StorageError: the grid is on a device.
        LayoutError: it is tiled.
        DTypeError: it is not float32, or `output_dtype` is another one.
        ShapeError: it is not [N, h, w, 2], or `input_shape` has not four sizes.
        ParameterError: `mode` or `padding_mode` is unknown.
    """
    name = "ttnn.prepare_grid_sample_grid"
    if not isinstance(grid, Tensor):
        raise ArgumentError(f"{name}: grid must be a ttnn.Tensor, got {type(grid).__name__}")
    if grid._device is not None:
        raise StorageError(f"{name}: grid is on a device; use ttnn.from_device.", vendor="Grid tensor must be on host")
    if grid.spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{name}: grid is tiled; use ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Grid tensor must be in row major layout",
        )
    shape = tuple(grid.spec.shape)
    if len(shape) != 4 or shape[3] != 2:
        raise ShapeError(
            f"{name}: grid has shape {list(shape)}; it must be [N, h, w, 2].",
            vendor="Grid tensor must be 4D" if len(shape) != 4 else "Grid tensor last dimension must be 2",
        )
    sizes = [int(size) for size in input_shape]
    if len(sizes) != 4:
        raise ShapeError(
            f"{name}: input_shape is {sizes}; it must be [N, H, W, C].",
            vendor="Input shape must have 4 dimensions [N, H, W, C]",
        )
    if mode not in NUMBERS:
        raise ParameterError(f"{name}: mode is {mode!r}; it must be 'bilinear' or 'nearest'.")
    if padding_mode != "zeros":
        raise ParameterError(
            f"{name}: padding_mode is {padding_mode!r}; it must be 'zeros'.",
            vendor="Currently only 'zeros' padding mode is supported",
        )
    if output_dtype not in (None, DataType.BFLOAT16):
        raise DTypeError(
            f"{name}: output_dtype is {output_dtype}; it must be bfloat16.",
            vendor="Currently only BFLOAT16 is supported for the grid output dtype",
        )
    if grid.spec.dtype is not DataType.FLOAT32:
        raise DTypeError(
            f"{name}: grid is {grid.spec.dtype.name}; it must be float32.",
            vendor="Currently only float32 input grid is supported",
        )
    points: Any = np.asarray(values_on_host(name, grid, "grid"), np.float32)
    prepare = _nearest if mode == "nearest" else _bilinear
    words = np.ascontiguousarray(prepare(points, (sizes[1], sizes[2]), align_corners))
    spec = TensorSpec.of((*shape[:3], NUMBERS[mode]), DataType.BFLOAT16, Layout.ROW_MAJOR)
    return Tensor._on_host(spec, words.view(np.uint8).reshape(-1))


def prepared_words(name: str, grid: Tensor) -> Words:
    """Return the words of a prepared grid on a device.

    [..., numbers of its points].
    """
    values = np.ascontiguousarray(values_on_host(name, grid, "grid"))
    return values.view(np.uint16)
