"""Constant element-wise operations computed, and truth values decided.

Numbers are computed as the official compiler does: in the type of the elements, functions in float32. Results that the
chip does not give (a division by zero) stay operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import SPLAT_CONSTANTS
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FloatAttr, IntegerAttr, IntegerType, Signedness, SSAValue, TensorType
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import typed
from ttnn.compiler.transforms.ttir.canonical.identities import producer
from ttnn.compiler.transforms.ttir.constants import (
    Constant,
    build_constant,
    build_full,
    build_splat,
    constant_of,
    fill_value,
    is_float,
    number_type,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Function = Callable[..., Any]

__all__ = [
    "BINARY",
    "UNARY",
    "binary",
    "clamp",
    "is_truth_value",
    "mirrored",
    "not_bound",
    "prod_of_truth",
    "self_comparison",
    "self_xor",
    "shift_out",
    "splat_comparison",
    "sum_of_splat",
    "truth_and",
    "truth_of_equals",
    "truth_or",
    "typecast",
    "unary",
    "where",
]

FOLD_LIMIT = 1_000_000
"""Largest result of computed constants that are not splats."""


def _functions() -> tuple[dict[str, tuple[Function | None, Function | None]], dict[str, tuple[Any, Any]]]:
    """Return the functions of floats and of integers, by the operation's name."""
    import numpy as np

    def one_of(predicate: Function) -> Function:
        return lambda *given: predicate(*given).astype(given[0].dtype)

    def remainder(a: Array, b: Array) -> Any:
        return np.mod(a, b)

    def quotient(a: Array, b: Array) -> Any:
        return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype) if a.dtype.kind == "i" else a // b

    def right(a: Array, b: Array) -> Any:
        width = 8 * a.dtype.itemsize
        bits = a.view(f"u{a.dtype.itemsize}")
        return (
            np.where(b >= width, 0, bits >> np.minimum(b, width - 1).astype(bits.dtype))
            .astype(bits.dtype)
            .view(a.dtype)
        )

    def left(a: Array, b: Array) -> Any:
        width = 8 * a.dtype.itemsize
        return np.where(b >= width, 0, a << np.minimum(b, width - 1).astype(a.dtype)).astype(a.dtype)

    def isfinite(a: Array) -> Any:
        return np.isfinite(a).astype(a.dtype)

    logical_not = one_of(lambda a: a == 0)
    unary: dict[str, tuple[Function | None, Function | None]] = {
        "abs": (np.abs, np.abs),
        "atan": (np.arctan, None),
        "bitwise_not": (None, np.invert),
        "cbrt": (np.cbrt, None),
        "ceil": (np.ceil, None),
        "cos": (np.cos, None),
        "exp": (np.exp, None),
        "expm1": (np.expm1, None),
        "floor": (np.floor, None),
        "isfinite": (isfinite, None),
        "log": (np.log, None),
        "log1p": (np.log1p, None),
        "logical_not": (logical_not, logical_not),
        "neg": (np.negative, np.negative),
        "reciprocal": (np.reciprocal, None),
        "rsqrt": (lambda a: np.float32(1) / np.sqrt(a), None),
        "sign": (np.sign, np.sign),
        "sin": (np.sin, None),
        "sqrt": (np.sqrt, None),
        "tan": (np.tan, None),
    }
    both = one_of(lambda a, b: (a != 0) & (b != 0))
    either = one_of(lambda a, b: (a != 0) | (b != 0))
    binary = {
        "add": (np.add, np.add),
        "atan2": (np.arctan2, None),
        "bitwise_and": (None, np.bitwise_and),
        "bitwise_or": (None, np.bitwise_or),
        "bitwise_xor": (None, np.bitwise_xor),
        "div": (np.divide, quotient),
        "eq": (one_of(np.equal), one_of(np.equal)),
        "ge": (one_of(np.greater_equal), one_of(np.greater_equal)),
        "gt": (one_of(np.greater), one_of(np.greater)),
        "logical_and": (both, both),
        "logical_left_shift": (None, left),
        "logical_or": (either, either),
        "logical_right_shift": (None, right),
        "maximum": (np.maximum, np.maximum),
        "minimum": (np.minimum, np.minimum),
        "multiply": (np.multiply, np.multiply),
        "ne": (one_of(np.not_equal), one_of(np.not_equal)),
        "pow": (np.power, None),
        "remainder": (remainder, remainder),
        "subtract": (np.subtract, np.subtract),
    }
    return unary, binary


UNARY = (
    "abs", "atan", "bitwise_not", "cbrt", "ceil", "cos", "exp", "expm1", "floor", "isfinite", "log", "log1p",
    "logical_not", "neg", "reciprocal", "rsqrt", "sign", "sin", "sqrt", "tan",
)  # fmt: skip
BINARY = (
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "ge", "gt", "logical_and",
    "logical_left_shift", "logical_or", "logical_right_shift", "maximum", "minimum", "multiply", "ne", "pow",
    "remainder", "subtract",
)  # fmt: skip
_NO_ZERO = {"reciprocal", "rsqrt", "div", "remainder"}


def _compute(function: Function, data: list[Array]) -> Array:
    """Return a function of numbers, in float32 for smaller floats."""
    import numpy as np

    dtype = data[0].dtype
    wide = np.dtype(np.float32) if dtype.kind not in "iub" and dtype.itemsize < 4 else dtype
    with np.errstate(all="ignore"):
        result: Array = np.asarray(function(*(one.astype(wide, copy=False) for one in data)))
        return result.astype(dtype, copy=False)


def _function(op: TableOp, known: dict[str, tuple[Any, Any]], dtype: Any) -> Any:
    float_function, integer_function = known[op.name[5:]]
    return integer_function if dtype.kind in "iub" else float_function


def unary(module: Module, op: TableOp) -> Result:
    """A function of a constant is a constant."""
    given = constant_of(op.inputs[0])
    if given is None or given.type != op.results[0].type or not (given.splat or given.size <= FOLD_LIMIT):
        return None
    function = _function(op, _functions()[0], given.data.dtype)
    if function is None or (op.name[5:] in _NO_ZERO and not given.data.all()):
        return None
    return [build_constant(module, op, given.type, _compute(function, [given.data]))]


def binary(module: Module, op: TableOp) -> Result:
    """A function of two constants is a constant."""
    left, right = (constant_of(one) for one in op.inputs)
    type_ = op.results[0].type
    if left is None or right is None or not isinstance(type_, TensorType):
        return None
    element = type_.element_type
    if left.type.element_type != element or right.type.element_type != element:
        return None
    if not _worth(left, right, type_):
        return None
    short = op.name[5:]
    function = _function(op, _functions()[1], left.data.dtype)
    if function is None or (short in _NO_ZERO and not right.data.all()):
        return None
    if short.endswith("_shift") and left.data.dtype.kind == "i" and (right.data < 0).any():
        return None
    import numpy as np

    result = _compute(function, [left.data, right.data])
    if not (left.splat and right.splat):
        result = np.broadcast_to(result, tuple(type_.get_shape()))
    return [build_constant(module, op, type_, result)]


def _worth(left: Constant, right: Constant, type_: TensorType[Any]) -> bool:
    """Return whether the result is not much larger than the operands."""
    if left.splat and right.splat:
        return True
    if math.prod(type_.get_shape()) > FOLD_LIMIT:
        return False
    if left.splat != right.splat:
        return (right if left.splat else left).type == type_
    return True


def self_xor(module: Module, op: TableOp) -> Result:
    """X ^ x = 0."""
    type_ = op.results[0].type
    if op.inputs[0] is not op.inputs[1] or not isinstance(type_, TensorType):
        return None
    if number_type(type_.element_type) is None:
        return None
    return [_filled(module, op, 0)]


def _filled(module: Module, op: TableOp, number: int) -> SSAValue:
    """Return zeros or ones for an operation's result."""
    if SPLAT_CONSTANTS.of(module.version):
        return build_splat(module, op, op.results[0].type, number)
    return build_full(module, op, op.results[0].type, number)


def shift_out(module: Module, op: TableOp) -> Result:
    """A right shift by the width or more leaves zeros."""
    right = constant_of(op.inputs[1])
    element = op.inputs[0].type.element_type if isinstance(op.inputs[0].type, TensorType) else None
    if right is None or not isinstance(element, IntegerType) or right.data.dtype.kind not in "iu":
        return None
    if (right.data < element.width.data).any():
        return None
    return [_filled(module, op, 0)]


def self_comparison(module: Module, op: TableOp) -> Result:
    """X = x is true, x != x is false.

    As in the official compiler, numbers are assumed not to be NaN.
    """
    if op.inputs[0] is not op.inputs[1]:
        return None
    return [_filled(module, op, int(op.name == "ttir.eq"))]


def splat_comparison(module: Module, op: TableOp) -> Result:
    """Two constants of equal elements are equal or not."""
    left, right = (constant_of(one) for one in op.inputs)
    if left is None or right is None or not (left.splat and right.splat):
        return None
    if left.type.element_type != right.type.element_type:
        return None
    return [_filled(module, op, int((left.data == right.data) == (op.name == "ttir.eq")))]


def mirrored(module: Module, op: TableOp) -> Result:
    """A <= b is b >= a, and a < b is b > a."""
    name = {"ttir.le": "ge", "ttir.lt": "gt"}[op.name]
    return [typed(module, op, name, [op.inputs[1], op.inputs[0]], op.results[0].type)]


_TRUTH = {"eq", "ne", "ge", "gt", "le", "lt", "logical_and", "logical_or", "logical_xor", "logical_not", "isfinite"}


def _number(value: SSAValue) -> float | None:
    attribute = fill_value(value)
    return attribute.value.data if isinstance(attribute, (IntegerAttr, FloatAttr)) else None


def is_truth_value(value: SSAValue) -> bool:
    """Return whether all elements are known to be 0 or 1."""
    type_ = value.type
    if isinstance(type_, TensorType) and type_.element_type == IntegerType(1):
        return True
    if _number(value) in (0, 1):
        return True
    owner = owner_of(value)
    return owner is not None and owner.name.startswith("ttir.") and owner.name[5:] in _TRUTH


def _decided(module: Module, op: TableOp, absorbing: bool) -> Result:
    numbers = [_number(one) for one in op.inputs]
    if any(number is not None and bool(number) is absorbing for number in numbers):
        return [_filled(module, op, int(absorbing))]
    for number, other in ((numbers[0], op.inputs[1]), (numbers[1], op.inputs[0])):
        if number is not None and is_truth_value(other) and other.type == op.results[0].type:
            return [other]
    return None


def truth_and(module: Module, op: TableOp) -> Result:
    """0 and x is 0; 1 and x is x; truth values."""
    return _decided(module, op, absorbing=False)


def truth_or(module: Module, op: TableOp) -> Result:
    """1 or x is 1; 0 or x is x; truth values."""
    return _decided(module, op, absorbing=True)


def truth_of_equals(module: Module, op: TableOp) -> Result:
    """An operand with itself: whether it is not zero.

    Only a truth value is that itself.
    """
    value, type_ = op.inputs[0], op.results[0].type
    if value is not op.inputs[1]:
        return None
    if is_truth_value(value) and value.type == type_:
        return [value]
    return [typed(module, op, "ne", [value, build_splat(module, op, value.type, 0)], type_)]


def where(module: Module, op: TableOp) -> Result:
    """A choice of which the condition is known is decided."""
    del module
    number = _number(op.inputs[0])
    if number is None:
        return None
    chosen = op.inputs[1] if number else op.inputs[2]
    return [chosen] if chosen.type == op.results[0].type else None


def prod_of_truth(module: Module, op: TableOp) -> Result:
    """The product of truth values is their minimum."""
    if not is_truth_value(op.inputs[0]):
        return None
    return [typed(module, op, "min", list(op.inputs), op.results[0].type, **op.properties)]


def sum_of_splat(module: Module, op: TableOp) -> Result:
    """The sum of equal numbers is a product."""
    import numpy as np

    given = constant_of(op.inputs[0])
    type_ = op.results[0].type
    if given is None or not given.splat or not isinstance(type_, TensorType):
        return None
    count = int(np.prod(shape_of(op.results[0]), dtype=np.int64))
    if type_.element_type != given.type.element_type or not count or given.data.dtype == np.bool_:
        return None
    times = np.asarray(given.size // count).astype(given.data.dtype)
    return [build_constant(module, op, type_, _compute(np.multiply, [given.data, times]))]


def typecast(module: Module, op: TableOp) -> Result:
    """A constant is converted if the number fits the other type."""
    import numpy as np

    given = constant_of(op.inputs[0])
    type_ = op.results[0].type
    if given is None or not isinstance(type_, TensorType) or not (given.splat or given.size <= FOLD_LIMIT):
        return None
    target = number_type(type_.element_type)
    if target is None:
        return None
    data = given.data
    wide = data.astype(np.float64) if is_float(given.type.element_type) else data.astype(object)
    if is_float(type_.element_type):
        with np.errstate(all="ignore"):
            result = np.asarray(wide, dtype=np.float64).astype(target)
        fits = np.isfinite(result.astype(np.float64)) | ~np.isfinite(np.asarray(wide, dtype=np.float64))
        if not fits.all() or np.isnan(np.asarray(wide, dtype=np.float64)).any():
            return None
        return [build_constant(module, op, type_, result)]
    if is_float(given.type.element_type):
        if not np.isfinite(wide).all():
            return None
        wide = np.trunc(wide)
    low, high = _range(given.type.element_type, type_.element_type)
    if (wide < low).any() if wide.size else False:
        return None
    if (wide > high).any() if wide.size else False:
        return None
    return [build_constant(module, op, type_, wide.astype(target))]


def _range(source: Any, target: Any) -> tuple[int, int]:
    """Return integers of a type, whichever sign it has."""
    width, sign = target.width.data, target.signedness.data
    if width == 1:
        return 0, 1
    if sign is Signedness.UNSIGNED:
        return 0, (1 << width) - 1
    high = (1 << (width - 1)) - 1
    if sign is Signedness.SIGNED or is_float(source):
        return -high - 1, high
    return 0, high


def clamp(module: Module, op: TableOp) -> Result:
    """A constant is clamped."""
    import numpy as np

    given = constant_of(op.inputs[0])
    if given is None or given.type != op.results[0].type or not (given.splat or given.size <= FOLD_LIMIT):
        return None
    dtype = given.data.dtype
    low, high = (np.asarray(op.get(name)).astype(dtype) for name in ("min", "max"))
    return [build_constant(module, op, given.type, np.minimum(np.maximum(given.data, low), high).astype(dtype))]


def not_bound(module: Module, op: TableOp) -> Result:
    """Two consecutive clamps are one; [0, 6] is relu6.

    If nobody else needs the first.
    """
    first = producer(op.inputs[0], "clamp_scalar")
    low, high = op.properties["min"], op.properties["max"]
    if first is not None and first.results[0].has_one_use():
        low = max(low, first.properties["min"], key=_plain)
        high = min(high, first.properties["max"], key=_plain)
        return [typed(module, op, "clamp_scalar", [first.inputs[0]], op.results[0].type, min=low, max=high)]
    if _plain(low) == 0 and _plain(high) == 6:
        return [typed(module, op, "relu6", [op.inputs[0]], op.results[0].type)]
    return None


def _plain(attribute: Any) -> float:
    return float(attribute.value.data)
