"""`ttnn-adjust-deallocs` and `ttnn-force-final-deallocs`: which tensors emitted programs free, and how."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import BlockArgument, IntegerAttr, IntegerType, Operation, SSAValue
from ttnn.compiler.transforms.base import erase, owner_of
from ttnn.compiler.transforms.constant_paths import argument_type
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of

__all__ = ["adjust", "force"]


def adjust(module: Module) -> None:
    """Keep parameters, constants and their derived values for later runs."""
    for op in [one for one in module.op.walk() if one.name == "ttnn.deallocate"]:
        value = op.operands[0]
        if isinstance(value, BlockArgument):
            kept = argument_type(value) in ("parameter", "constant")
        else:
            kept = getattr(value.owner, "name", "") == "ttcore.load_cached"
        if kept:
            erase(op)


def force(module: Module) -> None:
    """Keep each buffer's last deallocation, and free no returned one."""
    for function in module.functions():
        kept: set[SSAValue] = set()
        found: list[Operation] = []
        for op in function.walk():
            if op.name == "func.return":
                kept.update(_root(value) for value in op.operands)
            elif op.name in ("ttnn.conv2d", "ttnn.conv_transpose2d") and isinstance(op, TableOp) and _frees(op):
                kept.add(_root(op.group("input")[0]))
            elif op.name == "ttnn.deallocate":
                found.append(op)
        roots = [_root(op.operands[0]) for op in found]
        forced: set[SSAValue] = set()
        for op, root in reversed(list(zip(found, roots, strict=True))):
            if root in kept or root in forced:
                erase(op)
            elif roots.count(root) > 1:
                forced.add(root)
                op.properties["force"] = IntegerAttr(1, IntegerType(1))


def _root(value: SSAValue) -> SSAValue:
    """Return the value whose buffer another one shows: reshapes may be views."""
    owner = owner_of(value)
    while owner is not None and owner.name == "ttnn.reshape" and _may_be_view(owner):
        value = owner.operands[0]
        owner = owner_of(value)
    return value


def _may_be_view(op: Operation) -> bool:
    """Return whether a reshape keeps the bytes.

    Rows of the same width, or tiles of the same last two dimensions.
    """
    before, after = op.operands[0].type, op.results[0].type
    layouts = layout_of(before), layout_of(after)
    if layouts[0] is None or layouts[1] is None or layouts[0].mem_layout != "interleaved":
        return False
    if (layouts[0].space, layouts[0].tiled) != (layouts[1].space, layouts[1].tiled):
        return False
    first, last = (tuple(kind.get_shape()) for kind in (before, after))  # type: ignore[attr-defined]
    if not first or not last or first[-1] != last[-1]:
        return False
    if not layouts[0].tiled:
        return True
    rows = (first[-2] if len(first) > 1 else 1, last[-2] if len(last) > 1 else 1)
    return rows[0] == rows[1] or all(count % 32 == 0 for count in rows)


def _frees(op: TableOp) -> bool:
    config = op.properties.get("conv2d_config")
    layout = layout_of(op.group("input")[0].type)
    return (
        config is not None
        and "deallocate_activation = true" in attribute_text(config)
        and layout is not None
        and layout.space == "l1"
    )
