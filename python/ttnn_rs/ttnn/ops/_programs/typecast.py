"""The program of a conversion between data types.

Floating point types are converted by the unpacker and the packer alone; conversions from and to integers are SFPU
functions.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.enums import DataType
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.activations import sfpu_functions
from ttnn.ops._programs.common import (
    FLOATS,
    INTEGERS,
    needs_tiles,
)
from ttnn.ops._programs.sfpu_chain import apply_chain, copy_bits
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
        UnsupportedError: the SFPU's conversion is not known.
        LayoutError: a row-major tensor to a block float.
    """
    spec = input_tensor.spec
    needs_tiles(operator, dtype, spec.layout)
    if spec.dtype is dtype and dtype not in FLOATS:
        return copy_bits(operator, input_tensor, memory_config, output_tensor)
    steps: list[ChainStep] = []
    if not (spec.dtype in FLOATS and dtype in FLOATS):
        found = _STEPS.get((spec.dtype, dtype))
        if found is None:
            raise UnsupportedError(
                f"{operator}: {spec.dtype.name} to {dtype.name} is not implemented on the device; convert on the host.",
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


def cast_by_copy(
    operator: str,
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    *,
    dst32: bool = False,
) -> Tensor:
    """Return a device tensor in another data type, converted as by copies.

    Their programs have no SFPU function and a 16-bit Dst, which cuts float32 to bfloat16, and pack block floats with
    the 6-bit intermediate step. Integers are converted as `cast` does.
    """
    needs_tiles(operator, dtype, input_tensor.spec.layout)
    if input_tensor.spec.dtype is dtype:
        return copy_bits(operator, input_tensor, memory_config, output_tensor)
    if input_tensor.spec.dtype not in FLOATS or dtype not in FLOATS:
        return cast(operator, input_tensor, dtype, memory_config, output_tensor)
    return apply_chain(
        operator,
        input_tensor,
        [],
        dtype=dtype,
        memory_config=memory_config,
        output_tensor=output_tensor,
        dst32=dst32,
    )


def conversion(source: DataType, target: DataType) -> list[ChainStep]:
    """Return the SFPU's conversion of integers in Dst; none between floating-point types."""
    return _STEPS.get((source, target), [])


CASTABLE: Final = {
    DataType.FLOAT32: "fp32",
    DataType.BFLOAT16: "bf16",
    DataType.BFLOAT8_B: "bf16",
    DataType.BFLOAT4_B: "bf16",
    DataType.INT32: "int32",
    DataType.UINT32: "uint32",
    DataType.UINT16: "uint16",
    DataType.UINT8: "uint8",
}
"""Data type names in SFPU conversions; block floats are bfloat16 in Dst."""


def _conversions() -> dict[tuple[DataType, DataType], list[ChainStep]]:
    """Return the SFPU's conversions by source and target."""
    known = sfpu_functions()
    found: dict[tuple[DataType, DataType], list[ChainStep]] = {}
    for source, name in CASTABLE.items():
        for target, into in CASTABLE.items():
            # Bytes are 32-bit integers in Dst.
            name = "uint32" if source is DataType.UINT8 else name
            step = (f"typecast_from_{name}", f"{name}_to_{into}")
            if step in known and source is not target and (source in INTEGERS or target in INTEGERS):
                found[source, target] = [step]
    # Between the 32-bit integers, and from bytes to them, the bits stay as they are.
    for source in (DataType.INT32, DataType.UINT32, DataType.UINT8):
        for target in (DataType.INT32, DataType.UINT32):
            found[source, target] = []
    return found


_STEPS: Final = _conversions()
