"""Reductions that the library does not have, and pools of constants."""

from __future__ import annotations

import math

from ttnn.compiler.dialects.kinds import i32_array
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue, TensorType
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttir.build import ints, permute, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.constants import number_type

__all__ = ["any_of_sum", "argmax", "pool_of_constant"]


def argmax(module: Module, op: TableOp) -> list[SSAValue] | None:
    """A multi-dimensional maximum is one over joined dimensions."""
    dims = op.get("dim_arg")
    if dims is None or len(dims) < 2:
        return None
    shape = shape_of(op.inputs[0])
    reduced = sorted({dim % len(shape) for dim in dims})
    kept = [i for i in range(len(shape)) if i not in reduced]
    value = permute(module, op, op.inputs[0], [*kept, *reduced])
    sizes = [shape[i] for i in kept]
    value = reshape(module, op, value, [*sizes, math.prod(shape[i] for i in reduced)])
    keep = bool(op.get("keep_dim"))
    kind = tensor_like(op.results[0].type, [*sizes, 1] if keep else sizes)
    entries = {**op.properties, "dim_arg": ints([len(kept)])}
    return [reshape(module, op, typed(module, op, "argmax", [value], kind, **entries), shape_of(op.results[0]))]


def any_of_sum(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return reduction `any` as a nonzero sum of truth values."""
    type_ = op.results[0].type
    dtype = number_type(type_.element_type) if isinstance(type_, TensorType) else None
    if dtype is None:
        return None
    total = typed(module, op, "sum", list(op.inputs), type_, **op.properties)
    zeros = typed(module, op, "constant", [], type_, value=DenseAttr(type_, bytes(dtype.itemsize), splat=True))  # type: ignore[arg-type]
    differs = typed(module, op, "ne", [total, zeros], type_)
    return [typed(module, op, "typecast", [differs], type_)]


def pool_of_constant(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Windows of uniform elements are uniform, without differing padding."""
    owner = owner_of(op.inputs[0])
    if owner is None or owner.name != "ttir.full":
        return None
    sides = op.get("padding")
    padded = any((sides,) if isinstance(sides, int) else sides)
    if padded and op.name == "ttir.avg_pool2d" and op.get("count_include_pad"):
        return None
    entries = {"shape": i32_array(list(shape_of(op.results[0]))), "fill_value": owner.properties["fill_value"]}
    return [typed(module, op, "full", [], op.results[0].type, **entries)]
