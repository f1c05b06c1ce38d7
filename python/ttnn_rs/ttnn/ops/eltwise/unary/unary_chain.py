"""`ttnn.unary_chain`: several functions in one visit to Dst.

Source: TT-NN docs "ttnn.unary_chain".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ttnn.base.activation import Activation, UnaryWithParam, as_unary
from ttnn.base.core_range import CoreRangeSet
from ttnn.base.enums import DataType, Layout, UnaryOpType
from ttnn.base.exceptions import ArgumentError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden.eltwise import unary as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.registry import declare
from ttnn.operation.signature import ACTIVATIONS, Param, Signature
from ttnn.ops._programs.activations import cast_types, chain
from ttnn.ops._programs.common import (
    INPUT_TENSOR,
    INTEGERS,
    MEMORY_CONFIG_OPTION,
    OUTPUT_TENSOR_OPTION,
    SUB_CORE_GRIDS_OPTION,
)
from ttnn.ops._programs.integer_chain import apply_integers, check_chain
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_widening
from ttnn.tensor.tensor import Tensor

_LAYOUTS: Final = (Layout.TILE, Layout.ROW_MAJOR)


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


def _unary_chain(
    input_tensor: Tensor,
    ops_chain: Sequence[Activation],
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    _sub_core_grids: CoreRangeSet | None,
) -> Tensor:
    operator = "ttnn.unary_chain"
    if not ops_chain:
        raise ArgumentError(f"{operator}: ops_chain is empty; pass at least one operator.")
    dtype = input_tensor.spec.dtype
    if dtype in INTEGERS:
        check_chain(operator, ops_chain, dtype)
        return apply_integers(operator, input_tensor, ops_chain, memory_config, output_tensor)
    steps = chain(operator, ops_chain)
    first = as_unary(ops_chain[0])
    # Only a conversion at the begin of a chain decides the data type of the output.
    target = cast_types(operator, first)[1] if first.op_type is UnaryOpType.TYPECAST else None
    refuse_widening(operator, dtype, target or (None if output_tensor is None else output_tensor.spec.dtype), steps)
    return apply_chain(
        operator,
        input_tensor,
        steps,
        dtype=target,
        memory_config=memory_config,
        output_tensor=output_tensor,
        precise=target is DataType.BFLOAT8_B,
    )


unary_chain = _register(
    "unary_chain",
    (
        Signature(
            (
                INPUT_TENSOR,
                Param("ops_chain", ACTIVATIONS, doc="Operators with their parameters, in the order of execution."),
            ),
            _OPTIONS,
        ),
    ),
    _unary_chain,
    "Return `input_tensor` with the functions of `ops_chain` applied in order.\n"
    "Intermediate values stay in Dst; only the output is packed.",
    source="tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary/device/kernels/compute/eltwise_sfpu.cpp`",
    golden=golden.chained,
    accuracy=no_bound("for every function of the chain magnifies the error of those before it by its own slope"),
    raises=(
        ("ArgumentError", "`ops_chain` is empty."),
        ("DTypeError", "a function does not support the integer data type."),
        ("StorageError", "the input is on the host."),
        ("UnsupportedError", "a function is not supported, or a TYPECAST has integers."),
    ),
    examples=(([UnaryOpType.RELU, UnaryOpType.EXP],), ([UnaryWithParam(UnaryOpType.EXP)],)),
)
