"""Element types of truth values: comparison type, or one bit."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerType, SSAValue, TensorType
from ttnn.compiler.transforms.base import set_type, table_ops
from ttnn.compiler.transforms.rewriting import Result, pattern, rewrite
from ttnn.compiler.transforms.traits import elementwise, has, named
from ttnn.compiler.transforms.ttir.build import typed
from ttnn.compiler.transforms.ttir.moves import plain_tensors, remade

__all__ = ["align", "narrow"]

_BIT = IntegerType(1)
_MOVEMENT = (
    "slice_static", "reshape", "permute", "broadcast", "concat", "repeat", "repeat_interleave", "squeeze", "unsqueeze",
    "reverse", "transpose",
)  # fmt: skip


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    element: Attribute = value.type.element_type
    return element


def _typed(value: SSAValue, element: Attribute) -> TensorType[Any]:
    assert isinstance(value.type, TensorType)
    return TensorType(element, value.type.get_shape(), value.type.encoding)


def _cast(module: Module, op: TableOp, value: SSAValue, element: Attribute) -> SSAValue:
    if _element(value) == element:
        return value
    return typed(module, op, "typecast", [value], _typed(value, element))


def _moved(module: Module, op: TableOp) -> Result:
    """Set a movement result's element type to its input's."""
    del module
    if not plain_tensors(op) or _element(op.results[0]) == _element(op.inputs[0]):
        return None
    set_type(op.results[0], _typed(op.results[0], _element(op.inputs[0])))
    return True


def _joined(module: Module, op: TableOp) -> Result:
    """Compute `op` of bits and others in the type of the others."""
    if not plain_tensors(op):
        return None
    result = _element(op.results[0])
    elements = [_element(value) for value in op.inputs] + [result]
    others = [one for one in elements if one != _BIT]
    if not others:
        return None
    if all(one == others[0] for one in others):
        target = others[0]
    elif result != _BIT:
        target = result
    else:
        return None
    if all(one == target for one in elements):
        return None
    inputs = [_cast(module, op, value, target) for value in op.inputs]
    return [remade(module, op, op, inputs, _typed(op.results[0], target))]


def _judged(module: Module, op: TableOp) -> Result:
    """Set truth values' element type to the compared operands'."""
    del module
    if not plain_tensors(op) or _element(op.results[0]) != _BIT or _element(op.inputs[0]) == _BIT:
        return None
    set_type(op.results[0], _typed(op.results[0], _element(op.inputs[0])))
    return True


def _where(module: Module, op: TableOp) -> Result:
    """Cast the condition to the element type of the choices."""
    if not plain_tensors(op):
        return None
    condition, yes, no = op.inputs
    if _element(condition) != _BIT or yes.type != no.type or _element(yes) == _BIT:
        return None
    inputs = [_cast(module, op, condition, _element(yes)), yes, no]
    return [remade(module, op, op, inputs, op.results[0].type)]


def align(module: Module) -> None:
    """Convert one-bit truth values to producers' and users' types."""
    rewrite(
        module,
        [
            pattern(_moved, "reshape", "permute", "transpose", "rearrange", "broadcast"),
            pattern(_joined, *elementwise(2)),
            pattern(_judged, *named("ttir", "comparison"), "logical_not", "reduce_or"),
            pattern(_where, "where"),
        ],
        backwards=True,
    )


_TRANSPARENT = frozenset(f"ttir.{name}" for name in (*named("ttir", "logical"), *_MOVEMENT))


def narrow(module: Module) -> None:
    """Keep truth values at one bit in logic and movement.

    They are cast for other readers.
    """
    for op in table_ops(module.op, "ttir."):
        if has(op, "comparison", "logical") and plain_tensors(op) and _element(op.results[0]) != _BIT:
            _narrow(module, op)


def _narrow(module: Module, first: TableOp) -> None:
    work = [first]
    while work:
        op = work.pop()
        result = op.results[0]
        if _element(result) == _BIT:
            continue
        before = result.type
        set_type(result, _typed(result, _BIT))
        others = []
        for use in list(result.uses):
            reader = use.operation
            if isinstance(reader, TableOp) and reader.name in _TRANSPARENT and plain_tensors(reader):
                work.append(reader)
            else:
                others.append(use)
        if others:
            cast = make("ttir.typecast", module.version, [result], [before], location=op.location)
            assert op.parent is not None
            op.parent.insert_op_after(cast, op)
            for use in others:
                use.operation.operands[use.index] = cast.results[0]
