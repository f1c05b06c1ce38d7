"""Lowering of attention of 2026-08.

One position is decoded; masks and sinks are in the form of the kernels.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import replace
from ttnn.compiler.transforms.ttnn.build import Build

__all__ = ["attention"]

_TO_DECODE: Final = (2, 0, 1, 3)
_FROM_DECODE: Final = (1, 2, 0, 3)
_MASK_TO_DECODE: Final = (0, 2, 1, 3)


def _repeated(build: Build, value: SSAValue, dim: int, size: int) -> SSAValue:
    """Return a mask with the one row of a dimension repeated."""
    shape = shape_of(value)
    if shape[dim] != 1 or size == 1:
        return value
    return build.repeat(value, (*shape[:dim], size, *shape[dim + 1 :]))


def _sink(build: Build, op: TableOp) -> list[SSAValue]:
    """Return the sink divided by the scale.

    Kernels apply the scale to it too (tt-metal issue 40470).
    """
    group = op.group("attention_sink")
    if not group:
        return []
    given = op.get("scale")
    scale = 1.0 / math.sqrt(shape_of(op.group("query")[0])[-1]) if given is None else given
    if scale in (0.0, 1.0):
        return list(group)
    kind = group[0].type
    return [build.value("multiply", [group[0], build.full(1.0 / scale, kind)], kind)]


def attention(module: Module, op: TableOp) -> None:
    """Lower attention over whole sequences; decode a single query position."""
    build = Build(module, op)
    # The device is in the block of every attention, also without sinks.
    _ = build.device
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    mask = list(op.group("attention_mask"))
    heads, length = shape_of(query)[1:3]
    names = ("is_causal", "scale", "sliding_window_size")
    properties = {name: op.properties[name] for name in names if name in op.properties}
    if length != 1:
        mask = [_repeated(build, one, 2, length) for one in mask]
        operands = {"query": query, "key": key, "value": value, "attention_mask": mask}
        operands["attention_sink"] = _sink(build, op)
        replace(op, [build.value(op.name[5:], operands, op.results[0].type, **properties)])
        return
    query = build.permute(query, _TO_DECODE)
    mask = [_repeated(build, build.permute(one, _MASK_TO_DECODE), 2, heads) for one in mask]
    operands = {"query": query, "key": key, "value": value, "attention_mask": mask}
    operands["attention_sink"] = _sink(build, op)
    decoded = build.value("scaled_dot_product_attention_decode", operands, query.type, **properties)
    replace(op, [build.permute(decoded, _FROM_DECODE)])
