"""`ttnn-ccl-activation-dtype-lowering`: chips exchange projections of a transformer in bfp_bf8.

Two patterns are lowered, where every value has one use and is of bfloat16:

* a product of matrices, moves and collectives, the sum with a residual: all but the sum;
* the product of two such chains, of which one may go through `silu`, that is the first operand of the first pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import owner_of, set_type, table_ops
from ttnn.compiler.transforms.ttnn.layout.types import element_word, retyped

__all__ = ["run"]

_PRODUCTS: Final = ("ttnn.matmul", "ttnn.linear")
_MOVES: Final = ("ttnn.reshape", "ttnn.view")
_COLLECTIVES: Final = ("ttnn.reduce_scatter", "ttnn.all_gather", "ttnn.all_reduce")
_FORMAT: Final = "bfp_bf8"


def run(module: Module) -> None:
    """Lower the patterns of a module of 2026-08."""
    found: list[TableOp] = []
    for op in table_ops(module.op, "ttnn"):
        chain = _projection(op) if op.name in _PRODUCTS else None
        if chain is not None:
            found += [*chain, *_gate(op.inputs[0])]
    for op in found:
        set_type(op.results[0], retyped(op.results[0].type, dtype=_FORMAT))


def _user(value: SSAValue) -> TableOp | None:
    """Return the only operation that takes a value, or None."""
    uses = list(value.uses)
    user = uses[0].operation if len(uses) == 1 else None
    return user if isinstance(user, TableOp) else None


def _is_bf16(ops: Sequence[TableOp]) -> bool:
    return all(element_word(op.results[0].type) == "bf16" for op in ops)


def _projection(product: TableOp) -> list[TableOp] | None:
    """Return a matmul and its result's moves until a sum.

    None without them.
    """
    chain = [product]
    user = _user(product.results[0])
    while user is not None and user.name in (*_MOVES, *_COLLECTIVES):
        chain.append(user)
        user = _user(user.results[0])
    if user is None or user.name != "ttnn.add" or not _is_bf16([*chain, user]):
        return None
    return chain if any(op.name in _COLLECTIVES for op in chain) else None


def _gate(value: SSAValue) -> list[TableOp]:
    """Return what makes the gated activation of a multilayer perceptron, or nothing."""
    gate = owner_of(value)
    if not isinstance(gate, TableOp) or gate.name != "ttnn.multiply" or _user(gate.results[0]) is None:
        return []
    sides = [_side(one) for one in gate.inputs]
    chains = [one for one in sides if one is not None]
    activated = sum(chain[0].name == "ttnn.silu" for chain in chains)
    whole = [gate, *(op for chain in chains for op in chain)]
    return whole if len(chains) == 2 and activated <= 1 and _is_bf16(whole) else []


def _side(value: SSAValue) -> list[TableOp] | None:
    """Return the operations between a value and its matmul, or None."""
    chain: list[TableOp] = []
    while True:
        op = owner_of(value)
        if not isinstance(op, TableOp) or _user(op.results[0]) is None:
            return None
        chain.append(op)
        if op.name in _PRODUCTS:
            return chain if any(one.name in _COLLECTIVES for one in chain) else None
        if op.name not in (*_MOVES, *_COLLECTIVES) and not (op.name == "ttnn.silu" and len(chain) == 1):
            return None
        value = op.inputs[0]
