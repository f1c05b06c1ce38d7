"""Reductions: kept dimensions, scaled sums, and image means."""

from __future__ import annotations

import math

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import FloatAttr, IntegerAttr, IntegerType
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.traits import named
from ttnn.compiler.transforms.ttir.build import ints, new, permute, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.constants import fill_value
from ttnn.compiler.transforms.ttir.fusing.parts import near, producer

__all__ = ["global_average", "kept_dimensions", "scaled_sum", "spatial_mean"]

_TRUE = IntegerAttr(1, IntegerType(1))
_SCALE_TOLERANCE = 2.0**-8
"""Relative tolerance of bfloat16 scales: half of this."""


def kept_dimensions(module: Module, op: TableOp) -> Result:
    """A reshape after a reduction: the reduction keeps dimensions.

    The pattern starts from the reshape.
    """
    known = (producer(op.inputs[0], name) for name in named("ttir", "reduction"))
    inner = next((one for one in known if one is not None), None)
    if inner is None or inner.get("keep_dim") or not inner.results[0].has_one_use():
        return None
    shape = list(shape_of(inner.inputs[0]))
    dims = inner.get("dim_arg")
    for dim in range(len(shape)) if dims is None else dims:
        shape[dim] = 1
    if tuple(shape) != shape_of(op.results[0]):
        return None
    entries = {**inner.properties, "keep_dim": _TRUE}
    return [typed(module, op, inner.name[5:], list(inner.inputs), op.results[0].type, **entries)]


def _scaled(op: TableOp) -> TableOp | None:
    """Return the sum of a mean, or None.

    It is multiplied with one over the number of elements that it adds.
    """
    total = producer(op.inputs[0], "sum")
    if total is None or total.get("dim_arg") is None or not total.results[0].has_one_use():
        return None
    shape = shape_of(total.inputs[0])
    count = math.prod(shape[dim] for dim in total.get("dim_arg"))
    scale = fill_value(op.inputs[1])
    if count <= 0 or not isinstance(scale, FloatAttr) or not near(scale.value.data, 1 / count, _SCALE_TOLERANCE):
        return None
    return total if shape_of(total.results[0]) == shape_of(op.results[0]) else None


def scaled_sum(module: Module, op: TableOp) -> Result:
    """sum(x) * (1 / n) is mean(x)."""
    total = _scaled(op)
    if total is None:
        return None
    return [typed(module, op, "mean", list(total.inputs), op.results[0].type, **total.properties)]


def spatial_mean(module: Module, op: TableOp) -> Result:
    """A mean over height and width, joined into one reduction."""
    shape = shape_of(op.inputs[0])
    dims = op.get("dim_arg")
    if len(shape) != 4 or dims is None or sorted(dims) != [1, 2] or not op.results[0].has_one_use():
        return None
    n, height, width, channels = shape
    flat = reshape(module, op, op.inputs[0], (n, 1, height * width, channels))
    kind = tensor_like(op.results[0].type, (n, 1, 1, channels))
    value = typed(module, op, "mean", [flat], kind, dim_arg=ints([2]), keep_dim=_TRUE)
    return [reshape(module, op, value, shape_of(op.results[0]))]


def global_average(module: Module, op: TableOp) -> Result:
    """sum(x, height and width) * (1 / n) is global average pooling.

    Of images with channels second.
    """
    total = _scaled(op)
    if total is None or len(shape_of(total.inputs[0])) != 4 or sorted(total.get("dim_arg")) != [2, 3]:
        return None
    image = permute(module, op, total.inputs[0], (0, 2, 3, 1))
    n, _, _, channels = shape_of(image)
    pooled = new(module, op, "global_avg_pool2d", [image], (n, 1, 1, channels))
    return [reshape(module, op, permute(module, op, pooled, (0, 3, 1, 2)), shape_of(op.results[0]))]
