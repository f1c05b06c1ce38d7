"""Programs of element-wise functions: SFPU chains in one visit to Dst.

Source: tt-metal, `eltwise_sfpu.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.enums import FORMAT_CODE, DataType, Layout, UnaryOpType
from ttnn.base.exceptions import DTypeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.result_shards import of_one
from ttnn.operation.steps import ChainStep
from ttnn.ops._programs.activations import sfpu_functions
from ttnn.ops._programs.common import (
    FLOATS,
    INTEGERS,
    WIDE,
    agreed_dtype,
    allocate,
    full_tiles,
    is_empty,
    memory_of_result,
    on_device,
    result_spec,
    take_output,
)
from ttnn.ops._programs.element_map import copy_into, in_rows, like_in_rows
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

# Functions whose coefficients follow the data type of the tensor, not the width of Dst.
_BY_TENSOR: Final = frozenset({"erf", "i1", "digamma", "softplus", "elu", "celu", "selu"})


def apply_chain(
    operator: str,
    input_tensor: Tensor,
    chain: list[ChainStep],
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    precise: bool = False,
    integers: bool = False,
    dst32: bool | None = None,
) -> Tensor:
    """Return the tensor with `chain` applied element-wise, in one visit to Dst.

    Args:
        operator: Who asks, for errors.
        input_tensor: On a device.
        chain: Functions in order; empty means only the conversion between the formats.
        dtype: Data type of the result; that of the input if None.
        memory_config: Where the result lives; where the input lives if None.
        output_tensor: Takes the result if given.
        precise: Block floats are packed without the 6-bit intermediate step, as `typecast` does.
        integers: The chain is one for integers.
        dst32: Width of Dst; if None, 32 bits for data types of 32 bits and bytes.

    Raises:
        UnsupportedError: the chain is not one for integers, or the engine does not have it.
    """
    device = on_device(operator, input_tensor)
    full_tiles(operator, input_tensor)
    spec = input_tensor.spec
    dtype = agreed_dtype(operator, dtype, output_tensor, spec.dtype)
    if not integers and (spec.dtype not in FLOATS or dtype not in FLOATS):
        raise UnsupportedError(f"{operator}: {spec.dtype.name} to {dtype.name} is not implemented.", "unimplemented")
    for name, variant, *_ in chain:
        if (name, variant) not in sfpu_functions():
            raise UnsupportedError(f"{operator}: the SFPU function {name}/{variant} is not implemented.")
    if output_tensor is None:
        place = None if memory_config is None else of_one(spec, memory_config, device)
        output = allocate(result_spec(spec, spec.shape._dims, dtype, place), device)
    else:
        output = take_output(operator, output_tensor, spec.shape, spec.layout, device)
    if is_empty(spec):
        return output
    source, target = input_tensor, output
    if spec._page_shape != output.spec._page_shape:
        # One of them cuts rows, at other columns than the other.
        source, target = in_rows(input_tensor), like_in_rows(output)
    assert source.buffer is not None
    assert target.buffer is not None
    if dst32 is None:
        dst32 = spec.dtype in WIDE or dtype in WIDE or DataType.UINT8 in (spec.dtype, dtype)
    engine_steps.unary(
        source.buffer,
        target.buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[dtype]),
        chain=chain,
        dst32=dst32,
        tiled=spec.layout is Layout.TILE,
        precise=precise,
    )
    if target is not output:
        copy_into(target, output)
    return output


def copy_bits(
    operator: str, input_tensor: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None = None
) -> Tensor:
    """Return a copy with the same bits.

    For functions that leave the values of a data type as they are.
    """
    device = on_device(operator, input_tensor)
    spec = input_tensor.spec
    memory_config = memory_of_result(memory_config, output_tensor, spec.memory_config)
    dtype = agreed_dtype(operator, None, output_tensor, spec.dtype)
    if dtype is not spec.dtype:
        raise UnsupportedError(f"{operator}: {spec.dtype.name} to {dtype.name} is not implemented.", "unimplemented")
    if output_tensor is None:
        output = allocate(spec.with_memory_config(of_one(spec, memory_config, device)), device)
    else:
        output = take_output(operator, output_tensor, spec.shape, spec.layout, device)
    if output is not input_tensor and not is_empty(spec):
        copy_into(input_tensor, output)
    return output


def follows_tensor(chain: Sequence[ChainStep]) -> str | None:
    """Return the first function whose coefficients follow the tensor's data type."""
    return next((name for name, *_ in chain if name in _BY_TENSOR), None)


def refuse_widening(operator: str, dtype: DataType, target: DataType | None, chain: Sequence[ChainStep]) -> None:
    """Refuse 16-bit functions in a 32-bit Dst with coefficients other than float32's.

    Raises:
        UnsupportedError: `target`, the output's data type, is float32, the input is not, and a function of the chain
            is one of these.
    """
    if target is DataType.FLOAT32 is not dtype and follows_tensor(chain):
        raise UnsupportedError(f"{operator}: {dtype.name} with a float32 output_tensor is not modelled.", "untested")


def refuse_integers(operator: str, op_type: UnaryOpType, dtype: DataType) -> None:
    """Refuse integers where the chip does.

    Raises:
        DTypeError: `dtype` is one.
    """
    if dtype in INTEGERS:
        raise DTypeError(
            f"{operator}: input_tensor is {dtype.name}, which the function does not support.",
            vendor=f"Unary: {op_type.cpp_name} does not support integer input dtype {dtype.cpp_name}",
        )
