"""`ttir-element-type-normalization`: unsupported element types become supported ones."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    ComplexType,
    FuncOp,
    FunctionType,
    IndexType,
    IntegerType,
    Operation,
    Signedness,
    TensorType,
    TypeAttribute,
    builtin_float,
)
from ttnn.compiler.transforms.base import fail, set_type
from ttnn.compiler.transforms.ttir.global_data_format_conversion import to_block_format
from ttnn.compiler.transforms.ttir.narrow_signs import keep_signs

__all__ = ["normalize", "normalized_element", "run"]

_FLOATS = {"f64": "f32", "f16": "bf16", "bf16": "bf16", "f32": "f32"}


def normalized_element(element: Attribute) -> Attribute:
    """Return the element type that stands for a type on the chip."""
    name = getattr(element, "name", "")
    if name in _FLOATS:
        return builtin_float(_FLOATS[name])
    if isinstance(element, IndexType):
        return IntegerType(32, Signedness.UNSIGNED)
    if isinstance(element, IntegerType):
        width, sign = element.width.data, element.signedness.data
        if width == 1:
            return builtin_float("bf16")
        if sign is Signedness.UNSIGNED:
            return IntegerType(min(width, 32) if width >= 8 else 8, Signedness.UNSIGNED)
        if width > 32 or width == 32:
            return IntegerType(32, Signedness.SIGNED)
        # Narrow integers are unsigned on the chip.
        return IntegerType(16 if width > 8 else 8, Signedness.UNSIGNED)
    return element


def normalize(type_: Attribute) -> Attribute:
    """Return a tensor type with a normalized element; other types unchanged."""
    if isinstance(type_, TensorType):
        element = normalized_element(type_.element_type)
        if element != type_.element_type:
            return TensorType(element, type_.get_shape(), type_.encoding)
    return type_


def run(module: Module, options: dict[str, Any]) -> None:
    """Normalize all tensors, including constants; bfp_bf8 if requested."""
    _check(module)
    keep_signs(module)
    for function in module.functions():
        kind = function.function_type
        function.properties["function_type"] = FunctionType.from_lists(
            [normalize(one) for one in kind.inputs.data], [normalize(one) for one in kind.outputs.data]
        )
        for op in function.walk():
            _operation(op)
    if options["enable-bfp8-conversion"]:
        to_block_format(module)


def _check(module: Module) -> None:
    """Refuse element types that have no place on the chip.

    Raises:
        CompileError: The first operation that has one.
    """
    for op in module.op.walk():
        types: list[Attribute] = [value.type for value in (*op.operands, *op.results)]
        if isinstance(op, FuncOp):
            types = [*op.function_type.inputs.data, *op.function_type.outputs.data]
        if any(isinstance(one, TensorType) and isinstance(one.element_type, ComplexType) for one in types):
            raise fail(module, op, "Unsupported type.")


def _operation(op: Operation) -> None:
    for result in op.results:
        set_type(result, normalize(result.type))
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                set_type(argument, normalize(argument.type))
    value = op.properties.get("value")
    if op.name == "ttir.constant" and isinstance(value, DenseAttr):
        op.properties["value"] = constant(value)
    dtype = op.properties.get("dtype")
    if isinstance(dtype, TypeAttribute) and isinstance(dtype, Attribute) and op.name.startswith("ttir."):
        op.properties["dtype"] = normalized_element(dtype)


def constant(value: DenseAttr) -> DenseAttr:
    """Return a constant with normalized elements."""
    type_ = normalize(value.type)
    if type_ == value.type or not isinstance(type_, TensorType):
        return value
    import ml_dtypes
    import numpy as np

    from ttnn.compiler.ir.attributes import element_format

    name = element_format(type_.element_type) or "float32"
    dtype: Any = np.dtype(getattr(ml_dtypes, name, None) or name)
    elements = value.elements()
    if dtype.kind in "iu" and elements.dtype.kind in "iu" and elements.dtype.itemsize > dtype.itemsize:
        # What does not fit is the nearest number that does.
        limits = np.iinfo(dtype)
        elements = np.clip(elements, max(limits.min, np.iinfo(elements.dtype).min), limits.max)
    return DenseAttr(type_, elements.astype(dtype).tobytes(), value.splat)
