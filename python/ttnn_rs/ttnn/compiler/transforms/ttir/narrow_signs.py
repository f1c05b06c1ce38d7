"""Signs of 8-bit and 16-bit integers, computed in 32 bits.

They are unsigned on the chip; 32 bits compute where signs count.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.dialects.kinds import i32_array, i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerType, Operation, Signedness, SSAValue, TensorType
from ttnn.compiler.transforms.base import is_on_host, set_type
from ttnn.compiler.transforms.traits import has
from ttnn.compiler.transforms.ttir.build import typed

__all__ = ["keep_signs"]

_WORD: Final = IntegerType(32, Signedness.SIGNED)


def keep_signs(module: Module) -> None:
    """Sign-extend narrow integers for sign-dependent operations, or widen them.

    To 32 bits.
    """
    for function in module.functions():
        if is_on_host(function):
            continue
        for op in [one for one in function.walk() if isinstance(one, TableOp) and one.name.startswith("ttir.")]:
            if any(_narrow(value.type) for value in op.inputs) and _looks_at_signs(op):
                _widen(module, op)


def _narrow(type_: Attribute) -> bool:
    element = getattr(type_, "element_type", None)
    return (
        isinstance(element, IntegerType)
        and 1 < element.width.data < 32
        and element.signedness.data is not Signedness.UNSIGNED
    )


def _looks_at_signs(op: TableOp) -> bool:
    if has(op, "signed"):
        return True
    width = max(value.type.element_type.width.data for value in op.inputs if _narrow(value.type))  # type: ignore[attr-defined]
    elements = [getattr(result.type, "element_type", None) for result in op.results]
    return any(
        element.width.data > width and element.signedness.data is not Signedness.UNSIGNED
        if isinstance(element, IntegerType)
        else element is not None and not str(getattr(element, "name", "")).startswith("quant")
        for element in elements
    )


def _of(type_: Attribute, element: Attribute) -> TensorType[Any]:
    assert isinstance(type_, TensorType)
    return TensorType(element, type_.get_shape(), type_.encoding)


def _binary(module: Module, op: TableOp, name: str, value: SSAValue, number: int) -> SSAValue:
    """The result of an operation with a number, which is broadcast."""
    shape = [1] * len(shape_of(value))
    type_ = TensorType(_WORD, shape)
    given = typed(module, op, "full", [], type_, shape=i32_array(shape), fill_value=i32_attr(number))
    return typed(module, op, name, [value, given], value.type)


def _widen(module: Module, op: TableOp) -> None:
    for index, value in enumerate(op.operands):
        if not _narrow(value.type):
            continue
        width = value.type.element_type.width.data  # type: ignore[attr-defined]
        sign = 1 << (width - 1)
        # The chip widens without a sign: the upper half of the numbers comes down below zero.
        word = typed(module, op, "typecast", [value], _of(value.type, _WORD))
        word = _binary(module, op, "bitwise_xor", word, sign)
        op.operands[index] = _binary(module, op, "subtract", word, sign)
    following = op.next_op
    for result in op.results:
        if not _narrow(result.type):
            continue
        old, uses = result.type, list(result.uses)
        set_type(result, _of(old, _WORD))
        assert isinstance(following, Operation)
        mask = (1 << old.element_type.width.data) - 1  # type: ignore[attr-defined]
        bits = _binary(module, following, "bitwise_and", result, mask)  # type: ignore[arg-type]
        back = typed(module, following, "typecast", [bits], old)  # type: ignore[arg-type]
        for use in uses:
            use.operation.operands[use.index] = back
