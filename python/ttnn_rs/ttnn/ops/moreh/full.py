"""`moreh_full` and `moreh_full_like`: filled tensors.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ttnn.base.enums import DataType, Layout
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, MemoryConfig
from ttnn.base.shape import ShapeLike
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import moreh as golden
from ttnn.operation.accuracy import bit_exact
from ttnn.operation.registry import declare
from ttnn.operation.signature import (
    DATA_TYPE,
    DEVICE,
    FILL_VALUE,
    INT_SEQUENCE,
    LAYOUT,
    MEMORY_CONFIG,
    TENSOR,
    Param,
    Signature,
)
from ttnn.ops._programs.common import MEMORY_CONFIG_OPTION, count_program, on_device
from ttnn.ops.creation.filled import filled
from ttnn.tensor.tensor import Tensor

_FILLED: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32)


def _full(
    shape: ShapeLike,
    fill_value: float,
    device: MeshDevice,
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
) -> Tensor:
    result = filled("ttnn.moreh_full", shape, fill_value, dtype, layout, device, memory_config)
    count_program(device, "moreh_full", fill_value, result.spec)
    return result


def _full_like(
    input: Tensor,
    fill_value: float,
    dtype: DataType | None,
    layout: Layout | None,
    memory_config: MemoryConfig | None,
) -> Tensor:
    name = "ttnn.moreh_full_like"
    device = on_device(name, input, "input")
    spec = input.spec
    place = memory_config or spec.memory_config
    return filled(name, spec.shape, fill_value, dtype or spec.dtype, layout or spec.layout, device, place)


_PLACE: Final = Param("memory_config", MEMORY_CONFIG, DRAM_MEMORY_CONFIG, doc="Memory configuration of the output.")


_VALUE: Final = Param("fill_value", FILL_VALUE, doc="What every element holds.")


_declare: Final = partial(declare, source="tt-metal `ttnn/cpp/ttnn/operations/moreh`")


moreh_full = _declare(
    "moreh_full",
    (
        Signature(
            (
                Param("shape", INT_SEQUENCE, doc="Shape of the output."),
                _VALUE,
                Param("device", DEVICE, doc="Device on which the tensor is made."),
            ),
            (
                Param("dtype", DATA_TYPE, DataType.BFLOAT16, doc="Data type of the output.", example=DataType.FLOAT32),
                Param("layout", LAYOUT, Layout.TILE, doc="Layout of the output."),
                _PLACE,
            ),
        ),
    ),
    _full,
    "Create a tensor of `shape` with every element set to `fill_value`.\nShape: `shape` -> [*shape].",
    dtypes=_FILLED,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.moreh_full,
    accuracy=bit_exact(),
    engine=("fill",),
    raises=(("DTypeError", "`fill_value` is out of range of the data type."),),
    examples=(),
)


moreh_full_like = _declare(
    "moreh_full_like",
    (
        Signature(
            (
                Param("input", TENSOR, doc="[...] on a device."),
                _VALUE,
                Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of the input."),
                Param("layout", LAYOUT, None, doc="Layout of the output. Default: that of the input."),
                MEMORY_CONFIG_OPTION,
            )
        ),
    ),
    _full_like,
    "Create a tensor like `input` with every element set to `fill_value`.\nShape: [...] -> [...].",
    dtypes=_FILLED,
    layouts=(Layout.TILE, Layout.ROW_MAJOR),
    golden=golden.moreh_full_like,
    accuracy=bit_exact(),
    engine=("fill",),
    raises=(("DTypeError", "`fill_value` is out of range of the data type."),),
    examples=((3.0,),),
)
