"""`ttir-explicate-tms`: reshapes and broadcasts that elementwise operations do by themselves become operations."""

from __future__ import annotations

from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import table_ops
from ttnn.compiler.transforms.traits import elementwise
from ttnn.compiler.transforms.ttir.build import i64s, new, reshape
from ttnn.compiler.transforms.ttir.moves import plain_tensors

__all__ = ["run"]

_NAMES = frozenset(f"ttir.{name}" for name in elementwise(2, 3))


def run(module: Module) -> None:
    """Broadcast all inputs of elementwise operations to the shape of the result."""
    for op in table_ops(module.op, "ttir."):
        if op.name not in _NAMES or not plain_tensors(op):
            continue
        target = shape_of(op.results[0])
        for i, value in enumerate(op.inputs):
            shape = shape_of(value)
            ones = (1,) * (len(target) - len(shape)) + shape
            full: SSAValue = reshape(module, op, value, ones)
            if ones != target:
                factors = [size if one == 1 else 1 for one, size in zip(ones, target, strict=True)]
                full = new(module, op, "broadcast", [full], target, broadcast_dimensions=i64s(factors))
            op.operands[i] = full
