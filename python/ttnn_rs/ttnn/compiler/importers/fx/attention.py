"""Attention."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import element_of, scalar, shape_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.builder.types import is_bool
from ttnn.compiler.importers.fx.reductions import softmax
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS"]


def _bias(s: Scope, mask: SSAValue) -> SSAValue:
    """Return what a mask adds to scores.

    A boolean mask adds zeros and minus infinity.
    """
    if not is_bool(element_of(mask)):
        return s.wide(mask)
    shape = shape_of(mask)
    made: SSAValue = s.b.where(mask, s.b.splat(0.0, shape, scalar("f32")), s.b.splat(-1e30, shape, scalar("f32")))
    return made


def _attention(s: Scope, a: Arguments) -> SSAValue:
    if a.dropout_p:
        refuse("with dropout takes random numbers")
    query, key, value = (s.wide(one) for one in (a.query, a.key, a.value))
    shape = shape_of(query)
    if a.enable_gqa and shape_of(key)[-3] != shape[-3]:
        key, value = (_repeated(s, one, shape[-3] // shape_of(one)[-3]) for one in (key, value))
    scale = 1 / math.sqrt(shape[-1]) if a.scale is None else float(a.scale)
    scores = s.times(s.matmul(query, s.swap(key)), scale)
    if a.attn_mask is not None:
        scores = s.b.add(scores, _bias(s, a.attn_mask))
    elif a.is_causal:
        scores = s.b.add(scores, _causal(s, shape[-2], shape_of(key)[-2], len(shape_of(scores))))
    weights = softmax(s, scores, -1)
    if a.attn_mask is not None and is_bool(element_of(a.attn_mask)):
        # A row that attends to nothing is zero.
        weights = s.b.multiply(weights, s.wide(a.attn_mask))
    made = s.matmul(weights, value)
    return s.cast(made, a.element)


def _repeated(s: Scope, x: SSAValue, count: int) -> SSAValue:
    """Return heads repeated, each next to itself."""
    *batch, heads, rows, width = shape_of(x)
    wide = s.reshape(x, [*batch, heads, 1, rows, width])
    wide = s.expand(wide, [*batch, heads, count, rows, width])
    return s.reshape(wide, [*batch, heads * count, rows, width])


def _causal(s: Scope, rows: int, columns: int, rank: int) -> SSAValue:
    import numpy as np

    mask = np.where(np.tri(rows, columns, dtype=bool), 0.0, -1e30).reshape([1] * (rank - 2) + [rows, columns])
    made: SSAValue = s.b.constant(mask, scalar("f32"))
    return made


ROWS: Final[dict[str, Row]] = {"aten.scaled_dot_product_attention": _attention}
