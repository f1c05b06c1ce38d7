"""`ttir-global-data-format-conversion`: functions compute in one format and keep the types of their signatures."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.asm.attributes import DenseAttr, element_format
from ttnn.compiler.asm.diagnostics import CompileError
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.xdsl_adapter import Attribute, BlockArgument, Operation, SSAValue, TensorType, builtin_float
from ttnn.compiler.dialects.attributes import TileType
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.passes.base import insert_before, set_type

__all__ = ["run"]

_KEEP = "preserveDataFormat"


def _element(name: str) -> Attribute | None:
    if name == "bfp_bf8":
        return TileType("ttcore", 32, 32, "bfp_bf8")
    return builtin_float(name) if name in ("f32", "bf16") else None


def run(module: Module, options: dict[str, Any]) -> None:
    """Convert the results of operations to a format; arguments, returned values and marked operations are cast.

    Raises:
        CompileError: The format is none of f32, bf16 and bfp_bf8.
    """
    name = options["target-format"]
    element = _element(name)
    if element is None:
        message = f"Invalid target format '{name}'. Supported formats: f32, bf16, bfp_bf8"
        raise CompileError(module.at(module.op, message))
    for function in module.functions():
        for region in function.regions:
            for block in region.blocks:
                original: dict[SSAValue, Attribute] = {}
                casts: dict[tuple[SSAValue, Attribute], SSAValue] = {}
                for op in list(block.ops):
                    _operation(module, op, element, original, casts)


def _converted(type_: Attribute, element: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or type_.element_type == element:
        return type_
    return TensorType(element, type_.get_shape(), type_.encoding)


def _operation(
    module: Module,
    op: Operation,
    element: Attribute,
    original: dict[SSAValue, Attribute],
    casts: dict[tuple[SSAValue, Attribute], SSAValue],
) -> None:
    """Convert an operation: its operands are in the format if it computes in it, else in the types that they had."""
    inside = isinstance(op, TableOp) and _KEEP not in op.attributes and _KEEP not in op.properties
    # MLIR materializes the last operand first.
    for i in reversed(range(len(op.operands))):
        value = op.operands[i]
        want = _converted(value.type, element) if inside else original.get(value, value.type)
        if want != value.type:
            op.operands[i] = _cast(module, op, value, want, casts)
    if not inside:
        return
    for result in op.results:
        before = result.type
        after = _converted(before, element)
        if after != before:
            original[result] = before
            set_type(result, after)
    value_ = op.properties.get("value")
    if op.name == "ttir.constant" and isinstance(value_, DenseAttr):
        _constant(op, value_, element)


def _constant(op: Operation, value: DenseAttr, element: Attribute) -> None:
    """Convert the numbers of a constant to the type of its result."""
    name = element_format(element)
    type_ = op.results[0].type
    if name is None or value.type == type_ or not isinstance(type_, TensorType):
        return
    import ml_dtypes
    import numpy as np

    dtype: Any = np.dtype(getattr(ml_dtypes, name, None) or name)
    op.properties["value"] = DenseAttr(type_, value.elements().astype(dtype).tobytes(), value.splat)


def _cast(
    module: Module, op: Operation, value: SSAValue, type_: Attribute, casts: dict[tuple[SSAValue, Attribute], SSAValue]
) -> SSAValue:
    known = casts.get((value, type_))
    if known is not None:
        return known
    location = op.location if isinstance(value, BlockArgument) else value.owner.location  # type: ignore[union-attr]
    made = make("ttir.typecast", module.epoch, [value], [type_], location=location)
    insert_before(op, made)
    casts[value, type_] = made.results[0]
    cast: SSAValue = made.results[0]
    return cast
