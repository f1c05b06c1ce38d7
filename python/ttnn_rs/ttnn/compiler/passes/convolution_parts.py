"""General convolutions that are less or more than one over images: lines become images, groups of batches parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn.compiler.asm.attributes import OpaqueDialectAttr
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.printing import attribute_text
from ttnn.compiler.asm.xdsl_adapter import DenseArrayBase, IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.dialects.kinds import si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes.later_build import new, reshape, slice_static, tensor_like, typed
from ttnn.compiler.passes.later_windows import convolution_dimensions

__all__ = ["batch_groups", "lines"]

_ORDER = (
    "input_batch",
    "input_feature",
    "input_spatial_dimensions",
    "kernel_output_feature",
    "kernel_input_feature",
    "kernel_spatial_dimensions",
    "output_batch",
    "output_feature",
    "output_spatial_dimensions",
)


def _dimensions(op: TableOp) -> dict[str, list[int]]:
    return convolution_dimensions(attribute_text(op.properties["convolution_layout"]))


def _layout(dimensions: dict[str, list[int]]) -> OpaqueDialectAttr:
    entries = ", ".join(f"{name} = {'x'.join(map(str, dimensions[name]))}" for name in _ORDER)
    return OpaqueDialectAttr("ttir", (f"<convolution_layout {entries}>",), pretty=False)


def _like(old: Any, values: Sequence[int]) -> DenseArrayBase[Any]:
    """Return an array of the type of another one."""
    assert isinstance(old, DenseArrayBase)
    kind = old.elt_type
    assert isinstance(kind, IntegerType)
    return DenseArrayBase.from_list(kind, list(values))


def lines(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a convolution over lines as one over images of width one; None for others."""
    shapes = [shape_of(value) for value in (*op.inputs[:2], op.results[0])]
    if any(len(shape) != 3 for shape in shapes):
        return None
    dimensions = _dimensions(op)
    for name in ("input", "kernel", "output"):
        dimensions[f"{name}_spatial_dimensions"] = [*dimensions[f"{name}_spatial_dimensions"], 3]
    more = {"padding": (0, 0), "window_strides": (1,), "input_dilation": (1,), "weight_dilation": (1,)}
    more["window_reversal"] = (0,)
    properties: dict[str, Any] = dict(op.properties)
    for name, extra in more.items():
        properties[name] = _like(op.properties[name], [*(int(one) for one in op.get(name)), *extra])
    properties["convolution_layout"] = _layout(dimensions)
    inputs = [reshape(module, op, value, (*shape_of(value), 1)) for value in op.inputs]
    kind = tensor_like(op.results[0].type, (*shapes[2], 1))
    made = typed(module, op, "convolution", inputs, kind, **properties)
    return [reshape(module, op, made, shapes[2])]


def batch_groups(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a convolution that pairs groups of batches with groups of filters as one for each; None for others."""
    count = op.get("batch_group_count")
    if count in (None, 1):
        return None
    dimensions = _dimensions(op)
    batch, out, feature = (dimensions[name][0] for name in ("input_batch", "kernel_output_feature", "output_feature"))
    result = list(shape_of(op.results[0]))
    whole = result[feature]
    result[feature] //= count
    one = IntegerAttr(1, IntegerType(64))
    parts = []
    for i in range(count):
        value = _part(module, op, op.inputs[0], batch, i, count)
        weight = _part(module, op, op.inputs[1], out, i, count)
        bias = [_part(module, op, one_bias, feature, i, count) for one_bias in op.inputs[2:]]
        kind = tensor_like(op.results[0].type, result)
        entries: dict[str, Any] = {**op.properties, "batch_group_count": one}
        parts.append(typed(module, op, "convolution", [value, weight, *bias], kind, **entries))
    result[feature] = whole
    return [new(module, op, "concat", parts, result, dim=si32_attr(feature))]


def _part(module: Module, op: TableOp, value: SSAValue, dim: int, index: int, count: int) -> SSAValue:
    shape = shape_of(value)
    begins, ends = [0] * len(shape), list(shape)
    size = shape[dim] // count
    begins[dim], ends[dim] = index * size, (index + 1) * size
    return slice_static(module, op, value, begins, ends, [1] * len(shape))
