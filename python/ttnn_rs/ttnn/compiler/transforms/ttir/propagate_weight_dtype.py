"""`ttir-propagate-weight-dtype`: an argument's weight format reaches its users."""

from __future__ import annotations

from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, FuncOp, SSAValue, StringAttr
from ttnn.compiler.transforms.base import owner_of, table_ops

__all__ = ["run"]

_NAME = "ttcore.weight_dtype"
_CONSUMERS = ("ttir.matmul", "ttir.linear", "ttir.sparse_matmul")
_THROUGH = frozenset(
    f"ttir.{name}"
    for name in (
        "reshape", "permute", "transpose", "squeeze", "unsqueeze", "broadcast", "typecast", "repeat_interleave",
        "mesh_shard", "mesh_partition", "all_gather", "all_reduce", "reduce_scatter", "slice_static", "repeat",
    )
)  # fmt: skip
_PRECISION = ("bfp_bf2", "bfp_f2", "bfp_bf4", "bfp_f4", "bfp_bf8", "bfp_f8", "bf16", "f16", "f32")


def run(module: Module) -> None:
    """Set the format on matmuls with argument-formatted weights."""
    for op in table_ops(module.op, "ttir."):
        if op.name in _CONSUMERS:
            found = _dtypes(op.inputs[1])
            dtype = max(found - {""}, key=_PRECISION.index, default="")
            if not dtype:
                continue
            if len(found) > 1:
                message = (
                    "fusing matmuls with differing weight dtype overrides; using highest-precision dtype "
                    f"'{dtype}' for the fused weight to avoid precision loss"
                )
                module.warnings.append(module.at(op, message, severity="warning"))
            op.attributes[_NAME] = StringAttr(dtype)


def _dtypes(value: SSAValue) -> set[str]:
    """Return the weight formats of joined weights; "" for none."""
    owner = owner_of(value)
    while owner is not None and owner.name in _THROUGH:
        value = owner.operands[0]
        owner = owner_of(value)
    if owner is not None and owner.name == "ttir.concat":
        return set[str]().union(*map(_dtypes, owner.operands))
    if not isinstance(value, BlockArgument):
        return {""}
    function = value.owner.parent_op()
    attributes = function.arg_attrs if isinstance(function, FuncOp) else None
    entry = attributes.data[value.index].data.get(_NAME) if attributes is not None else None
    return {entry.data} if isinstance(entry, StringAttr) and entry.data in _PRECISION else {""}
