"""Checks of binary operators: mismatched data types, shapes and scalars."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from ttnn.base.enums import BinaryOpType, DataType
from ttnn.base.exceptions import DTypeError, ShapeError, UnsupportedError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.operation.registry import find
from ttnn.ops._programs.common import FLOATS, INTEGER_RANGE, INTEGERS
from ttnn.ops._programs.typecast import conversion
from ttnn.ops.eltwise.binary.program import CAST_NAMES, Arithmetic

_LARGEST_RANK: Final = 8
_EVEN_BEYOND: Final = 5


def on_host(label: str) -> str:
    """Return the official sentence about an operand on the host."""
    return f"Input tensor {label} must be on device, got storage type: StorageType::HOST"


TILES_DO_NOT_FIT: Final = "Invalid subtile broadcast type"
"""The official sentence for tiles of other sizes."""


@lru_cache(maxsize=4096)
def broadcast(operator: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the result.

    Raises:
        ShapeError: the shapes do not fit each other.
    """
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    # Tiles first, then dimension by dimension from the last.
    vendor = "" if _tiles_fit((1, 1, *a)[-2:], (1, 1, *b)[-2:]) else TILES_DO_NOT_FIT
    out = []
    for axis in range(rank - 1, -1, -1):
        m, n = left[axis], right[axis]
        if m != n and 1 not in (m, n):
            raise ShapeError(
                f"{operator}: cannot broadcast {list(a)} with {list(b)}: dimension {axis - rank} is {m} and {n}.",
                vendor=vendor
                or f"Broadcasting rule violation at dimension index {axis - rank} (output rank {rank}), dim a: {m}, "
                f"dim b: {n}",
            )
        out.append(n if m == 1 else m)
    return tuple(reversed(out))


def _tiles_fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Return True if tiles of both operands fit each other.

    Tiles of one operand are used as they are, or one row or column of either is repeated.
    """
    return a == b or 1 in (*a, *b)


def check_broadcast(operator: str, a: TensorSpec, b: TensorSpec, shape: tuple[int, ...]) -> None:
    """Reject broadcasting beyond the last five dimensions, and unsupported ranks.

    Raises:
        ShapeError: the operands differ before their last five dimensions.
        UnsupportedError: the rank is not supported.
    """
    dims_a, dims_b = a.shape._dims, b.shape._dims
    if dims_a == dims_b:
        return
    rank = len(shape)
    for axis in range(rank - _EVEN_BEYOND):
        m, n = ((1,) * (rank - len(dims)) + dims for dims in (dims_a, dims_b))
        if m[axis] != n[axis]:
            raise ShapeError(
                f"{operator}: cannot broadcast {list(dims_a)} with {list(dims_b)}: dimension {axis - rank} is "
                f"{m[axis]} and {n[axis]}; only the last {_EVEN_BEYOND} dimensions are broadcast. Reshape the tensors.",
                vendor=f"Broadcasting rule violation for rank >= 6 at dimension index {axis - rank} (output rank {rank}"
                f"). Broadcast is supported up to rank 5. dim a: {m[axis]}, dim b: {n[axis]}",
            )
    if rank > _LARGEST_RANK:
        raise UnsupportedError(f"{operator}: broadcasting is built up to rank {_LARGEST_RANK}, got {list(shape)}.")


def other_shape(output: TensorSpec, shape: tuple[int, ...]) -> str:
    """Return the official sentence for an `output_tensor` of another shape."""
    return (
        f"Shape of Output tensor {output.shape} provided does not match the broadcasted output shape "
        f"Shape({list(shape)})"
    )


def check_in_place(operator: str, a: TensorSpec, b: TensorSpec, shape: tuple[int, ...]) -> None:
    """Refuse a result larger than the operand it is written into.

    Raises:
        ShapeError: broadcasting would expand the first operand.
    """
    if a.shape._dims != shape:
        raise ShapeError(
            f"{operator}: {a.shape} with {b.shape} gives {list(shape)}, which is larger than input_tensor_a; an "
            "in-place operator cannot broadcast its first operand."
        )


def check_types(arithmetic: Arithmetic, a: DataType, b: DataType) -> None:
    """Refuse data types on which an operator is not defined.

    Raises:
        DTypeError: such a type, or two that do not mix.
    """
    if a not in arithmetic.integers and a not in arithmetic.floats:
        raise not_defined(arithmetic, a)
    if b not in arithmetic.integers and b not in arithmetic.floats:
        raise not_defined(arithmetic, b, "b")
    mixes = arithmetic.mixes_floats and a in FLOATS and b in FLOATS
    if a is not b and not mixes:
        raise DTypeError(
            f"{arithmetic.name}: the operands are {a.name} and {b.name}; typecast one of them.",
            vendor=f"Mixed dtype is not supported for binary operation {arithmetic.op_type.cpp_name}, dtype A: "
            f"{a.cpp_name}, dtype B: {b.cpp_name}",
        )


def check_type_beside_number(arithmetic: Arithmetic, dtype: DataType) -> None:
    """Refuse a data type that an operator with a number lacks.

    Raises:
        DTypeError: such a type.
    """
    if arithmetic.op_type in _OF_BITS and dtype in FLOATS:
        error = not_defined(arithmetic, dtype)
        # Beside a number it is a function of one operand.
        error.vendor = (
            f"Unsupported input dtype for bitwise/shift op_type UnaryOpType::{arithmetic.op_type.name}: expected "
            "Int32, UInt32, or UInt16."
        )
        raise error
    check_types(arithmetic, dtype, dtype)


_OF_BITS: Final = frozenset(
    {
        BinaryOpType.BITWISE_AND,
        BinaryOpType.BITWISE_OR,
        BinaryOpType.BITWISE_XOR,
        BinaryOpType.LEFT_SHIFT,
        BinaryOpType.RIGHT_SHIFT,
    }
)


def not_defined(arithmetic: Arithmetic, dtype: DataType, operand: str = "a") -> DTypeError:
    """Return the error for operands of a data type without the operator."""
    known = ", ".join(of.name for of in DataType if of in arithmetic.floats or of in arithmetic.integers)
    entry = find(arithmetic.name).entry
    # The operands supported in other calls are irrelevant here.
    listed = entry is not None and dtype in entry.dtypes
    return DTypeError(
        f"{arithmetic.name}: input_tensor_{operand} is {dtype.name}"
        f"{f'; operands of this call are {known}.' if listed else ', which the operator does not support.'}",
        vendor=f"Input tensor {operand.upper()} dtype {dtype.cpp_name} is not supported for binary operation "
        f"{arithmetic.op_type.cpp_name}",
    )


def check_scalar(arithmetic: Arithmetic, scalar: float, dtype: DataType, *, cut: bool = False) -> float:
    """Return a number as a value of an integer tensor's data type.

    The official check is of 32-bit integers only; a tile of UINT16 has the lower 16 bits of the integer part.

    Args:
        arithmetic: The operator.
        scalar: The number.
        dtype: Data type of the tensor.
        cut: Whether fractions are cut, as by functions of one operand.

    Raises:
        DTypeError: the number has a fraction, is not finite, or is out of range.
    """
    low, high = INTEGER_RANGE[dtype]
    if math.isfinite(scalar):
        if dtype is DataType.UINT16:
            return float(math.trunc(scalar) & 0xFFFF)
        if cut:
            scalar = float(math.trunc(scalar))
    if not (math.isfinite(scalar) and float(scalar).is_integer() and low <= scalar <= high):
        # The official sentence has six digits, which may look like a number that fits.
        text, given = f"{scalar:g}", int(scalar) if abs(scalar) < 2**53 and float(scalar).is_integer() else scalar
        raise DTypeError(
            f"{arithmetic.name}: {given} is not a value of {dtype.name} ({low} to {high}).",
            vendor=f"Binary operation {arithmetic.op_type.cpp_name} with a {dtype.cpp_name} tensor cannot represent "
            f"the "
            f"scalar {text}: only a finite integer within the range of {dtype.cpp_name} survives being packed as one, "
            "and this value would be changed silently. Typecast the input to a floating-point dtype first.",
        )
    return scalar


def check_result(arithmetic: Arithmetic, operand: DataType, result: DataType) -> None:
    """Refuse results of a data type whose conversion is not known.

    Raises:
        UnsupportedError: such a type.
    """
    if operand in INTEGERS:
        own = arithmetic.integer_result or operand
        known = result is own or bool(conversion(own, result))
    else:
        known = result in FLOATS or result in CAST_NAMES
    if not known:
        raise UnsupportedError(
            f"{arithmetic.name}: {operand.name} operands with a result of {result.name} are not implemented."
        )
