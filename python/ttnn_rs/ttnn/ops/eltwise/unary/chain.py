"""Operators on one tensor that run a chain of vector-unit functions in Dst.

Source: operator programs, section 5 (`eltwise_sfpu`); vector unit, "op -> kernel -> defaults".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn import _engine
from ttnn.base.activation import Activation, UnaryWithParam
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import FORMAT_CODE, DataType, Layout, UnaryOpType
from ttnn.base.exceptions import ArgumentError, DTypeError, UnsupportedError, fatal
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import bit_exact, max_ulp, no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import ACTIVATIONS, BOOLEAN, Param, Signature
from ttnn.operation.steps import ChainStep, fixed, flag
from ttnn.ops._programs.activations import chain, vector_functions
from ttnn.ops._programs.common import (
    FLOATS,
    INPUT_TENSOR,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
    WIDE,
    agreed_dtype,
    agreed_memory,
    allocate,
    arch_number,
    full_tiles,
    is_empty,
    on_device,
    result_spec,
    take_output,
)
from ttnn.ops._programs.movement import copy_into, in_rows, like_in_rows
from ttnn.tensor.tensor import Tensor

_LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)
# Functions whose coefficients follow the data type of the tensor, not the width of Dst.
_BY_TENSOR: Final = frozenset({"erf", "i1", "digamma", "softplus", "elu", "celu", "selu"})
_UNSIGNED: Final = frozenset({DataType.UINT32, DataType.UINT16, DataType.UINT8})


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
) -> Tensor:
    """Return the tensor with `chain` applied to every element, in one visit to Dst.

    Args:
        operator: Who asks, for errors.
        input_tensor: On a device.
        chain: Functions in order; empty means only the conversion between the formats.
        dtype: Data type of the result; that of the input if None.
        memory_config: Where the result lives; where the input lives if None.
        output_tensor: Takes the result if given.
        precise: Block floats are packed without the 6-bit intermediate step, as `typecast` does.
        integers: The chain is one for integers.

    Raises:
        UnsupportedError: the chain is not one for integers, or the engine does not have it.
    """
    device = on_device(operator, input_tensor)
    full_tiles(operator, input_tensor)
    spec = input_tensor._spec
    dtype = agreed_dtype(operator, dtype, output_tensor, spec.dtype)
    if not integers and (spec.dtype not in FLOATS or dtype not in FLOATS):
        raise UnsupportedError(f"{operator}: {spec.dtype.name} to {dtype.name} is not built yet.", "unimplemented")
    for name, variant, *_ in chain:
        if (name, variant) not in vector_functions():
            raise UnsupportedError(f"{operator}: the vector-unit function {name}/{variant} is not built yet.")
    if output_tensor is None:
        output = allocate(result_spec(spec, spec.shape._dims, dtype, memory_config), device)
    else:
        agreed_memory(operator, memory_config, output_tensor, spec.memory_config)
        output = take_output(operator, output_tensor, spec.shape, spec.layout, device)
    if is_empty(spec):
        return output
    source, target = input_tensor, output
    if spec._page_shape != output._spec._page_shape:
        # One of them cuts rows, at other columns than the other.
        source, target = in_rows(input_tensor), like_in_rows(output)
    assert source._buffer is not None
    assert target._buffer is not None
    _engine.unary(
        source._buffer,
        target._buffer,
        formats=(FORMAT_CODE[spec.dtype], FORMAT_CODE[dtype]),
        chain=chain,
        # Bytes need the whole words of a 32-bit Dst.
        dst32=spec.dtype in WIDE or dtype in WIDE or spec.dtype is DataType.UINT8,
        tiled=spec.layout is Layout.TILE,
        precise=precise,
        arch=arch_number(device),
    )
    if target is not output:
        copy_into(target, output)
    return output


def copy_bits(
    operator: str, input_tensor: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None = None
) -> Tensor:
    """Return a copy with the same bits, for functions that leave a data type's values as they are."""
    device = on_device(operator, input_tensor)
    spec = input_tensor._spec
    memory_config = agreed_memory(operator, memory_config, output_tensor, spec.memory_config)
    dtype = agreed_dtype(operator, None, output_tensor, spec.dtype)
    if dtype is not spec.dtype:
        raise UnsupportedError(f"{operator}: {spec.dtype.name} to {dtype.name} is not built yet.", "unimplemented")
    if output_tensor is None:
        output = allocate(spec.with_memory_config(memory_config), device)
    else:
        output = take_output(operator, output_tensor, spec.shape, spec.layout, device)
    if output is not input_tensor and not is_empty(spec):
        copy_into(input_tensor, output)
    return output


def follows_tensor(chain: Sequence[ChainStep]) -> str | None:
    """Return the first function of a chain whose coefficients follow the data type of the tensor."""
    return next((name for name, *_ in chain if name in _BY_TENSOR), None)


def refuse_widening(operator: str, dtype: DataType, output_tensor: Tensor | None, chain: Sequence[ChainStep]) -> None:
    """Refuse functions of 16-bit tensors in a 32-bit Dst where their coefficients are not those of float32.

    Raises:
        UnsupportedError: `output_tensor` is float32, the input is not, and a function of the chain is one of these.
    """
    widens = output_tensor is not None and output_tensor._spec.dtype is DataType.FLOAT32 is not dtype
    if widens and follows_tensor(chain):
        raise UnsupportedError(f"{operator}: {dtype.name} with a float32 output_tensor is not modelled.", "untested")


def _refuse_integers(operator: str, op_type: UnaryOpType, dtype: DataType) -> None:
    if dtype in INTEGERS:
        raise fatal(
            DTypeError,
            f"{operator}: input_tensor is {dtype.name}, but the function is defined on floating point only.",
            f"Unary: {op_type.cpp_name} does not support integer input dtype {dtype.cpp_name}",
        )


def _exp(
    input_tensor: Tensor,
    fast_and_approximate_mode: bool,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    _refuse_integers("ttnn.exp", UnaryOpType.EXP, input_tensor._spec.dtype)
    step = ("exp", "approx_clampneg" if fast_and_approximate_mode else "accurate")
    return apply_chain("ttnn.exp", input_tensor, [step], memory_config=memory_config, output_tensor=output_tensor)


def _relu(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    dtype = input_tensor._spec.dtype
    if dtype in _UNSIGNED:
        return copy_bits("ttnn.relu", input_tensor, memory_config, output_tensor)
    step = ("relu_int32", "int32") if dtype is DataType.INT32 else ("relu", "relu")
    return apply_chain(
        "ttnn.relu",
        input_tensor,
        [step],
        memory_config=memory_config,
        output_tensor=output_tensor,
        integers=dtype is DataType.INT32,
    )


def _identity(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    if input_tensor._spec.dtype in INTEGERS:
        return copy_bits("ttnn.identity", input_tensor, memory_config, output_tensor)
    return apply_chain(
        "ttnn.identity",
        input_tensor,
        [("identity", "default")],
        memory_config=memory_config,
        output_tensor=output_tensor,
    )


_OPTIONS: Final = (MEMORY_CONFIG_OPTION, OUTPUT_TENSOR_OPTION, SUB_CORE_GRIDS_OPTION)
_FLOAT_INPUTS: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B, DataType.FLOAT32)

_register: Final = partial(
    declare,
    dtypes=_FLOAT_INPUTS,
    layouts=_LAYOUTS,
    engine=("unary",),
    family="unary",
    raises=(("StorageError", "the input is on the host."),),
)

exp = _register(
    "exp",
    (
        Signature(
            (INPUT_TENSOR,),
            (
                Param(
                    "fast_and_approximate_mode",
                    BOOLEAN,
                    False,
                    doc="Use the approximate exponential, exact to about 1 part in 30.",
                ),
                *_OPTIONS,
            ),
        ),
    ),
    _exp,
    "Return e to the power of every element.",
    source="vector unit listings exp/accurate and exp/approx_clampneg",
    golden=golden.exp,
    accuracy=max_ulp((DataType.BFLOAT16, 1), (DataType.FLOAT32, 2)),
    raises=(("DTypeError", "the input holds integers."), ("StorageError", "the input is on the host.")),
    steps={UnaryOpType.EXP: flag("exp", "accurate", "approx_clampneg")},
)

relu = _register(
    "relu",
    (Signature((INPUT_TENSOR,), _OPTIONS),),
    _relu,
    "Return every element where it is positive and 0 elsewhere.",
    source="vector unit listing relu/relu",
    dtypes=(*_FLOAT_INPUTS, DataType.UINT32, DataType.UINT16, DataType.UINT8),
    golden=golden.relu,
    accuracy=bit_exact(),
    steps={UnaryOpType.RELU: fixed("relu", "relu")},
)

identity = _register(
    "identity",
    (Signature((INPUT_TENSOR,), _OPTIONS),),
    _identity,
    "Return a copy that has passed through Dst.",
    source="vector unit listing identity/default",
    dtypes=(*_FLOAT_INPUTS, DataType.INT32, DataType.UINT32, DataType.UINT16, DataType.UINT8),
    golden=golden.identity,
    accuracy=bit_exact(),
    steps={UnaryOpType.IDENTITY: fixed("identity")},
)


def _unary_chain(
    input_tensor: Tensor,
    ops_chain: Sequence[Activation],
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.unary_chain"
    if not ops_chain:
        raise ArgumentError(f"{operator}: ops_chain is empty; give at least one operator.")
    dtype = input_tensor._spec.dtype
    if dtype in INTEGERS:
        # Imported here: functions of integers are operators, which need this module.
        from ttnn.ops._programs.integer_chain import apply_integers, check_chain

        check_chain(operator, ops_chain, dtype)
        return apply_integers(operator, input_tensor, ops_chain, memory_config, output_tensor)
    steps = chain(operator, ops_chain)
    refuse_widening(operator, dtype, output_tensor, steps)
    return apply_chain(operator, input_tensor, steps, memory_config=memory_config, output_tensor=output_tensor)


unary_chain = _register(
    "unary_chain",
    (
        Signature(
            (INPUT_TENSOR, Param("ops_chain", ACTIVATIONS, doc="Operators with their parameters, in order.")),
            _OPTIONS,
        ),
    ),
    _unary_chain,
    "Return every element with several functions applied in one visit to Dst.",
    source="operator programs, section 5",
    golden=golden.chained,
    accuracy=no_bound("for every function of the chain magnifies the error of those before it by its own slope"),
    raises=(
        ("ArgumentError", "the chain is empty."),
        ("DTypeError", "a function that does not take the input's integers."),
        ("StorageError", "the input is on the host."),
        ("UnsupportedError", "a function that the engine does not have."),
    ),
    examples=(([UnaryOpType.RELU, UnaryOpType.EXP],), ([UnaryWithParam(UnaryOpType.EXP)],)),
)
