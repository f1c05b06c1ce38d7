"""Fuse padding before, and element counts after, general pooling (2025-10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import insert_before
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s
from ttnn.compiler.transforms.ttir.constants import constant_of
from ttnn.compiler.transforms.ttir.decomposition.windows import COUNT_INCLUDE_PAD, counts_padding
from ttnn.compiler.transforms.ttir.fusing.parts import producer, through

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["counted_average", "padding"]


def _method(op: TableOp) -> str:
    """Return the word of the method: sum, average or max."""
    return re.sub(r"\W|ttir|pooling_method", "", attribute_text(op.properties["pooling_method"])).lower()


def _identity(op: TableOp, value: float) -> bool:
    """Return whether a value's image border is neutral for pooling."""
    method = _method(op)
    if method in ("sum", "average"):
        return value == 0
    return value == float("-inf")


def padding(module: Module, op: TableOp) -> Result:
    """Neutral elements around images become the pool's padding."""
    del module
    pads = [producer(value, "pad") for value in op.inputs]
    first = pads[0] if pads else None
    if first is None or any(one is None or one.get("padding") != first.get("padding") for one in pads):
        return None
    sides = first.get("padding")
    if (
        not counts_padding(op)
        or len(sides) != len(op.get("padding"))
        or any(one is not None and not _identity(op, one.get("value")) for one in pads)
    ):
        return None
    for i, one in enumerate(pads):
        assert one is not None
        op.operands[i] = one.inputs[0]
    op.properties["padding"] = i64s([a + b for a, b in zip(sides, op.get("padding"), strict=True)])
    return True


_NAMES = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")


def counted_average(module: Module, op: TableOp) -> Result:
    """A window sum over image counts is an average.

    The count is how many elements of the image each window has.
    """
    total = producer(op.inputs[0], "pooling")
    count = producer(through(op.inputs[1], "reshape", "broadcast"), "pooling")
    if total is None or count is None or _method(total) != "sum" or _method(count) != "sum":
        return None
    if len(total.inputs) != 1 or len(count.inputs) != 1 or op.results[0].type != total.results[0].type:
        return None
    for name in _NAMES:
        whole, part = total.get(name), count.get(name)
        if len(part) > len(whole) or whole[len(whole) - len(part) :] != part:
            return None
        if any(one != 1 for one in whole[: len(whole) - len(part)]):
            return None
    sides = total.get("padding")
    if not count.get("padding") or any(count.get("padding")) or not _ones_inside(count.inputs[0], sides):
        return None
    made = make(
        "ttir.pooling",
        module.version,
        list(total.inputs),
        [op.results[0].type],
        {**total.properties, "pooling_method": OpaqueDialectAttr("ttir", ("<pooling_method Average>",), pretty=False)},
        attributes={COUNT_INCLUDE_PAD: IntegerAttr(0, IntegerType(1))} if any(sides) else {},
        location=op.location,
    )
    insert_before(op, made)
    return [made.results[0]]


def _ones_inside(value: SSAValue, sides: Any) -> bool:
    """Return whether a constant is one inside, zero in padding."""
    import numpy as np

    found = constant_of(value)
    if found is None:
        return False
    shape = shape_of(value)
    sides = list(sides)[len(sides) - 2 * len(shape) :]
    expected: NDArray[Any] = np.zeros(shape)
    inside = tuple(slice(low, size - high) for size, low, high in zip(shape, sides[::2], sides[1::2], strict=True))
    expected[inside] = 1
    return bool((np.broadcast_to(found.data.astype(np.float64), shape) == expected).all())
