"""Attention masks as `ttnn` operations.

Zero where a position is visible, minus infinity where it is not.
"""

from __future__ import annotations

import math
from typing import Any

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.xdsl_adapter import Attribute, IntegerAttr, IntegerType, Signedness, SSAValue
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped

__all__ = ["causal_mask", "decode_mask", "window_mask"]


def _positions(build: Build, like: Attribute, count: int, axis: int, dtype: str | None) -> SSAValue:
    """Return 0 to `count` - 1 along one of four dimensions."""
    numbers: dict[str, Any] = {
        name: IntegerAttr(value, IntegerType(64, Signedness.SIGNED))
        for name, value in (("start", 0), ("end", count), ("step", 1))
    }
    flat = build.value("arange", {"device": build.device}, retyped(like, shape=(count,), dtype=dtype), **numbers)
    shape = [1, 1, 1, 1]
    shape[axis] = count
    return build.reshape(flat, shape)


def causal_mask(build: Build, like: Attribute, rows: int, columns: int) -> SSAValue:
    """Return the causal mask [1, 1, rows, columns], compared in float32.

    A row sees the columns up to its own.
    """
    row, column = (_positions(build, like, size, axis, "f32") for size, axis in ((rows, 2), (columns, 3)))
    exact = retyped(like, shape=(1, 1, rows, columns), dtype="f32")
    later = build.value("gt", [column, row], exact)
    zero, never = build.full(0.0, exact), build.full(-math.inf, exact)
    mask = build.value("where", [later, never, zero], exact)
    return build.value("typecast", [mask], retyped(like, shape=(1, 1, rows, columns)))


def window_mask(build: Build, like: Attribute, rows: int, columns: int, window: int, *, causal: bool) -> SSAValue:
    """Return the window mask: `window` columns, or half each side.

    A row sees the last `window` columns up to its own.
    """
    row, column = (_positions(build, like, size, axis, "f32") for size, axis in ((rows, 2), (columns, 3)))
    exact = retyped(like, shape=(1, 1, rows, columns), dtype="f32")
    distance = build.value("subtract", [row, column], exact)
    zero, never = build.full(0.0, exact), build.full(-math.inf, exact)
    if causal:
        low = build.value("lt", [distance, zero], exact)
        high = build.value("ge", [distance, build.full(float(window), exact)], exact)
    else:
        low = build.value("lt", [distance, build.full(-float(window // 2), exact)], exact)
        high = build.value("gt", [distance, build.full(float(window // 2), exact)], exact)
    inner = build.value("where", [high, never, zero], exact)
    mask = build.value("where", [low, never, inner], exact)
    return build.value("typecast", [mask], retyped(like, shape=(1, 1, rows, columns)))


def decode_mask(build: Build, op: TableOp, batch: int, columns: int, scale: float) -> SSAValue | None:
    """Return the mask of one position.

    The given one, or that of the current positions, and the window.
    """
    like = op.group("query")[0].type
    mask, position = op.operand("attention_mask"), op.operand("cur_pos_tensor")
    window = op.get("sliding_window_size")
    moving = bool(op.get("is_causal")) and position is not None
    found: SSAValue | None = None
    if mask is not None:
        factor = build.full(scale, retyped(mask.type, shape=(1,) * len(shape_of(mask))))
        scaled = build.value("multiply", [mask, factor], mask.type)
        found = build.permute(scaled, (0, 2, 1, 3))
        like = found.type
    elif moving and window is None and position is not None:
        kind = retyped(like, shape=(batch, 1, 1, columns))
        here = _here(build, position, batch, like)
        later = build.value("gt", [_positions(build, like, columns, 3, None), here], kind)
        zero, never = build.full(0.0, kind), build.full(-math.inf, kind)
        found = build.value("where", [later, never, zero], kind)
    if window is None:
        return found
    kind = retyped(like, shape=(batch if moving else 1, 1, 1, columns))
    index = _positions(build, like, columns, 3, None)
    zero, never = build.full(0.0, kind), build.full(-math.inf, kind)
    if moving and position is not None:
        here = _here(build, position, batch, like)
        first = build.value("add", [here, build.full(-float(window), here.type)], here.type)
        later = build.value("gt", [index, here], kind)
        upper = build.value("where", [later, never, zero], kind)
        inside = build.value("gt", [index, first], kind)
        lower = build.value("where", [inside, zero, never], kind)
        seen = build.value("add", [upper, lower], kind)
    else:
        inside = build.value("gt", [index, build.full(float(columns - window - 1), kind)], kind)
        seen = build.value("where", [inside, zero, never], kind)
    return seen if found is None else build.value("add", [found, seen], found.type)


def _here(build: Build, position: SSAValue, batch: int, like: Attribute) -> SSAValue:
    """Return current positions, [batch, 1, 1, 1], in the query type."""
    wide = build.reshape(position, (batch, 1, 1, 1))
    return build.value("typecast", [wide], retyped(wide.type, dtype=element_word(like)))
