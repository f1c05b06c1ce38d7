"""`ttir-reduction-force-keep-dim`: reductions keep dimensions, and reshapes drop them."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.rewriting import pattern, rewrite
from ttnn.compiler.transforms.traits import named
from ttnn.compiler.transforms.ttir.build import tensor_like
from ttnn.compiler.transforms.ttir.canonical.registry import FOLDS
from ttnn.compiler.transforms.ttir.moves import move, plain_tensors, reduced_dims, reduced_shape, remade

__all__ = ["force_keep_dim"]


def _kept(module: Module, op: TableOp) -> list[SSAValue] | None:
    if op.get("keep_dim") or not plain_tensors(op):
        return None
    shape = reduced_shape(shape_of(op.inputs[0]), reduced_dims(op), True)
    keep = IntegerAttr(1, IntegerType(1))
    value = remade(module, op, op, list(op.inputs), tensor_like(op.results[0].type, shape), keep_dim=keep)
    return [move(module, op, "reshape", value, shape_of(op.results[0]))]


def force_keep_dim(module: Module) -> None:
    """Set keep_dim on all reductions."""
    rewrite(module, [*FOLDS, pattern(_kept, *named("ttir", "reduction"))], backwards=True)
