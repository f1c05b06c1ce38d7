"""Lowering of attention of 2026-08: one position is decoded, masks and sinks as kernels take them."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.conversion.ttir_to_ttnn.build import call, like, permute
from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import replace
from ttnn.compiler.transforms.ttnn.layout.layouts import shape_attr

__all__ = ["attention"]

_TO_DECODE: Final = (2, 0, 1, 3)
_FROM_DECODE: Final = (1, 2, 0, 3)
_MASK_TO_DECODE: Final = (0, 2, 1, 3)


def _repeated(module: Module, op: TableOp, value: SSAValue, dim: int, size: int) -> SSAValue:
    """Return a mask whose one row of a dimension is there for each."""
    shape = shape_of(value)
    if shape[dim] != 1 or size == 1:
        return value
    factors = tuple(size if i == dim else 1 for i in range(len(shape)))
    made = tuple(a * b for a, b in zip(shape, factors, strict=True))
    return call(module, op, "repeat", [value], like(value.type, made), repeat_dims=shape_attr(factors))


def _sink(module: Module, op: TableOp, device: SSAValue) -> list[SSAValue]:
    """Return the sink divided by the scale: kernels apply the scale to it too (tt-metal issue 40470)."""
    group = op.group("attention_sink")
    if not group:
        return []
    given = op.get("scale")
    scale = 1.0 / math.sqrt(shape_of(op.group("query")[0])[-1]) if given is None else given
    if scale in (0.0, 1.0):
        return list(group)
    kind = group[0].type
    shape = shape_attr(shape_of(group[0]))
    factor = call(module, op, "full", [device], kind, fill_value=f32_attr(1.0 / scale), shape=shape)
    return [call(module, op, "multiply", [group[0], factor], kind)]


def attention(module: Module, op: TableOp, device: SSAValue) -> None:
    """Lower attention over whole sequences; a query of one position goes to the decoder."""
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    mask = list(op.group("attention_mask"))
    heads, length = shape_of(query)[1:3]
    names = ("is_causal", "scale", "sliding_window_size")
    properties = {name: op.properties[name] for name in names if name in op.properties}
    if length != 1:
        mask = [_repeated(module, op, one, 2, length) for one in mask]
        sink = _sink(module, op, device)
        sizes = (1, 1, 1, len(mask), len(sink))
        operands = [query, key, value, *mask, *sink]
        made = call(module, op, op.name[5:], operands, op.results[0].type, sizes=sizes, **properties)
        replace(op, [made])
        return
    query = permute(module, op, query, _TO_DECODE)
    mask = [_repeated(module, op, permute(module, op, one, _MASK_TO_DECODE), 2, heads) for one in mask]
    sink = _sink(module, op, device)
    decode_sizes = (1, 1, 1, len(mask), 0, len(sink))
    operands = [query, key, value, *mask, *sink]
    name = "scaled_dot_product_attention_decode"
    decoded = call(module, op, name, operands, query.type, sizes=decode_sizes, **properties)
    replace(op, [permute(module, op, decoded, _FROM_DECODE)])
