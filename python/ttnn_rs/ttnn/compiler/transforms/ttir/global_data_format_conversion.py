"""Functions compute in one format and keep the types of their signatures.

`ttir-global-data-format-conversion` converts all tensors; `enable-bfp8-conversion` of 2025-10 those of bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn.compiler.dialects.attributes import TileType
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.attributes import DenseAttr, element_format
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, BlockArgument, Operation, SSAValue, TensorType, builtin_float
from ttnn.compiler.transforms.base import insert_before, set_type

__all__ = ["run", "to_block_format"]

_KEEP = "preserveDataFormat"
Convert = Callable[[Attribute], Attribute]
"""Function that returns the type of an operation's result or operand."""


def _element(name: str) -> Attribute | None:
    if name == "bfp_bf8":
        return TileType("ttcore", 32, 32, "bfp_bf8")
    return builtin_float(name) if name in ("f32", "bf16") else None


def run(module: Module, options: dict[str, Any]) -> None:
    """Convert operation results to a format, casting the rest.

    Arguments, returned values and marked operations are cast.

    Raises:
        CompileError: The format is none of f32, bf16 and bfp_bf8.
    """
    name = options["target-format"]
    element = _element(name)
    if element is None:
        message = f"Invalid target format '{name}'. Supported formats: f32, bf16, bfp_bf8"
        raise CompileError(module.at(module.op, message))
    _convert(module, lambda type_: _with_element(type_, element))


def to_block_format(module: Module) -> None:
    """Convert bfloat16 results to bfp_bf8.

    Constants stay as they are and are cast.
    """
    bf16, block = builtin_float("bf16"), TileType("ttcore", 32, 32, "bfp_bf8")

    def converted(type_: Attribute) -> Attribute:
        is_bf16 = isinstance(type_, TensorType) and type_.element_type == bf16
        return _with_element(type_, block) if is_bf16 else type_

    _convert(module, converted, ("ttir.constant",))


def _convert(module: Module, converted: Convert, outside: tuple[str, ...] = ()) -> None:
    for function in module.functions():
        for region in function.regions:
            for block in region.blocks:
                original: dict[SSAValue, Attribute] = {}
                casts: dict[tuple[SSAValue, Attribute], SSAValue] = {}
                for op in list(block.ops):
                    inside = isinstance(op, TableOp) and op.name not in outside
                    inside = inside and _KEEP not in op.attributes and _KEEP not in op.properties
                    _operation(module, op, inside, converted, original, casts)


def _with_element(type_: Attribute, element: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or type_.element_type == element:
        return type_
    return TensorType(element, type_.get_shape(), type_.encoding)


def _operation(
    module: Module,
    op: Operation,
    inside: bool,
    converted: Convert,
    original: dict[SSAValue, Attribute],
    casts: dict[tuple[SSAValue, Attribute], SSAValue],
) -> None:
    """Convert an operation with operands in computed or original types.

    They are in the format if it computes in it.
    """
    # MLIR materializes the last operand first.
    for i in reversed(range(len(op.operands))):
        value = op.operands[i]
        want = converted(value.type) if inside else original.get(value, value.type)
        if want != value.type:
            op.operands[i] = _cast(module, op, value, want, casts)
    if not inside:
        return
    for result in op.results:
        before = result.type
        after = converted(before)
        if after != before:
            original[result] = before
            set_type(result, after)
    value_ = op.properties.get("value")
    if op.name == "ttir.constant" and isinstance(value_, DenseAttr):
        _constant(op, value_)


def _constant(op: Operation, value: DenseAttr) -> None:
    """Convert the numbers of a constant to the type of its result."""
    type_ = op.results[0].type
    name = element_format(type_.element_type) if isinstance(type_, TensorType) else None
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
    made = make("ttir.typecast", module.version, [value], [type_], location=location)
    insert_before(op, made)
    casts[value, type_] = made.results[0]
    cast: SSAValue = made.results[0]
    return cast
