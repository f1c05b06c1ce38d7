"""Operations without side effects."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.xdsl_adapter import Operation

__all__ = ["is_dead", "is_pure"]

_EFFECTS = {
    "dealloc", "deallocate", "yield", "return", "update_cache", "fill_cache", "paged_update_cache", "paged_fill_cache",
    "alloc", "dispatch", "get_device", "load_cached", "rand", "dropout", "set_key_value", "capture_or_execute_trace",
}  # fmt: skip


_IN_PLACE = {"ttnn.batch_norm_training"}
"""Operations that change operands, beyond their results."""


def is_pure(op: Operation) -> bool:
    """Return whether an operation is removable and shareable.

    It can go if nobody uses its results, and be shared if it occurs twice.
    """
    if op.regions or op.successors or not op.results:
        return False
    dialect, _, name = op.name.partition(".")
    if isinstance(op, TableOp):
        return (
            name not in _EFFECTS
            and op.name not in _IN_PLACE
            and not op.n_outs
            and dialect in ("ttir", "ttnn", "ttcore")
        )
    return dialect in ("arith", "math", "tensor")


def is_dead(op: Operation) -> bool:
    """Return whether an operation has no effect and nobody uses its results."""
    return not any(result.uses for result in op.results) and is_pure(op)
