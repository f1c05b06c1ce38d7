"""`ttnn.rotate`: images turned around a point.

Positions are numbers of 16 fractional bits, as the kernels compute them.
Source: tt-metal `ttnn/cpp/ttnn/operations/pool/rotate`, `ttnn/cpp/ttnn/operations/pool/device/kernels`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ttnn.base.enums import FORMAT_CODE, DataType, Layout, TensorMemoryLayout
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    MemoryConfigError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import pool as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import BOOLEAN, FLOAT, Kind, Param, Signature
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, allocate, on_device
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.sticks import as_words, pooled
from ttnn.ops._programs.windows import write_into
from ttnn.ops.creation.filled import filled
from ttnn.ops.pool.upsample import MODE
from ttnn.runtime import engine_steps
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.rotate"
_FLOATS: Final = (DataType.BFLOAT16, DataType.FLOAT32)
_ONE: Final = 1 << 16
_FURTHEST: Final = 1 << 15
_NO_SINGLE: Final = 2.0**128 - 2.0**103
_WORD: Final = 1 << 31
_MOST_CHANNELS: Final = 256
Places = npt.NDArray[np.int64]


def _fixed(value: float) -> int:
    """Return a number with 16 fractional bits, the others cut."""
    return math.trunc(float(np.float32(value)) * _ONE)


def _check(tensor: Tensor, angle: float, center: Sequence[float] | None, expand: bool, mode: str) -> None:
    spec = tensor.spec
    if spec.shape.rank != 4 or 0 in tuple(spec.shape):
        raise ShapeError(
            f"{_NAME}: input_tensor has shape {spec.shape}; it must be [N, H, W, C] and not empty.",
            vendor=f"Input tensor must be 4D (N, H, W, C), got rank {spec.shape.rank}",
        )
    if spec.layout is not Layout.ROW_MAJOR:
        raise LayoutError(
            f"{_NAME}: input_tensor is in tiles; convert it with ttnn.to_layout(..., ttnn.ROW_MAJOR_LAYOUT).",
            vendor="Input tensor must be in ROW_MAJOR layout",
        )
    if spec.dtype not in _FLOATS:
        raise DTypeError(
            f"{_NAME}: input_tensor is {spec.dtype.name}; it must be BFLOAT16 or FLOAT32.",
            vendor=f"Input tensor dtype must be bfloat16 or float32, got {spec.dtype.cpp_name}",
        )
    if expand:
        raise ParameterError(
            f"{_NAME}: expand=True; the output has the size of the input.",
            vendor="expand=True is not supported. Only same-size rotation (expand=False) is implemented",
        )
    if mode not in ("nearest", "bilinear"):
        raise ParameterError(
            f"{_NAME}: interpolation_mode is {mode!r}; it must be 'nearest' or 'bilinear'.",
            vendor=f"Only 'nearest' and 'bilinear' interpolation_mode are supported, got '{mode}'",
        )
    if not abs(angle) < _NO_SINGLE:
        raise ParameterError(f"{_NAME}: angle is {angle}; it must be a finite number of degrees.")
    if center is not None and not all(abs(place) < _FURTHEST for place in center):
        raise ParameterError(f"{_NAME}: center is {tuple(center)}; coordinates have 16 bits, below {_FURTHEST} pixels.")
    layout = spec.memory_config.memory_layout
    if layout not in (TensorMemoryLayout.INTERLEAVED, TensorMemoryLayout.HEIGHT_SHARDED):
        raise MemoryConfigError(
            f"{_NAME}: input_tensor is {layout.name}; it may be interleaved or sharded by height.",
            vendor="Only height sharding is supported for rotate operation.",
        )
    if mode == "bilinear" and spec.shape[3] > _MOST_CHANNELS:
        raise ShapeError(
            f"{_NAME}: input_tensor has {spec.shape[3]} channels; with 'bilinear' there may be {_MOST_CHANNELS}.",
            vendor="Wide reduction (in_ntiles_c > MAX_TILES_PER_REDUCTION) is not supported for bilinear rotate.",
        )


def _sources(shape: tuple[int, ...], angle: float, center: Sequence[float] | None, *, apart: bool) -> list[Places]:
    """Return the source column and row of every pixel.

    Args:
        shape: Of the images.
        angle: In degrees.
        center: Column and row of the point that stays, or None for the middle.
        apart: Each product is cut, not their sum.
    """
    _, height, width, _ = shape
    radians = float(np.float32(float(np.float32(angle)) * math.pi / 180.0))
    cosine, sine = _fixed(math.cos(radians)), _fixed(math.sin(radians))
    if center is None:
        middle = [(np.float32(size) - np.float32(1)) / np.float32(2) for size in (width, height)]
    else:
        middle = [np.float32(place) - np.float32(0.5) for place in center]
    across, down = (_fixed(float(place)) for place in middle)
    x = (np.arange(width, dtype=np.int64) * _ONE - across)[None, :]
    y = (np.arange(height, dtype=np.int64) * _ONE - down)[:, None]
    if apart:
        return [(x * cosine >> 16) - (y * sine >> 16) + across, (x * sine >> 16) + (y * cosine >> 16) + down]
    return [(x * cosine - y * sine >> 16) + across, (x * sine + y * cosine >> 16) + down]


def _sticks(rows: Places, columns: Places, shape: tuple[int, ...], outside: int) -> npt.NDArray[np.int32]:
    """Return stick numbers at these positions, `outside` where there is none."""
    batch, height, width, _ = shape
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    image = np.where(inside, rows * width + columns, 0)
    shifts = np.arange(batch).reshape(-1, *[1] * rows.ndim) * height * width
    return np.where(inside[None], image[None] + shifts, outside).astype(np.int32)


def _with_fill(tensor: Tensor, fill: float) -> Tensor:
    """Return the sticks of the images, followed by one of `fill`."""
    spec = tensor.spec
    device = on_device(_NAME, tensor)
    channels = spec.shape[3]
    count = spec.shape.volume() // channels
    table = allocate(TensorSpec.of((count + 1, channels), spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    flat = TensorSpec.of((count, channels), spec.dtype, Layout.ROW_MAJOR, spec.memory_config)
    write_into(tensor._view(flat), table, [0, 0])
    stick = filled(_NAME, (1, channels), fill, spec.dtype, Layout.ROW_MAJOR, device, DRAM_MEMORY_CONFIG)
    write_into(stick, table, [count, 0])
    return table


def _nearest(table: Tensor, sticks: npt.NDArray[np.int32], shape: tuple[int, ...]) -> Tensor:
    device = on_device(_NAME, table)
    words = sticks.reshape(1, -1).astype(np.uint32)
    names = conversion.to_device(Tensor(words, DataType.UINT32, None, Layout.ROW_MAJOR), device)
    output = allocate(TensorSpec.of(shape, table.spec.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG), device)
    assert names.buffer is not None
    assert table.buffer is not None
    assert output.buffer is not None
    engine_steps.gather_rows(
        names.buffer,
        table.buffer,
        output.buffer,
        format=FORMAT_CODE[DataType.UINT32],
        sizes=words.shape,
        tiled=None,
    )
    return output


def _rotate(
    input_tensor: Tensor,
    angle: float,
    center: Sequence[float] | None,
    fill: float,
    expand: bool,
    interpolation_mode: str,
    memory_config: MemoryConfig | None,
) -> Tensor:
    device = on_device(_NAME, input_tensor)
    _check(input_tensor, angle, center, expand, interpolation_mode)
    spec = input_tensor.spec
    is_nearest = interpolation_mode == "nearest"
    if spec.dtype is DataType.FLOAT32 and (fill or not is_nearest):
        raise UnsupportedError(
            f"{_NAME}: input_tensor is FLOAT32; the program writes {'fill' if is_nearest else 'weights'} as bfloat16 "
            "words there. Typecast it to bfloat16, or leave out fill and use 'nearest'.",
            "untested",
        )
    shape = tuple(spec.shape)
    table = _with_fill(input_tensor, fill)
    last = table.spec.shape[0] - 1
    x, y = _sources(shape, angle, center, apart=not is_nearest)
    if is_nearest:
        half = _ONE // 2
        result = _nearest(table, _sticks(y + half >> 16, x + half >> 16, shape, last), shape)
    else:
        result = _bilinear(table, x, y, shape, last)
    place = memory_config or spec.memory_config
    if place == DRAM_MEMORY_CONFIG:
        return result
    output = allocate(result.spec.with_memory_config(place), device)
    copy_into(result, output)
    return output


def _bilinear(table: Tensor, x: Places, y: Places, shape: tuple[int, ...], last: int) -> Tensor:
    rows, columns = y >> 16, x >> 16
    down, across = y & _ONE - 1, x & _ONE - 1
    corners = [(row, column) for row in (0, 1) for column in (0, 1)]
    found = [_sticks(rows + row, columns + column, shape, last) for row, column in corners]
    of_rows, of_columns = (_ONE - down, down), (_ONE - across, across)
    weights = np.stack([of_rows[row] * of_columns[column] >> 16 for row, column in corners], axis=-1) / _ONE
    each = np.tile(np.arange(shape[1] * shape[2]), shape[0])
    sticks = np.stack(found, axis=-1).reshape(-1, len(corners))
    return pooled(_NAME, table, shape, sticks, as_words(weights.reshape(-1, len(corners))), each)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(FLOAT.accepts, value))


rotate = register(
    Op(
        name="rotate",
        signatures=(
            Signature(
                (INPUT_TENSOR, Param("angle", FLOAT, doc="Degrees, counter-clockwise.", example=30.0)),
                (
                    Param(
                        "center",
                        Kind("tuple[float, float]", _is_pair),
                        None,
                        doc="Column and row of the rotation centre. Default: the middle.",
                        example=(3.0, 5.0),
                    ),
                    Param("fill", FLOAT, 0.0, doc="Value of pixels that come from outside."),
                    Param("expand", BOOLEAN, False, doc="Only False."),
                    Param(
                        "interpolation_mode",
                        MODE,
                        "nearest",
                        doc='"nearest", or "bilinear" for weighted sums of four pixels.',
                        example="bilinear",
                    ),
                    MEMORY_CONFIG_OPTION,
                ),
            ),
        ),
        run=_rotate,
        doc="Return images rotated around a point.\nShape: [N, H, W, C] -> [N, H, W, C].",
        source="tt-metal `ttnn/cpp/ttnn/operations/pool/rotate`",
        dtypes=_FLOATS,
        layouts=(Layout.ROW_MAJOR,),
        golden=golden.rotate,
        accuracy=no_bound("for positions have 16 fractional bits"),
        engine=("gather_rows", "pool_sticks"),
        raises=(
            ("ShapeError", "the input is not [N, H, W, C], or has too many channels."),
            ("LayoutError", "the input is in tiles."),
            ("DTypeError", "the input is neither bfloat16 nor float32."),
            ("MemoryConfigError", "the input is sharded in another way than by height."),
            ("ParameterError", "an option has a value that there is not."),
            ("UnsupportedError", "a float32 input with `fill` or sums."),
        ),
        examples=lambda shape, layout: ((30.0,), (90.0, {"fill": 0.0})) if len(shape) == 4 and 0 not in shape else (),
    )
)
