"""`ttir-allocate` of 2024-09: buffer addresses, freed after last use."""

from __future__ import annotations

import math

from ttnn.compiler.dialects.attributes import ArgAllocAttr, LayoutAttr, TileType, data_type
from ttnn.compiler.dialects.kinds import integer
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.spec import text_of
from ttnn.compiler.dialects.ttcore.algebra import element_bytes, tile_bytes
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, FuncOp, Operation, SSAValue
from ttnn.compiler.transforms.base import fail, insert_before
from ttnn.compiler.transforms.tt.layouts import layout_of, space_attr
from ttnn.compiler.transforms.ttcore.system import system_desc_of

__all__ = ["layout_bytes", "run"]


def layout_bytes(layout: LayoutAttr) -> int:
    """Return the bytes of the shard of one core."""
    element = layout.element
    if isinstance(element, TileType):
        size = tile_bytes(element.dtype, element.height, element.width)
    else:
        size = element_bytes(data_type(element))
    return math.prod(layout.memref.get_shape()) * size


class _Allocator:
    """Hands out addresses of a memory from low to high."""

    def __init__(self, space: str, base: int, end: int, align: int) -> None:
        self.space, self.next, self.end, self.align = space, base, end, align

    def take(self, module: Module, op: Operation, size: int) -> int:
        address = -(-self.next // self.align) * self.align
        self.next = address + size
        if self.next > self.end:
            raise fail(module, op, f"out of memory: {size} bytes at {address} pass the end {self.end} of {self.space}")
        return address


def run(module: Module) -> None:
    """Assign addresses to arguments and results.

    Raises:
        CompileError: A tensor has no layout, or a memory is full.
    """
    chip = system_desc_of(module).chips[0]
    for function in module.functions():
        spaces = {
            "l1": _Allocator("l1", chip.l1_unreserved_base, chip.l1_size, chip.noc_l1_address_align_bytes),
            "dram": _Allocator(
                "dram", chip.dram_unreserved_base, chip.dram_unreserved_end, chip.noc_dram_address_align_bytes
            ),
        }
        _function(module, function, spaces)


def _function(module: Module, function: FuncOp, spaces: dict[str, _Allocator]) -> None:
    body = function.regions[0].blocks.first
    if body is None:
        return
    allocations: list[Attribute] = []
    for argument in body.args:
        layout = _layout(module, function, argument)
        address, size = _take(module, function, layout, spaces)
        allocations.append(ArgAllocAttr(address, size, layout.space))
    function.attributes["tt.arg_alloc"] = ArrayAttr(allocations)
    for op in list(body.ops):
        if op.name == "tensor.empty":
            _own(module, op, op.results[0], op, spaces, replace_it=True)
        elif isinstance(op, TableOp) and text_of(op.name, module.version).outs and not op.n_outs:
            for result in op.results:
                _own(module, op, result, op, spaces, replace_it=False)


def _layout(module: Module, op: Operation, value: SSAValue) -> LayoutAttr:
    layout = layout_of(value.type)
    if layout is None:
        raise fail(module, op, "a tensor without layout cannot be allocated: run ttir-layout before it")
    return layout


def _take(module: Module, op: Operation, layout: LayoutAttr, spaces: dict[str, _Allocator]) -> tuple[int, int]:
    size = layout_bytes(layout)
    allocator = spaces.get(layout.space)
    return (allocator.take(module, op, size) if allocator is not None else 0), size


def _own(
    module: Module,
    op: Operation,
    value: SSAValue,
    place: Operation,
    spaces: dict[str, _Allocator],
    *,
    replace_it: bool,
) -> None:
    layout = _layout(module, op, value)
    address, size = _take(module, op, layout, spaces)

    alloc = make(
        "ttir.alloc",
        module.version,
        [],
        [value.type],
        {"address": integer(address, "i64"), "size": integer(size, "i64"), "memory_space": space_attr(layout.space)},
        location=op.location,
    )
    insert_before(place, alloc)
    buffer = alloc.results[0]
    if replace_it:
        value.replace_all_uses_with(buffer)
        op.detach()
        op.erase()
        last = _last_use(alloc, buffer)
    else:
        assert isinstance(op, TableOp)
        op.operands = [*op.operands, buffer]
        op.n_outs += 1
        last = _last_use(op, value)
    if last is not None and last.name != "func.return":
        dealloc = make("ttir.dealloc", module.version, [buffer], [], location=last.location)
        block = last.parent
        assert block is not None
        block.insert_op_after(dealloc, last)


def _last_use(owner: Operation, value: SSAValue) -> Operation | None:
    """Return the block's last user of a value or its aliases."""
    users = {use.operation for use in value.uses}
    block = owner.parent
    assert block is not None
    last: Operation | None = None
    for op in block.ops:
        if op in users or any(inner in users for inner in op.walk()):
            last = op
            if isinstance(op, TableOp) and value in op.outs and op is not owner:
                users |= {use.operation for result in op.results for use in result.uses}
    return last or (None if owner.name == "ttir.alloc" else owner)
