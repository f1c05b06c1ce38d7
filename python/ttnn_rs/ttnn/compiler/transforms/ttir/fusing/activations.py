"""Activation functions: what computes one by its formula becomes the function."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import RELU6_OF_ONE_USE
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import typed
from ttnn.compiler.transforms.ttir.constants import splat_of
from ttnn.compiler.transforms.ttir.fusing.parts import (
    cast_to,
    has_splat,
    near,
    one_of,
    operand_pairs,
    producer,
    through,
)

__all__ = ["gelu", "hardsigmoid", "mish", "relu", "relu6", "silu"]


def _same_shape(value: SSAValue, op: TableOp) -> bool:
    return shape_of(value) == shape_of(op.results[0])


def relu(module: Module, op: TableOp) -> Result:
    """maximum(x, 0)."""
    for value, other in operand_pairs(op):
        if has_splat(other, 0) and _same_shape(value, op):
            return [typed(module, op, "relu", [value], op.results[0].type)]
    return None


def relu6(module: Module, op: TableOp) -> Result:
    """minimum(relu(x), 6)."""
    found = one_of(op, "relu")
    if found is None or not has_splat(found[1], 6) or not _same_shape(found[0].inputs[0], op):
        return None
    if RELU6_OF_ONE_USE.of(module.version) and not found[0].inputs[0].has_one_use():
        return None
    return [typed(module, op, "relu6", [found[0].inputs[0]], op.results[0].type)]


def hardsigmoid(module: Module, op: TableOp) -> Result:
    """relu6(x + 3) / 6."""
    inner = producer(op.inputs[0], "relu6")
    if inner is None or not inner.results[0].has_one_use() or not has_splat(op.inputs[1], 6):
        return None
    total = producer(inner.inputs[0], "add")
    if total is None or not total.results[0].has_one_use():
        return None
    for value, other in operand_pairs(total):
        if has_splat(other, 3) and _same_shape(value, op):
            return [cast_to(module, op, typed(module, op, "hardsigmoid", [value], value.type), op.results[0].type)]
    return None


def silu(module: Module, op: TableOp) -> Result:
    """X * sigmoid(x) in the type of x, despite another matmul type.

    The product was computed in another.
    """
    found = one_of(op, "sigmoid", "typecast")
    if found is None or not found[0].results[0].has_one_use():
        return None
    value = through(found[0].inputs[0], "typecast")
    if value is not through(found[1], "typecast") or not _same_shape(value, op):
        return None
    return [cast_to(module, op, typed(module, op, "silu", [value], value.type), op.results[0].type)]


_SOFTPLUS_THRESHOLD = 15.0
"""Softplus threshold in float32, above which ln(1 + e**x) is x.

A threshold of at least this much does not change the function.
"""


def _softplus_input(value: SSAValue) -> SSAValue | None:
    """Return x of a softplus(x), or None.

    It is written as `x > C ? x : ln(1 + e**x)` so that it does not overflow.
    """
    choice = producer(value, "where")
    if choice is None or not choice.results[0].has_one_use():
        return None
    condition, large, small = choice.inputs
    greater, log = producer(condition, "gt"), producer(small, "log1p")
    if greater is None or log is None or greater.inputs[0] is not large or not log.results[0].has_one_use():
        return None
    threshold = splat_of(through(greater.inputs[1], "broadcast", "reshape"))
    power = producer(log.inputs[0], "exp")
    if power is None or not power.results[0].has_one_use() or power.inputs[0] is not large:
        return None
    return large if threshold is not None and threshold >= _SOFTPLUS_THRESHOLD else None


def mish(module: Module, op: TableOp) -> Result:
    """X * tanh(softplus(x))."""
    found = one_of(op, "tanh", "typecast")
    if found is None or not found[0].results[0].has_one_use():
        return None
    value = _softplus_input(found[0].inputs[0])
    if value is None or value is not through(found[1], "typecast") or not _same_shape(value, op):
        return None
    return [cast_to(module, op, typed(module, op, "mish", [value], value.type), op.results[0].type)]


_GELU_TOLERANCE = 1.5e-3
"""Constants of the formula may be rounded to bfloat16."""


def _is(value: SSAValue, number: float) -> bool:
    found = splat_of(through(value, "broadcast", "reshape", "typecast"))
    return found is not None and near(found, number, _GELU_TOLERANCE)


def _without(op: TableOp | None, number: float) -> SSAValue | None:
    """Return the operand beside a constant."""
    if op is None:
        return None
    return next((value for value, other in operand_pairs(op) if _is(other, number)), None)


def _cdf_input(value: SSAValue) -> SSAValue | None:
    """Return x of 1 + erf(x / sqrt(2)), or its tanh form."""
    rest = _without(producer(value, "add"), 1.0)
    if rest is None:
        return None
    inner = producer(rest, "erf")
    if inner is not None:
        return _without(producer(inner.inputs[0], "multiply"), 0.7071067811865476)
    inner = producer(rest, "tanh")
    if inner is None:
        return None
    polynomial = _without(producer(inner.inputs[0], "multiply"), 0.7978845608028654)
    terms = producer(polynomial, "add") if polynomial is not None else None
    for linear, cubic in operand_pairs(terms) if terms is not None else ():
        cube = _without(producer(cubic, "multiply"), 0.044715)
        if cube is not None and _cube_root(cube) is linear:
            return linear
    return None


def _cube_root(value: SSAValue) -> SSAValue | None:
    """Return x of x**3, as power or products."""
    power = producer(value, "pow")
    if power is not None:
        return power.inputs[0] if _is(power.inputs[1], 3.0) else None
    product = producer(value, "multiply")
    for one, other in operand_pairs(product) if product is not None else ():
        square = producer(one, "multiply")
        if square is not None and square.inputs[0] is square.inputs[1] is other:
            return other
    return None


def gelu(module: Module, op: TableOp) -> Result:
    """GELU in any product order, by erf or tanh.

    0.5 * x * (1 + erf(x / sqrt(2))).
    """
    for value, other in operand_pairs(op):
        inner = producer(other, "multiply")
        if inner is None:
            continue
        three = [value, *inner.inputs]
        half = next((one for one in three if _is(one, 0.5)), None)
        found = next(((one, _cdf_input(one)) for one in three if _cdf_input(one) is not None), None)
        if half is None or found is None or len(three) != 3:
            continue
        rest = [one for one in three if one is not half and one is not found[0]]
        x = found[1]
        if x is not None and rest == [x] and _same_shape(x, op):
            return [typed(module, op, "gelu", [x], op.results[0].type)]
    return None
