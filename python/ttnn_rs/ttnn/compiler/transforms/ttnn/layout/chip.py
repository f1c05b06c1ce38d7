"""A later module's chip, and its cores for tensors."""

from __future__ import annotations

from typing import Any

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.attributes import DeviceAttr, SystemDescAttr
from ttnn.compiler.dialects.ttcore.system_desc import ChipDesc, SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute
from ttnn.compiler.features import CORE_RANGES
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, TensorType
from ttnn.compiler.transforms.ttcore.device import device_op
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of, with_layout
from ttnn.compiler.transforms.ttnn.layout.types import SHARDED, retyped

__all__ = ["chip_of", "core_ranges", "mesh_shape", "sharded", "usable_l1", "with_core_ranges", "worker_grid"]


def chip_of(module: Module) -> ChipDesc:
    """Return a module's first chip, or the default's.

    Of its system descriptor.

    Raises:
        CompileError: The descriptor contradicts itself.
    """
    for op in module.op.walk():
        attribute = op.attributes.get("ttcore.system_desc")
        if isinstance(attribute, SystemDescAttr):
            try:
                return from_attribute(attribute).chips[0]
            except (DeviceError, ValueError) as error:
                raise CompileError(module.at(module.op, str(error))) from None
    return SystemDesc.default().chips[0]


def usable_l1(chip: ChipDesc) -> int:
    """Return the bytes of L1 that tensors may use."""
    return chip.l1_size - chip.l1_unreserved_base


def mesh_shape(module: Module) -> tuple[int, ...]:
    """Return the chips per dimension of the mesh."""
    registered = device_op(module)
    attribute = registered.properties.get("device_attr") if registered is not None else None
    return attribute.mesh_shape if isinstance(attribute, DeviceAttr) else (1, 1)


def worker_grid(module: Module) -> tuple[int, int]:
    """Return the rows and columns of the worker cores."""
    registered = device_op(module)
    attribute = registered.properties.get("device_attr") if registered is not None else None
    if isinstance(attribute, DeviceAttr) and len(attribute.grid.shape) == 2:
        return attribute.grid.shape[0], attribute.grid.shape[1]
    return chip_of(module).grid


def core_ranges(memory: str, grid: tuple[int, ...], workers: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Return a grid's shard cores as (x, y, x, y) ranges.

    A block grid is a rectangle; other shards follow each other along rows of cores.

    Args:
        memory: Word of the memory layout.
        grid: The virtual grid of shards.
        workers: Rows and columns of worker cores.
    """
    if memory == "block_sharded":
        return [(0, 0, grid[1] - 1, grid[0] - 1)]
    count, width = grid[0] * grid[1], workers[1]
    rows, rest = divmod(count, width)
    found = [(0, 0, width - 1, rows - 1)] if rows else []
    return [*found, *([(0, rows, rest - 1, rows)] if rest else [])]


def with_core_ranges(module: Module, type_: Attribute) -> TensorType[Any]:
    """Return a sharded type with its cores, written in 2026-08."""
    assert isinstance(type_, TensorType)
    layout = layout_of(type_)
    if layout is None or layout.mem_layout not in SHARDED or layout.rest or not CORE_RANGES.of(module.version):
        return type_
    ranges = core_ranges(layout.mem_layout or "", layout.grid.shape, worker_grid(module))
    text = ", ".join(f"#ttnn.core_range<({a},{b}), ({c},{d})>" for a, b, c, d in ranges)
    rest = (f", core_ranges = <[{text}]>",)
    return with_layout(type_, type(layout)(layout.linear, layout.grid, layout.memref, layout.mem_layout, rest))


def sharded(module: Module, type_: Attribute, memory: str, grid: tuple[int, int]) -> TensorType[Any]:
    """Return a tiled tensor's type, sharded in L1."""
    return with_core_ranges(module, retyped(type_, tiled=True, space="l1", memory=memory, grid=grid))
