"""`ttnn.from_buffer`: a device tensor of the elements of a list.

Source: tt-metal `ttnn/cpp/ttnn/operations/creation.hpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ttnn.base.enums import BLOCK_FLOATS, DataType, Layout
from ttnn.base.exceptions import DTypeError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.shape import ShapeLike, as_dims
from ttnn.device.lifecycle import MeshDevice
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import declare
from ttnn.operation.signature import DATA_TYPE, DEVICE, INT_SEQUENCE, LAYOUT, MEMORY_CONFIG, Kind, Param, Signature
from ttnn.ops._programs.common import INTEGER_RANGE
from ttnn.tensor import conversion
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.from_buffer"
_KINDS: Final[dict[DataType, Any]] = {
    DataType.BFLOAT16: np.float32,
    DataType.FLOAT32: np.float32,
    DataType.INT32: np.int32,
    DataType.UINT32: np.uint32,
    DataType.UINT16: np.uint16,
    DataType.UINT8: np.uint8,
    DataType.INT8: np.int8,
}


def _elements(buffer: object, dtype: DataType) -> Any:
    """Return the elements of a list as an array.

    Raises:
        DTypeError: the data type holds no such elements.
    """
    if dtype not in _KINDS:
        raise DTypeError(
            f"{_NAME}: dtype is {dtype.name}; use {', '.join(kind.name for kind in _KINDS)}."
            + (" Typecast the tensor afterwards." if dtype in BLOCK_FLOATS else ""),
            vendor="Unreachable",
        )
    try:
        values = np.asarray(buffer)
    except ValueError:  # lists of several lengths
        values = np.asarray(None)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise DTypeError(f"{_NAME}: buffer must be a list of scalars, got {type(buffer).__name__}.")
    if dtype in INTEGER_RANGE:
        low, high = INTEGER_RANGE[dtype]
        if values.dtype.kind == "f" or (values.size and not (low <= values.min() and values.max() <= high)):
            raise DTypeError(f"{_NAME}: buffer has values that are not {dtype.name} ({low} to {high}).")
    return values.astype(_KINDS[dtype])


def _from_buffer(
    buffer: Sequence[float],
    shape: ShapeLike,
    dtype: DataType,
    device: MeshDevice,
    layout: Layout | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    values, dims = _elements(buffer, dtype), as_dims(shape)
    if values.size != np.prod(dims, dtype=np.int64):
        raise ShapeError(f"{_NAME}: buffer has {values.size} elements; shape {list(dims)} has {np.prod(dims)}.")
    host = Tensor(values.reshape(dims), dtype, None, layout or Layout.ROW_MAJOR)
    return conversion.to_device(host, device, memory_config=memory_config)


from_buffer = declare(
    "from_buffer",
    (
        Signature(
            (
                Param(
                    "buffer",
                    Kind("object", lambda value: value is not None, "Sequence[float]"),
                    doc="List of values, in row-major order.",
                    example=[0.5] * 128,
                ),
                Param("shape", INT_SEQUENCE, doc="Shape of the tensor.", example=[1, 128]),
                Param("dtype", DATA_TYPE, doc="Data type of the tensor.", example=DataType.BFLOAT16),
                Param("device", DEVICE, doc="Device of the tensor."),
                Param("layout", LAYOUT, None, doc="Layout. Default: ROW_MAJOR."),
                Param("memory_config", MEMORY_CONFIG, None, doc="Memory configuration. Default: DRAM, interleaved."),
            )
        ),
    ),
    _from_buffer,
    "Return a device tensor of the elements of a list.\nShape: `shape` -> [*shape].",
    source="tt-metal `ttnn/cpp/ttnn/operations`",
    dtypes=tuple(_KINDS),
    layouts=(Layout.ROW_MAJOR, Layout.TILE),
    accuracy=bit_exact(),
    numerics="movement",
    raises=(
        ("DTypeError", "the data type is a block float, or does not hold the elements."),
        ("ShapeError", "there are more or fewer elements than the shape has."),
    ),
    examples=(),
)
