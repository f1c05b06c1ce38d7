"""Exact orders of float32, by comparisons: the chip sorts bfloat16."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder.steps import Steps, refuse
from ttnn.compiler.importers.builder.types import element_of, is_integer, scalar, shape_of, tensor, width_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["order_of", "taken"]

_LONGEST: Final = 1024
"""Longest dimension: sums of its positions are exact."""
_COMPARISONS: Final = 1 << 26
"""Limit of comparisons of one order."""


def order_of(steps: Steps, key: SSAValue, dim: int, count: int, *, largest: bool) -> SSAValue:
    """Return the places of the first elements along a dimension, in order.

    Equal elements keep their order. NaN comes after infinity, or before it if the largest come first.

    Args:
        steps: The function.
        key: The elements, float32.
        dim: The dimension.
        count: How many places.
        largest: Whether the largest element comes first.

    Raises:
        Refusal: There are too many elements.
    """
    import numpy as np

    b, word = steps.b, scalar("f32")
    shape = shape_of(key)
    width = shape[dim]
    rows = math.prod(shape) // max(1, width)
    if width > _LONGEST or rows * width * max(width, count) > _COMPARISONS:
        refuse(f"of {rows:,} times {width:,} elements of float32 has no exact TTIR operation")
    moved = [*(i for i in range(len(shape)) if i != dim), dim]
    flat = steps.reshape(steps.permute(key, moved), [rows, width])
    wrong = b.op("ne", flat, flat)
    flat = steps.one(b.where(wrong, steps.splat(math.inf, flat), flat))
    other, own = steps.reshape(flat, [rows, 1, width]), steps.reshape(flat, [rows, width, 1])
    mark = steps.cast(wrong, word)
    other_mark, own_mark = steps.reshape(mark, [rows, 1, width]), steps.reshape(mark, [rows, width, 1])
    before, marked = (b.gt, b.gt) if largest else (b.lt, b.lt)
    earlier = b.constant(np.tri(width, k=-1).reshape(1, width, width), scalar("i1"))
    same = b.logical_and(b.eq(other_mark, own_mark), earlier)
    tie = b.logical_and(b.eq(other, own), b.logical_or(marked(other_mark, own_mark), same))
    ahead = steps.cast(steps.one(b.logical_or(before(other, own), tie)), word)
    rank = steps.reshape(_sum(steps, ahead), [rows, 1, width])
    places = b.constant(np.arange(count).reshape(1, count, 1), word)
    chosen = steps.cast(steps.one(b.eq(rank, places)), word)
    at = b.multiply(chosen, b.constant(np.arange(width).reshape(1, 1, width), word))
    index = steps.cast(_sum(steps, steps.one(at)), scalar("i32"))
    back = [moved.index(i) for i in range(len(shape))]
    whole = steps.reshape(index, [*(shape[i] for i in moved[:-1]), count])
    if back == sorted(back):
        return whole
    # Integers lose bits where they are permuted; these are small.
    return steps.cast(steps.permute(steps.cast(whole, word), back), scalar("i32"))


def _sum(steps: Steps, value: SSAValue) -> SSAValue:
    return steps.one(steps.b.sum(value, dim_arg=[2], keep_dim=False))


def taken(steps: Steps, value: SSAValue, index: SSAValue, dim: int) -> SSAValue:
    """Return the elements at places along a dimension, with all their bits.

    Args:
        steps: The function.
        value: The elements.
        index: Places, of the shape of the result.
        dim: The dimension.
    """
    element, b = element_of(value), steps.b

    def gathered(one: Any) -> SSAValue:
        return steps.one(b.gather(one, index, dim=dim, types=[tensor(shape_of(index), element_of(one))]))

    if not is_integer(element) or width_of(element) <= 16:
        return gathered(value)
    # The chip gathers integers through floats of 24 bits.
    word = steps.cast(value, scalar("i32"))
    bits, mask = steps.splat(16, word, ()), steps.splat(0xFFFF, word, ())
    halves = (b.bitwise_and(word, mask), b.logical_right_shift(word, bits))
    low, high = (steps.cast(gathered(steps.cast(one, scalar("f32"))), scalar("i32")) for one in halves)
    shift = steps.splat(16, high, ())
    return steps.cast(steps.one(b.bitwise_or(b.logical_left_shift(high, shift), low)), element)
