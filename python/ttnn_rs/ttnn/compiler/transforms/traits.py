"""Traits of operations, from the tables of their dialects."""

from __future__ import annotations

from functools import cache

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.spec import operations
from ttnn.compiler.ir.xdsl_adapter import Operation, SSAValue
from ttnn.compiler.version import NEWEST

__all__ = ["elementwise", "has", "is_dead", "is_pure", "named", "returned", "writes", "written"]


def has(op: Operation, *traits: str) -> bool:
    """Return whether the table gives an operation one of the traits."""
    return isinstance(op, TableOp) and not op.spec.traits.isdisjoint(traits)


@cache
def named(dialect: str, *traits: str) -> tuple[str, ...]:
    """Return the short names of operations that have one of the traits."""
    found = {name for (name, _), spec in operations(dialect).items() if not spec.traits.isdisjoint(traits)}
    return tuple(sorted(found))


@cache
def elementwise(*counts: int) -> tuple[str, ...]:
    """Return the short names of elementwise `ttir` operations with that many inputs."""
    table = operations("ttir")
    return tuple(name for name in named("ttir", "elementwise") if len(table[name, NEWEST].operands) in counts)


def written(op: Operation) -> tuple[SSAValue, ...]:
    """Return the operands that an operation changes in place."""
    return _named(op, "writes ")


def returned(op: Operation) -> tuple[SSAValue, ...]:
    """Return the operands that are an operation's results, too."""
    return _named(op, "returns ")


def _named(op: Operation, word: str) -> tuple[SSAValue, ...]:
    if not isinstance(op, TableOp):
        return ()
    names = (trait.removeprefix(word) for trait in op.spec.traits if trait.startswith(word))
    return tuple(value for name in names for value in op.group(name))


def writes(op: Operation, index: int) -> bool:
    """Return whether an operation changes its operand of that index in place."""
    return any(value is op.operands[index] for value in written(op))


def is_pure(op: Operation) -> bool:
    """Return whether an operation is removable and shareable.

    It can go if nobody uses its results, and be shared if it occurs twice.
    """
    if op.regions or op.successors or not op.results:
        return False
    if isinstance(op, TableOp):
        return not has(op, "effects") and not op.n_outs and not written(op)
    return op.name.partition(".")[0] in ("arith", "math", "tensor")


def is_dead(op: Operation) -> bool:
    """Return whether an operation has no effect and nobody uses its results."""
    return not any(result.uses for result in op.results) and is_pure(op)
