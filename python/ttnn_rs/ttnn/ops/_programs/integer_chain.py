"""Chains of SFPU functions on integers.

They serve unary chains, and activations of binary operators.

Integers fill 32-bit values of Dst and packing leaves them as they are, so that a chain in one visit to Dst has the bits
of as many operators one after the other, and an activation of an operand those of an operator in front.

The official kernel of a chain is chosen function by function, by the data type of the tensor. A unary chain has only
functions that have a kernel for integers. Activations of binary operators are not checked: a function that has none
runs its floating-point kernel on the bit patterns, read as float32. No vector covers that; it is how the sources
of the official kernels read.
Source: TT-NN docs "unary_chain"; tt-metal `ttnn/cpp/ttnn/operations/eltwise/unary`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from ttnn.base.activation import Activation, UnaryWithParam, as_unary
from ttnn.base.enums import DataType, UnaryOpType
from ttnn.base.exceptions import DTypeError, UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.registry import find
from ttnn.operation.steps import ChainStep, word
from ttnn.ops._programs.activations import chain_steps
from ttnn.ops._programs.sfpu_chain import apply_chain, copy_bits, refuse_integers
from ttnn.tensor.tensor import Tensor

_U: Final = UnaryOpType
_INT32: Final = frozenset({DataType.INT32})
_UINT32: Final = frozenset({DataType.UINT32})
_32_BITS: Final = _INT32 | _UINT32
_UNSIGNED: Final = _UINT32 | {DataType.UINT16, DataType.UINT8}
_BUT_BYTES: Final = _32_BITS | {DataType.UINT16}
_ANY: Final = _INT32 | _UNSIGNED

TAKEN: Final[dict[UnaryOpType, tuple[str, frozenset[DataType], int]]] = {
    _U.ABS: ("abs", _UNSIGNED, 0),
    _U.ABS_INT32: ("abs", _INT32, 0),
    _U.CLAMP_TSS: ("clamp", _INT32, 2),
    _U.GEZ: ("gez", _INT32, 0),
    _U.GTZ: ("gtz", _INT32, 0),
    _U.LEZ: ("lez", _INT32, 0),
    _U.LTZ: ("ltz", _INT32, 0),
    _U.NEG: ("neg", _INT32, 0),
    _U.SIGNBIT: ("signbit", _INT32, 0),
    _U.REMAINDER: ("remainder", _UINT32, 1),
    _U.ADD_UNARY_SFPU: ("add", _32_BITS, 1),
    _U.SUB_UNARY_SFPU: ("subtract", _32_BITS, 1),
    _U.RSUB: ("rsub", _32_BITS, 1),
    _U.MAXIMUM: ("maximum", _32_BITS, 1),
    _U.MINIMUM: ("minimum", _32_BITS, 1),
    _U.WHERE_TSS: ("where", _32_BITS, 2),
    _U.BITWISE_AND: ("bitwise_and", _BUT_BYTES, 1),
    _U.BITWISE_OR: ("bitwise_or", _BUT_BYTES, 1),
    _U.BITWISE_XOR: ("bitwise_xor", _BUT_BYTES, 1),
    _U.LEFT_SHIFT: ("bitwise_left_shift", _BUT_BYTES, 1),
    _U.RIGHT_SHIFT: ("bitwise_right_shift", _BUT_BYTES, 1),
    _U.EQZ: ("eqz", _BUT_BYTES, 0),
    _U.NEZ: ("nez", _BUT_BYTES, 0),
    _U.LOGICAL_NOT_UNARY: ("logical_not", _BUT_BYTES, 0),
    _U.FILL: ("fill", _BUT_BYTES, 1),
    _U.SQUARE: ("square", _BUT_BYTES, 0),
    _U.BITWISE_NOT: ("bitwise_not", _32_BITS, 0),
    _U.RELU: ("relu", _ANY, 0),
    _U.RELU6: ("relu6", _ANY, 0),
    _U.RELU_MAX: ("relu_max", _ANY, 1),
    _U.RELU_MIN: ("relu_min", _ANY, 1),
    _U.IDENTITY: ("identity", _ANY, 0),
}
"""Functions with a kernel for integers.

Each has the operator with the same bits, its data types and its number of parameters.
"""

_COMPARISONS: Final = {
    getattr(_U, f"UNARY_{name.upper()}"): f"unary_{name}_int32" for name in ("eq", "ne", "ge", "gt", "le", "lt")
}
"""Comparisons with a number, of 32-bit integers.

Their kernels compare signed words, and the number is the word of its FP32 bits.
"""


def check_chain(operator: str, functions: Iterable[Activation], dtype: DataType) -> None:
    """Refuse a chain with a function that has no integer kernel.

    Raises:
        DTypeError: as the official validation does.
    """
    for function in functions:
        op_type = as_unary(function).op_type
        if not (_has_kernel(op_type, dtype) or _keeps(op_type, dtype)):
            refuse_integers(operator, op_type, dtype)


def apply_integers(
    operator: str,
    tensor: Tensor,
    functions: Sequence[Activation],
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """Return a chain of functions of an integer tensor.

    An empty chain returns the tensor itself.

    Raises:
        DTypeError: a parameter is out of the data type's range.
        UnsupportedError: a floating-point function on integers of less than 32 bits, or one that the engine lacks.
    """
    last = len(functions) - 1
    for place, function in enumerate(functions):
        options = (memory_config, output_tensor) if place == last else (memory_config, None)
        tensor = _apply_one(operator, tensor, as_unary(function), *options)
    return tensor


def _has_kernel(op_type: UnaryOpType, dtype: DataType) -> bool:
    if op_type in _COMPARISONS:
        return dtype in _32_BITS
    return op_type in TAKEN and dtype in TAKEN[op_type][1]


def _keeps(op_type: UnaryOpType, dtype: DataType) -> bool:
    """Return True if the function keeps all values of a data type."""
    return op_type is _U.LEAKY_RELU and dtype in _UNSIGNED


def _apply_one(
    operator: str, x: Tensor, function: UnaryWithParam, place: MemoryConfig | None, output: Tensor | None
) -> Tensor:
    op_type, dtype = function.op_type, x.spec.dtype
    if _keeps(op_type, dtype):
        return copy_bits(operator, x, place, output)
    if _has_kernel(op_type, dtype):
        name, _, count = TAKEN.get(op_type, ("", (), 1))
        if len(function.params) != count:
            raise UnsupportedError(f"{operator}: the activation {function!r} takes {count} parameters.")
        if op_type in _COMPARISONS:
            compared: ChainStep = (_COMPARISONS[op_type], "int32", [word(function.params[0])])
            return apply_chain(operator, x, [compared], memory_config=place, output_tensor=output, integers=True)
        numbers = [_whole(operator, function, value) for value in function.params]
        result: Tensor = find(f"ttnn.{name}")(x, *numbers, memory_config=place, output_tensor=output)
        return result
    if dtype not in _32_BITS:
        raise UnsupportedError(
            f"{operator}: the activation {function!r} has no kernel for {dtype.name}, and what one of floating point "
            "sees in a 16-bit Dst is not modelled."
        )
    steps = chain_steps(operator, function)
    return apply_chain(operator, x, steps, memory_config=place, output_tensor=output, integers=True)


def _whole(operator: str, function: UnaryWithParam, value: float) -> int:
    """Return a parameter as the kernel gets it: cut to an integer."""
    if not math.isfinite(value):
        raise DTypeError(f"{operator}: the activation {function!r} has a parameter that is not an integer.")
    return math.trunc(value)
