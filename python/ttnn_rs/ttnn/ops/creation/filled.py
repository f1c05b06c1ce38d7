"""Operators that make tensors. Without a device they make host tensors.

Source: https://docs.tenstorrent.com/tt-metal/latest/ttnn/ttnn/api/ttnn.NAME.html, one page for each operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from ttnn.base.enums import FORMAT_CODE, DataType, Layout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, OutOfMemoryError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import ShapeLike, as_dims
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import creation as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import declare
from ttnn.operation.result_shards import of_one
from ttnn.operation.signature import (
    DATA_TYPE,
    DEVICE,
    FILL_VALUE,
    INT_SEQUENCE,
    INTEGER,
    LAYOUT,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import INTEGER_RANGE, allocate, as_float, is_empty, on_device, take_output
from ttnn.runtime import engine_steps
from ttnn.tensor.host_buffer import require_memory
from ttnn.tensor.tensor import Tensor

_NUMPY: Final[dict[DataType, Any]] = {
    DataType.INT32: np.int32,
    DataType.UINT32: np.uint32,
    DataType.UINT16: np.uint16,
    DataType.UINT8: np.uint8,
    DataType.INT8: np.int8,
}


def _value(name: str, value: float, dtype: DataType) -> float:
    """Return a fill value in the data type; integers truncate toward zero.

    Raises:
        DTypeError: it is not finite or out of range for an integer type.
    """
    if dtype not in INTEGER_RANGE:
        return as_float(name, value, "fill_value")
    low, high = INTEGER_RANGE[dtype]
    whole = int(value) if math.isfinite(as_float(name, value, "fill_value")) else None
    if whole is None or not low <= whole <= high:
        raise DTypeError(f"{name}: {value} is not a value of {dtype.name} ({low} to {high}).")
    return whole


def _host(name: str, dims: tuple[int, ...], dtype: DataType, layout: Layout, values: Callable[[], Any]) -> Tensor:
    """Return a host tensor of the array that `values` makes."""
    # Checks the combination of type and layout before any memory is touched.
    TensorSpec.of(dims, dtype, layout)
    # The values that the tensor is made of have up to eight bytes.
    require_memory(name, dims, math.prod(dims) * 8)
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(values()).astype(_NUMPY.get(dtype, np.float32))
        return Tensor(array, dtype, None, layout)
    except MemoryError:
        raise OutOfMemoryError(f"{name}: the host has no memory for a tensor of {list(dims)}.", "host") from None


def filled(
    name: str,
    shape: ShapeLike,
    value: float,
    dtype: DataType,
    layout: Layout,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
    output: Tensor | None = None,
) -> Tensor:
    """Return a tensor that holds `value` everywhere."""
    dims = as_dims(shape)
    if output is not None:
        target = output._device
        if target is not None:
            take_output(name, output, dims, layout, target)
        device, dtype = on_device(name, output, "optional_tensor"), output.spec.dtype
    value = _value(name, value, dtype)
    if device is None:
        return _host(name, dims, dtype, layout, lambda: np.full(dims, value))
    if output is None:
        output = allocate(TensorSpec.of(dims, dtype, layout, memory_config or DRAM_MEMORY_CONFIG), device)
    if not is_empty(output.spec):
        assert output.buffer is not None
        engine_steps.fill(output.buffer, format=FORMAT_CODE[dtype], value=float(value))
    return output


def _agrees(name: str, dtype: DataType | None, memory_config: MemoryConfig | None, output: Tensor | None) -> None:
    """Reject options that differ from the tensor that receives the values.

    Raises:
        DTypeError: another data type.
        MemoryConfigError: another place.
    """
    if output is None:
        return
    spec = output.spec
    if dtype not in (None, spec.dtype):
        raise DTypeError(f"{name}: dtype is {dtype.name}, but optional_tensor is {spec.dtype.name}.")
    if memory_config not in (None, spec.memory_config):
        raise MemoryConfigError(
            f"{name}: memory_config is {memory_config}, but optional_tensor is in {spec.memory_config}."
        )


def _full(
    name: str,
    shape: ShapeLike,
    value: float,
    dtype: DataType | None,
    layout: Layout | None,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    _agrees(name, dtype, memory_config, optional_tensor)
    return filled(
        name,
        shape,
        value,
        dtype or DataType.BFLOAT16,
        layout or (Layout.ROW_MAJOR if optional_tensor is None else optional_tensor.spec.layout),
        device,
        memory_config,
        optional_tensor,
    )


def _full_like(
    name: str,
    tensor: Tensor,
    value: float,
    dtype: DataType | None,
    layout: Layout | None,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    _agrees(name, dtype, memory_config, optional_tensor)
    spec = tensor.spec
    target = device or tensor._device
    if (
        target is not None
        and memory_config is not None
        and (layout or spec.layout) is Layout.TILE
        and spec.dtype not in INTEGER_RANGE
    ):
        # Tiles of floating point are filled by a program of one operand.
        memory_config = of_one(spec, memory_config, target)
    return filled(
        name,
        spec.shape,
        value,
        dtype or spec.dtype,
        layout or spec.layout,
        target,
        memory_config or (spec.memory_config if target is not None else None),
        optional_tensor,
    )


def _constant(name: str, value: float, like: bool) -> Callable[..., Tensor]:
    """Return the function of `zeros`, `ones` and their `_like` forms."""
    make = _full_like if like else _full

    def run(first: Any, *options: Any) -> Tensor:
        return make(f"ttnn.{name}", first, value, *options)

    return run


def _empty(
    shape: ShapeLike, dtype: DataType, layout: Layout, device: MeshDevice, memory_config: MemoryConfig
) -> Tensor:
    return allocate(TensorSpec.of(as_dims(shape), dtype, layout, memory_config), device)


def _empty_like(
    tensor: Tensor,
    dtype: DataType | None,
    layout: Layout | None,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    spec = tensor.spec
    target = device or on_device("ttnn.empty_like", tensor, "tensor")
    return _empty(spec.shape, dtype or spec.dtype, layout or spec.layout, target, memory_config or spec.memory_config)


def _arange(
    start: int,
    end: int,
    step: int,
    dtype: DataType,
    device: MeshDevice | None,
    memory_config: MemoryConfig,
    layout: Layout,
) -> Tensor:
    name = "ttnn.arange"
    if step == 0:
        raise ShapeError(f"{name}: step is 0; it must be positive or negative.")
    if (end - start) * step < 0:
        raise ShapeError(f"{name}: from {start} to {end} in steps of {step} there are no values.")
    count = -(-(end - start) // step)
    if dtype in INTEGER_RANGE:
        for value in (start, start + max(count - 1, 0) * step):
            _value(name, value, dtype)
    dims = as_dims((count,))
    host = _host(name, dims, dtype, layout, lambda: np.arange(start, end, step, dtype=np.int64))
    return host if device is None else host.to(device, memory_config)


def _arange_from_zero(
    end: int, dtype: DataType, device: MeshDevice | None, memory_config: MemoryConfig, layout: Layout
) -> Tensor:
    return _arange(0, end, 1, dtype, device, memory_config, layout)


_ALL: Final = (
    DataType.BFLOAT16,
    DataType.FLOAT32,
    DataType.BFLOAT8_B,
    DataType.BFLOAT4_B,
    DataType.INT32,
    DataType.UINT32,
    DataType.UINT16,
    DataType.UINT8,
    DataType.INT8,
)
_SHAPE: Final = Param("shape", INT_SEQUENCE, doc="Logical shape of the output.")
_TENSOR: Final = Param(
    "tensor", TENSOR, doc="Tensor whose shape and, by default, data type, layout and device the output has."
)
_VALUE: Final = Param("fill_value", FILL_VALUE, doc="Value of all elements, rounded to the data type.")
_DEVICE: Final = Param(
    "device", DEVICE, None, doc="Device of the output. Default: that of `tensor` if it is given, else the host."
)
_PLACE: Final = Param("memory_config", MEMORY_CONFIG, None, doc="Memory configuration of the output on the device.")
_OPTIONS: Final = (
    Param(
        "dtype",
        DATA_TYPE,
        None,
        doc="Data type of the output. Default: that of `tensor` if it is given, else bfloat16.",
    ),
    Param(
        "layout",
        LAYOUT,
        None,
        doc="Layout of the output. Default: that of `tensor` if it is given, else ROW_MAJOR_LAYOUT.",
    ),
    _DEVICE,
    _PLACE,
)
_TAKES: Final = Param("optional_tensor", TENSOR, None, doc="Preallocated output on the device.")


_op: Final = partial(
    declare, dtypes=_ALL, layouts=(Layout.TILE, Layout.ROW_MAJOR), accuracy=bit_exact(), numerics="movement"
)
"""Registers an operator that makes tensors."""


def _make(name: str, value: float, reference: Any) -> tuple[Any, Any]:
    """Register `zeros` or `ones` and its `_like` form."""
    plain = _op(
        name,
        (Signature((_SHAPE, *_OPTIONS)),),
        _constant(name, value, like=False),
        f"Create a tensor of `shape` with {name}.\nShape: `shape` -> [*shape].",
        golden=reference,
        engine=("fill",),
        examples=(),
    )
    like = _op(
        f"{name}_like",
        (Signature((_TENSOR, *_OPTIONS, _TAKES)),),
        _constant(f"{name}_like", value, like=True),
        f"Create a tensor like `tensor` with {name}.\nShape: [..., H, W] -> [..., H, W].",
        golden=getattr(golden, f"{name}_like"),
        engine=("fill",),
    )
    return plain, like


zeros, zeros_like = _make("zeros", 0.0, golden.zeros)
ones, ones_like = _make("ones", 1.0, golden.ones)

full = _op(
    "full",
    (Signature((_SHAPE, _VALUE, *_OPTIONS, _TAKES)),),
    partial(_full, "ttnn.full"),
    "Create a tensor of `shape` with every element set to `fill_value`.\nShape: `shape` -> [*shape].",
    golden=golden.full,
    engine=("fill",),
    examples=(),
)

full_like = _op(
    "full_like",
    (Signature((_TENSOR, _VALUE, *_OPTIONS, _TAKES)),),
    partial(_full_like, "ttnn.full_like"),
    "Create a tensor like `tensor` with every element set to `fill_value`.\nShape: [..., H, W] -> [..., H, W].",
    golden=golden.full_like,
    engine=("fill",),
    examples=((3.0,),),
)

empty = _op(
    "empty",
    (
        Signature(
            (
                _SHAPE,
                Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the output."),
                Param("layout", LAYOUT, Layout.ROW_MAJOR, doc="Layout of the output."),
                Param("device", DEVICE, doc="Device on which the tensor is allocated."),
                Param(
                    "memory_config",
                    MEMORY_CONFIG,
                    DRAM_MEMORY_CONFIG,
                    doc="Memory configuration of the output on the device.",
                ),
            )
        ),
    ),
    _empty,
    "Create an uninitialized tensor of `shape` on a device.\nShape: `shape` -> [*shape].",
    accuracy=None,
    examples=(),
)

empty_like = _op(
    "empty_like",
    (Signature((_TENSOR,), _OPTIONS),),
    _empty_like,
    "Create an uninitialized device tensor like `tensor`.\nShape: [..., H, W] -> [..., H, W].",
    accuracy=None,
    examples=(),
)

_ARANGE_OPTIONS: Final = (
    Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the output."),
    Param("device", DEVICE, None, doc="Device of the output. Default: the host."),
    Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the output on the device."),
    Param("layout", LAYOUT, Layout.ROW_MAJOR, doc="Layout of the output."),
)
arange = _op(
    "arange",
    (
        Signature(
            (
                Param("start", INTEGER, doc="First value. Default: 0."),
                Param("end", INTEGER, doc="End of the interval, not included."),
                Param("step", INTEGER, 1, doc="Difference between consecutive values."),
            ),
            _ARANGE_OPTIONS,
        ),
        Signature((Param("end", INTEGER),), _ARANGE_OPTIONS, run=_arange_from_zero),
    ),
    _arange,
    "Create a tensor with the values `start`, `start + step`, ... below `end`.\n"
    "Shape: `start`, `end`, `step` -> [ceil((end - start) / step)].",
    golden=golden.arange,
    raises=(("ShapeError", "the interval is empty."),),
    examples=(),
)
