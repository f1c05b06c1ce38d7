"""Softmax: exponentials over their sum, and the subtraction of the maximum before."""

from __future__ import annotations

from ttnn.compiler.dialects.kinds import si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import typed
from ttnn.compiler.transforms.ttir.fusing.parts import producer, single_dim, users

__all__ = ["softmax", "stable_softmax"]


def _reduced(value: SSAValue, name: str) -> TableOp | None:
    """Return the single-use reduction of a value, perhaps followed by a broadcast."""
    spread = producer(value, "broadcast")
    if spread is not None:
        if not value.has_one_use():
            return None
        value = spread.inputs[0]
    found = producer(value, name)
    return found if found is not None and value.has_one_use() and found.get("keep_dim") else None


def softmax(module: Module, op: TableOp) -> Result:
    """exp(x) / sum(exp(x)) along one dimension."""
    power, total = producer(op.inputs[0], "exp"), _reduced(op.inputs[1], "sum")
    if power is None or total is None or total.inputs[0] is not power.results[0]:
        return None
    if len(users(power.results[0])) != 2 or single_dim(total) is None:
        return None
    if shape_of(power.inputs[0]) != shape_of(op.results[0]):
        return None
    (dim,) = total.get("dim_arg")
    return [typed(module, op, "softmax", [power.inputs[0]], op.results[0].type, dimension=si32_attr(dim))]


def stable_softmax(module: Module, op: TableOp) -> Result:
    """softmax(x - max(x)) is softmax(x), with the numeric stability flag.

    The operation subtracts the maximum itself.
    """
    difference = producer(op.inputs[0], "subtract")
    if difference is None or not difference.results[0].has_one_use():
        return None
    value = difference.inputs[0]
    largest = _reduced(difference.inputs[1], "max")
    if largest is None or largest.inputs[0] is not value or shape_of(value) != shape_of(op.results[0]):
        return None
    if single_dim(largest) != op.get("dimension") % len(shape_of(value)):
        return None
    flag = IntegerAttr(1, IntegerType(1))
    entries = {"dimension": op.properties["dimension"], "numericStable": flag}
    return [typed(module, op, "softmax", [value], op.results[0].type, **entries)]
