"""Attention heads and repeated heads: permutations and reshapes that are one operation."""

from __future__ import annotations

from ttnn.compiler.dialects.kinds import integer, si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s, new, reshape, typed
from ttnn.compiler.transforms.ttir.fusing.parts import producer

__all__ = ["concatenate_heads", "repeated_heads"]


def concatenate_heads(module: Module, op: TableOp) -> Result:
    """Concatenated heads: [batch, sequence, heads * size], or joined.

    From [batch, heads, sequence, size]; joined: the first two.
    """
    inner = producer(op.inputs[0], "permute")
    if inner is None or tuple(inner.get("permutation")) != (0, 2, 1, 3):
        return None
    batch, heads, sequence, size = shape_of(inner.inputs[0])
    joined = (batch, sequence, heads * size)
    if shape_of(op.results[0]) not in (joined, (batch * sequence, heads * size)):
        return None
    made = new(module, op, "concatenate_heads", [inner.inputs[0]], joined)
    return [reshape(module, op, made, shape_of(op.results[0]))]


def repeated_heads(module: Module, op: TableOp) -> Result:
    """An inserted, broadcast, joined dimension repeats the neighbour.

    It has size one.
    """
    spread = producer(op.inputs[0], "broadcast")
    if spread is None or not op.inputs[0].has_one_use():
        return None
    first = producer(spread.inputs[0], "reshape")
    if first is None or not spread.inputs[0].has_one_use():
        return None
    inner, middle, outer = shape_of(first.inputs[0]), shape_of(spread.inputs[0]), shape_of(op.results[0])
    factors = spread.get("broadcast_dimensions")
    grown = [dim for dim, factor in enumerate(factors) if factor != 1]
    if len(middle) != len(inner) + 1 or len(outer) != len(inner) or len(grown) != 1:
        return None
    dim, count = grown[0], factors[grown[0]]
    if middle[dim] != 1 or (*middle[:dim], *middle[dim + 1 :]) != inner:
        return None
    changed = [i for i, (a, b) in enumerate(zip(inner, outer, strict=True)) if a != b]
    if len(changed) != 1 or outer[changed[0]] != inner[changed[0]] * count:
        return None
    if changed[0] == dim - 1:
        entries = {"repeats": integer(count, "ui32"), "dim": si32_attr(changed[0])}
        return [typed(module, op, "repeat_interleave", [first.inputs[0]], op.results[0].type, **entries)]
    if changed[0] == dim:
        times = [count if i == dim else 1 for i in range(len(inner))]
        return [typed(module, op, "repeat", [first.inputs[0]], op.results[0].type, repeat_dimensions=i64s(times))]
    return None
