"""Conversion between data types.

Floating point types are converted by the unpacker and the packer alone; conversions from and to integers are functions
of the SFPU. Source: tt-metal `ttnn/cpp/ttnn/operations/copy/typecast`.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, MemoryConfigError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec, require_allocatable
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, TENSOR, Param, Signature
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    on_device,
)
from ttnn.ops._programs.typecast import CASTABLE, cast, cast_by_copy
from ttnn.tensor.tensor import Tensor


def _typecast(
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor._device is None:
        spec = input_tensor.spec
        target = TensorSpec.of(spec.shape, dtype, spec.layout, spec.memory_config, spec.tile)
        return input_tensor._repacked(target, "ttnn.typecast")
    if output_tensor is None and memory_config is not None:
        _check_place(input_tensor, dtype, memory_config)
    return cast("ttnn.typecast", input_tensor, dtype, memory_config, output_tensor)


def _check_place(tensor: Tensor, dtype: DataType, memory_config: MemoryConfig) -> None:
    """Refuse a memory config with pages in other cores.

    They have to lie in the same cores as those of the operand.

    Raises:
        MemoryConfigError: shards of another kind, or without cores.
    """
    spec, layout = tensor.spec, memory_config.memory_layout
    require_allocatable(TensorSpec.of(spec.shape, dtype, spec.layout, memory_config))
    if spec.memory_config.memory_layout is not layout:
        raise MemoryConfigError(
            f"ttnn.typecast: input_tensor is {spec.memory_config.memory_layout.name}, memory_config {layout.name}; "
            "move the tensor with ttnn.to_memory_config.",
            vendor="Typecast operation requires Input and Output memory layout to match. Input layout: "
            f"{spec.memory_config.memory_layout.cpp_name}, Output layout: {layout.cpp_name}",
        )


def _typecast_from(
    input_tensor: Tensor,
    input_dtype: DataType,
    output_dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor.spec.dtype is not input_dtype:
        raise DTypeError(
            f"ttnn.typecast: input_dtype is {input_dtype.name}, but the tensor is {input_tensor.spec.dtype.name}."
        )
    return _typecast(input_tensor, output_dtype, memory_config, output_tensor, sub_core_grids)


_OPTIONS: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION)


def _examples(_shape: tuple[int, ...], layout: Layout) -> list[tuple[DataType]]:
    blocks = (DataType.BFLOAT8_B, DataType.BFLOAT4_B) if layout is Layout.TILE else ()
    return [(target,) for target in (DataType.BFLOAT16, DataType.FLOAT32, *blocks)]


typecast = register(
    Op(
        name="typecast",
        signatures=(
            Signature((INPUT_TENSOR, Param("dtype", DATA_TYPE, doc="Data type of the output.")), _OPTIONS),
            Signature(
                (
                    INPUT_TENSOR,
                    Param("input_dtype", DATA_TYPE, doc="Data type of the input. It is checked."),
                    Param("output_dtype", DATA_TYPE, doc="Data type of the output."),
                ),
                _OPTIONS,
                run=_typecast_from,
            ),
        ),
        run=_typecast,
        doc="Return `input_tensor` converted to another data type, on its host or device.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/copy/typecast`",
        dtypes=tuple(CASTABLE),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.identity,
        accuracy=max_ulp((DataType.FLOAT32, 0), (DataType.BFLOAT16, 0.5)),
        engine=("unary",),
        raises=(
            ("DTypeError", "the input is not of `input_dtype`."),
            ("MemoryConfigError", "`memory_config` has shards of another kind than the input, or none."),
            ("LayoutError", "the input is row-major and the output a block float."),
            ("UnsupportedError", "the conversion is from or to int8 on a device."),
        ),
        examples=_examples,
    )
)


def _experimental(
    input_tensor: Tensor, dtype: DataType, memory_config: MemoryConfig | None, optional_output_tensor: Tensor | None
) -> Tensor:
    name = "ttnn.experimental.typecast"
    on_device(name, input_tensor)
    return cast_by_copy(name, input_tensor, dtype, memory_config, optional_output_tensor)


experimental_typecast = register(
    Op(
        name="experimental.typecast",
        signatures=(
            Signature(
                (
                    INPUT_TENSOR,
                    Param("dtype", DATA_TYPE, doc="Data type of the output."),
                    MEMORY_CONFIG_OPTION,
                    Param("optional_output_tensor", TENSOR, None, doc="Preallocated output, of the output's shape."),
                )
            ),
        ),
        run=_experimental,
        doc="Return a copy of `input_tensor` in another data type.\nShape: [..., H, W] -> [..., H, W]. Floating-point "
        "values are converted as by `ttnn.clone`: float32 is cut to bfloat16.",
        source="tt-metal `ttnn/cpp/ttnn/operations/copy/typecast`",
        dtypes=tuple(CASTABLE),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.identity,
        accuracy=max_ulp((DataType.FLOAT32, 0), (DataType.BFLOAT16, 1)),
        engine=("unary",),
        raises=(
            ("LayoutError", "the input is row-major and the output a block float."),
            ("UnsupportedError", "the conversion is from or to int8."),
            ("DTypeError", "`optional_output_tensor` is not of `dtype`."),
        ),
        examples=_examples,
    )
)
