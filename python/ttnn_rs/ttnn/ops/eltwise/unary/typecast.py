"""Conversion between data types.

Floating point types are converted by the unpacker and the packer alone; conversions from and to integers are functions
of the vector unit. Source: operator programs, sections 0.10 and 5.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import DTypeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import max_ulp
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import DATA_TYPE, Param, Signature
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.activations import vector_functions
from ttnn.ops._programs.common import (
    FLOATS,
    INPUT_TENSOR,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    needs_tiles,
)
from ttnn.ops.eltwise.unary.chain import apply_chain, copy_bits
from ttnn.tensor.tensor import Tensor


def cast(
    operator: str,
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """Return a device tensor in another data type.

    Raises:
        UnsupportedError: the vector unit's conversion is not known.
        LayoutError: a row-major tensor to a block float.
    """
    spec = input_tensor._spec
    needs_tiles(operator, dtype, spec.layout)
    if spec.dtype is dtype and dtype not in FLOATS:
        return copy_bits(operator, input_tensor, memory_config, output_tensor)
    steps: list[ChainStep] = []
    if not (spec.dtype in FLOATS and dtype in FLOATS):
        found = _STEPS.get((spec.dtype, dtype))
        if found is None:
            raise UnsupportedError(
                f"{operator}: {spec.dtype.name} to {dtype.name} is not built yet on the device; convert on the host.",
                "unimplemented",
            )
        steps = found
    return apply_chain(
        operator,
        input_tensor,
        steps,
        dtype=dtype,
        memory_config=memory_config,
        output_tensor=output_tensor,
        precise=dtype is DataType.BFLOAT8_B,
        integers=True,
    )


_NAMES: Final = {
    DataType.FLOAT32: "fp32",
    DataType.BFLOAT16: "bf16",
    DataType.BFLOAT8_B: "bf16",
    DataType.BFLOAT4_B: "bf16",
    DataType.INT32: "int32",
    DataType.UINT32: "uint32",
    DataType.UINT16: "uint16",
    DataType.UINT8: "uint8",
}
"""What the vector unit's conversions call the data types; block floats are bfloat16 in Dst."""


def _conversions() -> dict[tuple[DataType, DataType], list[ChainStep]]:
    """Return the vector unit's conversions by source and target."""
    known = vector_functions()
    found: dict[tuple[DataType, DataType], list[ChainStep]] = {}
    for source, name in _NAMES.items():
        for target, into in _NAMES.items():
            # Bytes are 32-bit integers in Dst.
            name = "uint32" if source is DataType.UINT8 else name
            step = (f"typecast_from_{name}", f"{name}_to_{into}")
            if step in known and source is not target and (source in INTEGERS or target in INTEGERS):
                found[source, target] = [step]
    # Between the 32-bit integers, and from bytes to them, the words stay as they are.
    for source in (DataType.INT32, DataType.UINT32, DataType.UINT8):
        for target in (DataType.INT32, DataType.UINT32):
            found[source, target] = []
    return found


_STEPS: Final = _conversions()


def _typecast(
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor._device is None:
        spec = input_tensor._spec
        target = TensorSpec.of(spec.shape, dtype, spec.layout, spec.memory_config, spec.tile)
        return input_tensor._repacked(target, "ttnn.typecast")
    return cast("ttnn.typecast", input_tensor, dtype, memory_config, output_tensor)


def _typecast_from(
    input_tensor: Tensor,
    input_dtype: DataType,
    output_dtype: DataType,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor._spec.dtype is not input_dtype:
        raise DTypeError(
            f"ttnn.typecast: input_dtype is {input_dtype.name}, but the tensor is {input_tensor._spec.dtype.name}."
        )
    return _typecast(input_tensor, output_dtype, memory_config, output_tensor, sub_core_grids)


_OPTIONS: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION)

typecast = register(
    Op(
        name="typecast",
        signatures=(
            Signature((INPUT_TENSOR, Param("dtype", DATA_TYPE, doc="Data type of the result.")), _OPTIONS),
            Signature(
                (
                    INPUT_TENSOR,
                    Param("input_dtype", DATA_TYPE, doc="Data type of the input, checked."),
                    Param("output_dtype", DATA_TYPE, doc="Data type of the result."),
                ),
                _OPTIONS,
                run=_typecast_from,
            ),
        ),
        run=_typecast,
        doc="Return the tensor in another data type, on the side where it lives.",
        source="operator programs, section 5",
        dtypes=tuple(_NAMES),
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.identity,
        accuracy=max_ulp((DataType.FLOAT32, 0), (DataType.BFLOAT16, 0.5)),
        engine=("unary",),
        raises=(
            ("DTypeError", "the input is not of `input_dtype`."),
            ("LayoutError", "a row-major tensor to a block float."),
            ("UnsupportedError", "from or to int8, on the device."),
        ),
    )
)
