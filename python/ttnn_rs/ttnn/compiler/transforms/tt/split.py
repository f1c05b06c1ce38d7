"""`ttir-split-compound-layout`: layout changes as chains of single changes.

Those of several properties are split.
"""

from __future__ import annotations

from dataclasses import replace

from ttnn.compiler.dialects.attributes import LayoutAttr, TileType
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import TensorType
from ttnn.compiler.transforms.base import insert_before, table_ops
from ttnn.compiler.transforms.tt.layouts import layout_of, scalar_of, with_element, with_encoding, with_grid, with_space

__all__ = ["changes", "run"]


def changes(source: LayoutAttr, target: LayoutAttr) -> list[str]:
    """Return what differs: "linear", "grid", "format", "space", "layout"."""
    found = []
    if source.linear != target.linear:
        found.append("linear")
    if source.grid != target.grid:
        found.append("grid")
    if source.element != target.element:
        found.append("format")
    if source.space != target.space:
        found.append("space")
    if source.mem_layout != target.mem_layout:
        found.append("layout")
    return found


def run(module: Module) -> None:
    """Split every `to_layout` until each changes one property."""
    pending = [op for op in table_ops(module.op, "ttir.") if op.name == "ttir.to_layout"]
    while pending:
        op = pending.pop()
        step = _step(op)
        if step is not None:
            first = make(
                "ttir.to_layout",
                module.version,
                [op.inputs[0]],
                [with_encoding(op.inputs[0].type, step)],
                location=op.location,
            )
            insert_before(op, first)
            op.operands[0] = first.results[0]
            pending += [first, op]


def _step(op: TableOp) -> LayoutAttr | None:
    """Return the layout between, or None for a single change."""
    source, target = layout_of(op.inputs[0].type), layout_of(op.results[0].type)
    if source is None or target is None:
        return None
    found = changes(source, target)
    type_ = op.inputs[0].type
    assert isinstance(type_, TensorType)
    shape = tuple(type_.get_shape())
    if len(found) < 2:
        return None
    if source.space != "l1":
        return with_space(source, "l1")
    if target.space != "l1":
        between = with_space(target, "l1")
        return between if changes(source, between) else source
    if source.tiled != target.tiled:
        # Data moves between cores as tiles: they are made first and taken apart last.
        if source.tiled:
            return with_element(target, shape, source.element)
        return with_element(source, shape, target.element)
    if "linear" in found and source.tiled:
        return with_element(source, shape, scalar_of(source.element))
    if isinstance(source.element, TileType) and "format" in found:
        return with_element(source, shape, target.element)
    if "grid" in found:
        return replace(with_grid(target, shape, source.grid.shape), mem_layout=target.mem_layout)
    return replace(source, mem_layout=target.mem_layout)
