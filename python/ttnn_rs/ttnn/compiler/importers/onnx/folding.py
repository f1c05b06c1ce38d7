"""Nodes whose operands are known: shapes, positions, small numbers.

They are computed here, not by the program.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.onnx.scope import Node
from ttnn.compiler.importers.onnx.types import array_of

__all__ = ["fold"]

_MOVING: Final = frozenset(
    {
        "Cast", "CastLike", "Concat", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape",
        "ScatterElements", "ScatterND", "Shape", "Size", "Slice", "Split", "Squeeze", "Transpose", "Trilu",
        "Unsqueeze", "Where",
    }
)  # fmt: skip
"""Operations that move elements."""
_COMPUTING: Final = frozenset(
    {
        "Abs", "Add", "And", "ArgMax", "ArgMin", "Ceil", "CumSum", "Div", "Equal", "Floor", "Greater",
        "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "NonZero", "Not", "Or",
        "Pow", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "Round", "Sign", "Sqrt", "Sub",
        "Sum", "Xor",
    }
)  # fmt: skip
_LIMIT: Final = 1 << 20
"""Most elements of an array that is moved or made here."""
_FLOATS: Final = 64
"""Most floats that are computed here, not on the device."""


def fold(a: Node) -> list[Any] | None:
    """Return the results of a node whose operands are known, as arrays.

    None for one that the program computes.
    """
    import numpy as np

    op = a.proto.op_type
    if a.proto.domain not in ("", "ai.onnx"):
        return None
    if op == "Shape":
        begin, end = int(a.attribute("start", 0)), a.attribute("end")
        return [np.array(a.shape()[begin : None if end is None else int(end)], np.int64)]
    if op == "Size":
        return [np.array(math.prod(a.shape()), np.int64)]
    arrays = [None if one is None else one.known for one in a.values]
    if any(one is not None and array is None for one, array in zip(a.values, arrays, strict=True)):
        return None
    if op in ("ConstantOfShape", "Expand", "Range", "Tile"):
        return _made(a, arrays)
    if op not in _MOVING and op not in _COMPUTING:
        return None
    count = math.prod(max(1, one.size) for one in arrays if one is not None)
    if op in ("Concat", "Sum", "Mean", "Max", "Min"):
        count = sum(one.size for one in arrays if one is not None)
    floats = any(one is not None and one.dtype.kind not in "iub" for one in arrays)
    if count > (_FLOATS if floats and op in _COMPUTING else _LIMIT) or not arrays:
        return None
    return _evaluated(a, arrays)


def _made(a: Node, arrays: list[Any]) -> list[Any] | None:
    """Return arrays that are larger than what they are made of."""
    import numpy as np

    op = a.proto.op_type
    if op == "ConstantOfShape":
        given = a.attribute("value")
        value = np.zeros((), np.float32) if given is None else array_of(given).reshape(())
        if (arrays[0] < 0).any():
            return None
        return [np.broadcast_to(value, tuple(int(one) for one in arrays[0]))]
    if op == "Expand":
        shape = np.broadcast_shapes(arrays[0].shape, tuple(int(one) for one in arrays[1]))
        return [np.broadcast_to(arrays[0], shape)]
    if op == "Range":
        start, limit, delta = (one.item() for one in arrays)
        if delta == 0 or abs((limit - start) / delta) > _LIMIT:
            return None
        count = max(0, math.ceil((limit - start) / delta))
        return [(start + np.arange(count) * delta).astype(arrays[0].dtype)]
    if arrays[0].size * math.prod(int(one) for one in arrays[1]) > _LIMIT:
        return None
    return [np.tile(arrays[0], arrays[1])]


def _evaluated(a: Node, arrays: list[Any]) -> list[Any] | None:
    """Return what ONNX's own reference computes."""
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    names = [one for one in a.proto.input if one]
    feeds = {name: array for name, array in zip(a.proto.input, arrays, strict=True) if name and array is not None}
    with np.errstate(all="ignore"):
        try:
            found = ReferenceEvaluator(a.proto, opsets=dict(a.imports)).run(None, {one: feeds[one] for one in names})
        except Exception:
            # What it refuses, the row refuses with a sentence.
            return None
    made = [np.asarray(one) for one in found]
    return made if all(one.dtype.kind in "iubf" for one in made) else None
