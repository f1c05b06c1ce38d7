"""`ttir-optimizer` of 2024-09: grids, overrides, and sharded chains.

Overrides are by name.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ttnn.compiler.dialects.attributes import LayoutAttr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module, location_name
from ttnn.compiler.ir.xdsl_adapter import FuncOp, TensorType
from ttnn.compiler.transforms.base import owner_of, set_type, table_ops, update_function_type
from ttnn.compiler.transforms.tt.layouts import layout_of, with_encoding, with_grid, with_space
from ttnn.compiler.transforms.tt.overrides import Override, parse_overrides
from ttnn.compiler.transforms.ttcore.system import device_of

__all__ = ["run"]

_SHARDABLE = {"ttir.matmul", "ttir.add", "ttir.multiply", "ttir.subtract", "ttir.relu", "ttir.conv2d"}


def run(module: Module, options: dict[str, Any]) -> None:
    """Choose the layout of every result.

    Raises:
        CompileError: The module has no device.
        OptionError: An override cannot be read.
    """
    device = device_of(module)
    if device is None:
        raise CompileError(module.at(module.op, "ttir-optimizer needs a device: run ttir-implicit-device before it"))
    overrides = {
        **parse_overrides("override-grid-sizes", options["override-grid-sizes"]),
        **parse_overrides("override-output-layout", options["override-output-layout"]),
    }
    largest = device.grid.shape
    for function in module.functions():
        sharded = _chains(function) if options["sharding-pass-enabled"] else set()
        for op in table_ops(function, "ttir."):
            if op.results and op.name not in ("ttir.to_layout",):
                _choose(op, largest, overrides.get(location_name(op) or ""), op in sharded)
        update_function_type(function)


def _choose(op: TableOp, largest: tuple[int, ...], override: Override | None, shard: bool) -> None:
    for result in op.results:
        layout, type_ = layout_of(result.type), result.type
        if layout is None or not isinstance(type_, TensorType):
            continue
        shape = tuple(type_.get_shape())
        if override is not None:
            layout = _apply(layout, shape, override)
        elif shard:
            grid = _shard_grid(shape, largest)
            layout = replace(with_grid(with_space(layout, "l1"), shape, grid), mem_layout="block_sharded")
        elif layout.space in ("dram", "l1") or op.name != "ttir.constant":
            layout = replace(with_grid(with_space(layout, "dram"), shape, largest), mem_layout="interleaved")
        set_type(result, with_encoding(type_, layout))
        for out in op.outs:
            set_type(out, result.type)


def _apply(layout: LayoutAttr, shape: tuple[int, ...], override: Override) -> LayoutAttr:
    if override.space is not None:
        layout = with_space(layout, override.space)
    if override.layout is not None:
        layout = replace(layout, mem_layout=override.layout)
    return with_grid(layout, shape, override.grid) if override.grid is not None else layout


def _shard_grid(shape: tuple[int, ...], largest: tuple[int, ...]) -> tuple[int, int]:
    """Return the largest grid of equal whole-tile parts."""
    rows = math.ceil(shape[-2] / 32) if len(shape) > 1 else 1
    columns = math.ceil(shape[-1] / 32)
    best = (1, 1)
    for row in range(1, largest[0] + 1):
        for column in range(1, largest[1] + 1):
            if rows % row == 0 and columns % column == 0 and row * column > best[0] * best[1]:
                best = (row, column)
    return best


def _chains(function: FuncOp) -> set[TableOp]:
    """Return operations with outputs in L1.

    They are chains in which each feeds only the next.

    An operation is the next of a chain if it takes the last output as its first operand. The last operation of a chain
    that is followed by one that cannot be sharded stays sharded too.
    """
    chosen: set[TableOp] = set()
    for op in table_ops(function, "ttir."):
        if op.name not in _SHARDABLE or not op.inputs or not op.results:
            continue
        users = {use.operation for use in op.results[0].uses}
        producer = owner_of(op.inputs[0])
        starts = producer is None or producer.name not in _SHARDABLE
        continues = isinstance(producer, TableOp) and producer in chosen
        follows = len(users) == 1 and any(
            user.name.startswith("ttir.") and user.operands and user.operands[0] is op.results[0] for user in users
        )
        if (continues or (starts and follows)) and len(users) <= 1 and len(shape_of(op.results[0])) >= 2:
            chosen.add(op)
    return chosen
