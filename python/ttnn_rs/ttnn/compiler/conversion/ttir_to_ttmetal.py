"""`convert-ttir-to-ttmetal` of 2024-09: layouts and dispatch regions become commands and kernels.

A change of grid or memory is NoC transfers that the cores of the destination read (or the source cores write to DRAM),
a change of format is a tilize or untilize kernel, an elementwise operation a compute kernel over the tiles of a core.
Circular buffers alias the tensors: inputs are full when a kernel starts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects.attributes import CoreRangeAttr, LayoutAttr, TileType, data_type
from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, make
from ttnn.compiler.dialects.ttcore.algebra import element_bytes, tile_bytes
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.parser import foreign_operation
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    DenseArrayBase,
    IntegerType,
    Operation,
    OpResult,
    Region,
    SSAValue,
)
from ttnn.compiler.limits import CORES
from ttnn.compiler.transforms.base import erase, fail, insert_before, replace, table_ops
from ttnn.compiler.transforms.tt.layouts import layout_of
from ttnn.compiler.transforms.tt.split import changes
from ttnn.compiler.transforms.ttcore.system import system_desc_of

__all__ = ["run"]

Points = NDArray[np.int64]
_PAGE = 8192
"""Elements of a DRAM page, as in the device's DRAM map."""
_BINARY = {"ttir.add": ("add_tiles_init", "add_tiles"), "ttir.multiply": ("mul_tiles_init", "mul_tiles")}
_UNARY = {"ttir.exp": ("exp_tile_init", "exp_tile")}


def run(module: Module) -> None:
    """Lower all operations.

    Raises:
        CompileError: An operation has no kernel, or a change of layout is not a single one.
    """
    for op in table_ops(module.op, "ttir."):
        parent = op.parent_op()
        if parent is None or parent.name == "ttir.generic":
            continue
        short = op.name.partition(".")[2]
        if short == "to_layout":
            _to_layout(module, op)
        elif short == "generic":
            _generic(module, op)
        elif short == "fill":
            _fill(module, op)
        elif short not in ("alloc", "dealloc"):
            raise fail(module, op, "is not an operation that convert-ttir-to-ttmetal can lower")
    for op in table_ops(module.op, "ttir."):
        if op.name == "ttir.alloc":
            new = make(
                "ttmetal.alloc", module.version, [], [op.results[0].type], dict(op.properties), location=op.location
            )
            insert_before(op, new)
            replace(op, new.results)
        elif op.name == "ttir.dealloc":
            insert_before(op, make("ttmetal.dealloc", module.version, [op.operands[0]], [], location=op.location))
            erase(op)


def _layout(module: Module, op: Operation, value: SSAValue) -> LayoutAttr:
    layout = layout_of(value.type)
    if layout is None:
        raise fail(module, op, "a tensor has no layout: run ttir-layout before convert-ttir-to-ttmetal")
    return layout


def _address(module: Module, op: Operation, value: SSAValue) -> int:
    """Return a value's location, from its allocation or function argument."""
    while isinstance(value, OpResult):
        owner = value.owner
        if isinstance(owner, TableOp) and owner.name in ("ttir.alloc", "ttmetal.alloc"):
            return int(owner.get("address"))
        if isinstance(owner, TableOp) and owner.outs:
            value = owner.outs[value.index]
        elif owner.name == "ttmetal.dispatch" or owner.name.startswith("ttmetal.host"):
            value = owner.operands[len(owner.operands) - 1]
        else:
            raise fail(module, op, "an operand is not allocated: run ttir-allocate before convert-ttir-to-ttmetal")
    function = op
    while function.name != "func.func":
        parent = function.parent_op()
        assert parent is not None
        function = parent
    allocations = function.attributes.get("tt.arg_alloc")
    index = getattr(value, "index", 0)
    if not isinstance(allocations, ArrayAttr) or index >= len(allocations.data):
        raise fail(module, op, "an argument is not allocated: run ttir-allocate before convert-ttir-to-ttmetal")
    return int(allocations.data[index].address)


def _unit_bytes(layout: LayoutAttr) -> int:
    element = layout.element
    if isinstance(element, TileType):
        return tile_bytes(element.dtype, element.height, element.width)
    return element_bytes(data_type(element))


# Kernels


class _Kernel:
    """A region that is being written: constants are made once."""

    def __init__(self, module: Module, argument_types: Sequence[Attribute] = ()) -> None:
        self.module = module
        self.block = Block(arg_types=list(argument_types))
        self._constants: dict[int, SSAValue] = {}

    def constant(self, value: int) -> SSAValue:
        """Return an `i32` constant."""
        known = self._constants.get(value)
        if known is None:
            kind = foreign_operation("arith.constant")
            op = kind.create(result_types=[IntegerType(32)], properties={"value": i32_attr(value)})
            self.block.add_op(op)
            known = self._constants[value] = op.results[0]
        return known

    def call(self, name: str, operands: Sequence[SSAValue] = (), results: Sequence[Attribute] = ()) -> SSAValue | None:
        """Append a call of the kernel API; return its result."""
        op = make(f"ttkernel.{name}", self.module.version, list(operands), list(results))
        self.block.add_op(op)
        return op.results[0] if op.results else None

    def region(self) -> Region:
        """End the kernel and return its region."""
        self.call("return")
        return Region([self.block])


def _circular_buffer(port: str, address: int, layout: LayoutAttr, page: int) -> OpaqueDialectType:
    parts = (f"<{port}, {address}, ", layout.memref, f", {page}, 1>")
    return OpaqueDialectType("ttkernel.cb", parts)


_NOC_ADDRESS = OpaqueDialectType("ttkernel.noc_addr", ())
_NOC0 = OpaqueDialectAttr("ttkernel.noc_config", ("<noc0>",))
_TENSIX = OpaqueDialectAttr("ttkernel.tensix_config", ("<hifi4, false, false, false>",))


def _dispatch(
    module: Module,
    op: TableOp,
    inputs: Sequence[SSAValue],
    ranges: Sequence[CoreRangeAttr],
    configs: Sequence[Attribute],
    regions: Sequence[Region],
) -> None:
    outs = op.outs
    if not outs:
        raise fail(module, op, "its output is not allocated: run ttir-allocate before convert-ttir-to-ttmetal")
    new = make(
        "ttmetal.dispatch",
        module.version,
        [*inputs, *outs],
        [result.type for result in op.results],
        {
            "core_ranges": ArrayAttr(ranges),
            "kernelConfigs": ArrayAttr(configs),
            SEGMENTS: DenseArrayBase.from_list(IntegerType(32), [len(inputs), len(outs)]),
        },
        regions=regions,
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)


# Layouts


def _to_layout(module: Module, op: TableOp) -> None:
    source, target = _layout(module, op, op.inputs[0]), _layout(module, op, op.results[0])
    found = changes(source, target)
    if target.space in ("system", "mmio"):
        new = make(
            "ttmetal.host_read", module.version, [op.inputs[0], *op.outs], [op.results[0].type], location=op.location
        )
        insert_before(op, new)
        replace(op, new.results)
    elif source.space in ("system", "mmio"):
        raise fail(
            module, op, "moving a tensor of the host into a device layout has no command; write it from a constant"
        )
    elif found == ["format"]:
        _reformat(module, op, source, target)
    elif "format" not in found:
        _relayout(module, op, source, target)
    else:
        raise fail(module, op, f"changes {' and '.join(found)} at once: run ttir-split-compound-layout before")


def _reformat(module: Module, op: TableOp, source: LayoutAttr, target: LayoutAttr) -> None:
    if source.tiled == target.tiled:
        raise fail(module, op, "a change of the data type of tiles has no kernel")
    page = _unit_bytes(source if source.tiled else target)
    tiles = (source if source.tiled else target).memref.get_shape()
    kernel = _Kernel(
        module,
        [
            _circular_buffer("cb_in0", _address(module, op, op.inputs[0]), source, page),
            _circular_buffer("cb_out0", _address(module, op, op.outs[0]), target, page),
        ],
    )
    consumed, produced = kernel.block.args
    row = kernel.constant(tiles[-1])
    if target.tiled:
        kernel.call("tilize_init", [consumed, row, produced])
    else:
        kernel.call("untilize_init", [consumed, produced])
    repeated = math.prod(tiles) // tiles[-1]
    if repeated > CORES:
        raise fail(module, op, f"has {repeated} rows of tiles on a core, and a kernel repeats its steps {CORES} times")
    for _ in range(repeated):
        kernel.call("tilize_block" if target.tiled else "untilize_block", [consumed, row, produced])
        kernel.call("cb_pop_front", [consumed, row])
        kernel.call("cb_push_back", [produced, row])
    grid = source.grid.shape
    ranges = [CoreRangeAttr("ttmetal", (0,) * len(grid), grid)]
    _dispatch(module, op, [op.inputs[0]], ranges, [_TENSIX], [kernel.region()])


@dataclass
class _Transfer:
    """A contiguous piece: source or target core, and byte offsets."""

    other: tuple[int, int]
    source: int
    target: int
    size: int


def _points(layout: LayoutAttr, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return physical indices of all elements or tiles: [count, rank]."""
    if layout.tiled:
        sizes = [a * b for a, b in zip(layout.memref.get_shape(), layout.grid.shape, strict=True)]
        tiles: Points = np.indices(sizes, dtype=np.int64).reshape(len(sizes), -1).T
        return tiles
    index = np.indices(shape, dtype=np.int64).reshape(len(shape), -1)
    count = index.shape[1]
    columns = [np.broadcast_to(np.asarray(_evaluate(result, index)), (count,)) for result in layout.linear.results]
    return np.stack(columns, axis=1)


def _evaluate(expression: Any, index: NDArray[np.int64]) -> Any:
    """Return an affine expression at many points at once."""
    if hasattr(expression, "value"):
        return expression.value
    if hasattr(expression, "position"):
        return index[expression.position]
    left, right = _evaluate(expression.lhs, index), _evaluate(expression.rhs, index)
    name = expression.kind.name
    if name == "Add":
        return left + right
    if name == "Mul":
        return left * right
    if name == "Mod":
        return left % right
    return left // right if name == "FloorDiv" else -(-left // right)


def _placed(
    layout: LayoutAttr, points: NDArray[np.int64], channels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (y, x) and offset of physical indices.

    The offset is in elements or tiles; the place is a core in L1, a channel in DRAM.
    """
    shard = np.array(layout.memref.get_shape(), dtype=np.int64)
    grid = np.array(layout.grid.shape, dtype=np.int64)
    core, within = points // shard, points % shard
    offset = np.zeros(len(points), dtype=np.int64)
    for axis in range(points.shape[1]):
        offset = offset * shard[axis] + within[:, axis]
    if layout.space == "l1":
        flat = (
            core if core.shape[1] == 2 else np.concatenate([np.zeros((len(core), 2), np.int64), core], axis=1)[:, -2:]
        )
        return flat, offset
    number = np.zeros(len(points), dtype=np.int64)
    for axis in range(points.shape[1]):
        number = number * grid[axis] + core[:, axis]
    address = number * int(np.prod(shard)) + offset
    page = address // _PAGE
    places = np.stack([np.zeros_like(page), page % channels], axis=1)
    return places, page // channels * _PAGE + address % _PAGE


def _relayout(module: Module, op: TableOp, source: LayoutAttr, target: LayoutAttr) -> None:
    if "l1" not in (source.space, target.space):
        raise fail(module, op, "data moves between L1 of cores and DRAM: one side must be in L1")
    desc = system_desc_of(module)
    chip = desc.chips[0]
    shape = shape_of(op.results[0])
    unit = _unit_bytes(source)
    source_points, target_points = _points(source, shape), _points(target, shape)
    if len(source_points) != len(target_points):
        raise fail(module, op, "both layouts must have the same physical tiles")
    from_place, from_offset = _placed(source, source_points, chip.num_dram_channels)
    to_place, to_offset = _placed(target, target_points, chip.num_dram_channels)
    reads = target.space == "l1"
    own, other = (to_place, from_place) if reads else (from_place, to_place)
    cores = _transfers(own, other, from_offset * unit, to_offset * unit, unit)
    base_in, base_out = _address(module, op, op.inputs[0]), _address(module, op, op.outs[0])
    remote_space = source.space if reads else target.space
    regions, ranges = [], []
    for (y, x), pieces in cores.items():
        kernel = _Kernel(module)
        for piece in pieces:
            if remote_space == "l1":
                far_y, far_x = chip.workers[piece.other[0] * chip.grid[1] + piece.other[1]]
            else:
                far_y, far_x = chip.dram[piece.other[1]]
            here, there = base_in + piece.source, base_out + piece.target
            remote, local = (here, there) if reads else (there, here)
            place = [kernel.constant(far_x), kernel.constant(far_y), kernel.constant(remote)]
            address = kernel.call("get_noc_addr", place, [_NOC_ADDRESS])
            assert address is not None
            ends = [address, kernel.constant(local)] if reads else [kernel.constant(local), address]
            kernel.call("noc_async_read" if reads else "noc_async_write", [*ends, kernel.constant(piece.size)])
        kernel.call("noc_async_read_barrier" if reads else "noc_async_write_barrier")
        regions.append(kernel.region())
        ranges.append(CoreRangeAttr("ttmetal", (y, x), (1, 1)))
    _dispatch(module, op, [op.inputs[0]], ranges, [_NOC0] * len(regions), regions)


def _transfers(
    own: NDArray[np.int64],
    other: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    unit: int,
) -> dict[tuple[int, int], list[_Transfer]]:
    """Return each core's pieces, with contiguous neighbours merged.

    They are contiguous on both sides.
    """
    found: dict[tuple[int, int], list[_Transfer]] = {}
    order = np.lexsort((target, own[:, 1], own[:, 0]))
    own, other, source, target = own[order], other[order], source[order], target[order]
    same = np.all(own[1:] == own[:-1], axis=1) & np.all(other[1:] == other[:-1], axis=1)
    same &= (source[1:] == source[:-1] + unit) & (target[1:] == target[:-1] + unit)
    starts = np.concatenate([[0], np.flatnonzero(~same) + 1, [len(own)]])
    for begin, end in itertools.pairwise(starts):
        core = int(own[begin, 0]), int(own[begin, 1])
        far = int(other[begin, 0]), int(other[begin, 1])
        piece = _Transfer(far, int(source[begin]), int(target[begin]), int(end - begin) * unit)
        found.setdefault(core, []).append(piece)
    return found


# Regions


def _generic(module: Module, op: TableOp) -> None:
    body = op.regions[0].blocks.first
    assert body is not None
    inner = [one for one in body.ops if one.name != "ttir.yield"]
    if len(inner) != 1 or inner[0].name not in {**_BINARY, **_UNARY}:
        names = ", ".join(one.name for one in inner)
        raise fail(module, op, f"has no kernel for {names}: there are those of add, multiply and exp")
    name = inner[0].name
    layouts = [_layout(module, op, value) for value in (*op.inputs, *op.outs)]
    if not all(layout.tiled for layout in layouts):
        raise fail(module, op, "compute kernels work on tiles: an operand is not tiled")
    page = _unit_bytes(layouts[0])
    ports = [f"cb_in{i}" for i in range(len(op.inputs))] + [f"cb_out{i}" for i in range(len(op.outs))]
    types = [
        _circular_buffer(port, _address(module, op, value), layout, page)
        for port, value, layout in zip(ports, (*op.inputs, *op.outs), layouts, strict=True)
    ]
    kernel = _Kernel(module, types)
    *consumed, produced = kernel.block.args
    zero = kernel.constant(0)
    tiles = math.prod(layouts[-1].memref.get_shape())
    if name in _BINARY:
        init, compute = _BINARY[name]
        kernel.call("binary_op_init_common", [*consumed, produced])
        kernel.call(init, consumed)
    else:
        init, compute = _UNARY[name]
        kernel.call("unary_op_init_common", [consumed[0], produced])
        kernel.call(init)
    for tile in range(tiles):
        number = kernel.constant(tile)
        kernel.call("tile_regs_acquire")
        if name in _BINARY:
            kernel.call(compute, [*consumed, number, number, zero])
        else:
            kernel.call("copy_tile", [consumed[0], number, zero])
            kernel.call(compute, [zero])
        kernel.call("tile_regs_commit")
        kernel.call("tile_regs_wait")
        kernel.call("pack_tile", [zero, produced, number])
        kernel.call("tile_regs_release")
    count = kernel.constant(tiles)
    for buffer in consumed:
        kernel.call("cb_pop_front", [buffer, count])
    kernel.call("cb_push_back", [produced, count])
    grid = layouts[-1].grid.shape
    ranges = [CoreRangeAttr("ttmetal", (0,) * len(grid), grid)]
    _dispatch(module, op, list(op.inputs), ranges, [_TENSIX], [kernel.region()])


def _fill(module: Module, op: TableOp) -> None:
    """Write a constant from the host."""
    new = make(
        "ttmetal.host_write",
        module.version,
        list(op.outs),
        [op.results[0].type],
        {"value": op.properties["value"]},
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)
