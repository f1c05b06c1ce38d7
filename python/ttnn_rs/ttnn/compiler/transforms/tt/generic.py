"""Dispatch regions of 2024-09: named operations inside `ttir.generic`."""

from __future__ import annotations

from ttnn.compiler.dialects.attributes import BufferAttr, ConstraintAttr, EnumAttr, GridAttr, LayoutAttr
from ttnn.compiler.dialects.enums import CONSTRAINT_GROUPS
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.affine import dim
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    Block,
    Region,
    SSAValue,
    SymbolRefAttr,
    TensorType,
)
from ttnn.compiler.transforms.base import insert_before, replace, set_type, table_ops
from ttnn.compiler.transforms.traits import has

__all__ = ["generic", "generic_kernel", "operands_to_memref"]

_TILES = ConstraintAttr(CONSTRAINT_GROUPS["any_device_tile"])


def _dispatched(module: Module) -> list[TableOp]:
    """Return operations that get a region.

    Elementwise operations and matmuls at the top of functions.
    """
    found = []
    for op in table_ops(module.op, "ttir."):
        parent = op.parent_op()
        inside = parent is not None and parent.name == "ttir.generic"
        if not inside and (has(op, "elementwise") or op.name in ("ttir.matmul", "ttir.kernel")):
            found.append(op)
    return found


def _maps(op: TableOp) -> tuple[list[AffineMap], list[str]]:
    """Return each operand's map, results last, and loop kinds."""
    if op.name == "ttir.matmul":
        row, column, inner = (dim(i) for i in range(3))
        rank = max(len(shape_of(op.inputs[0])), 2)
        if rank == 2:
            pairs = [(row, inner), (inner, column), (row, column)]
            return [AffineMap(3, 0, pair) for pair in pairs], ["parallel", "parallel", "systolic"]
        batch = tuple(dim(i) for i in range(rank - 2))
        row, column, inner = (dim(rank - 2 + i) for i in range(3))
        triples = [(*batch, row, inner), (*batch, inner, column), (*batch, row, column)]
        return [AffineMap(rank + 1, 0, one) for one in triples], ["parallel"] * rank + ["systolic"]
    rank = len(shape_of(op.results[0]))
    maps = [AffineMap.identity(rank)] * (len(op.inputs) + len(op.results))
    return maps, ["parallel"] * rank


def _wrap(module: Module, op: TableOp, maps: list[AffineMap], kinds: list[str]) -> None:
    types = [value.type for value in op.inputs] + [result.type for result in op.results]
    block = Block(arg_types=types)
    inner = make(
        op.name,
        module.version,
        list(block.args[: len(op.inputs)]),
        [result.type for result in op.results],
        dict(op.properties),
        outs=tuple(block.args[len(op.inputs) :]),
        attributes=dict(op.attributes),
        location=op.location,
    )
    block.add_op(inner)
    block.add_op(make("ttir.yield", module.version, list(inner.results), [], location=op.location))
    properties: dict[str, Attribute] = {
        "grid": GridAttr("tt", (1, 1)),
        "indexing_maps": ArrayAttr([AffineMapAttr(one) for one in maps]),
        "iterator_types": ArrayAttr([EnumAttr("tt.iterator_type", kind) for kind in kinds]),
        # Kernels compute on tiles in L1, whatever the operation alone would take.
        "operand_constraints": ArrayAttr([_TILES] * len(types)),
    }
    new = make(
        "ttir.generic",
        module.version,
        list(op.inputs),
        [result.type for result in op.results],
        properties,
        outs=op.outs,
        regions=[Region([block])],
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)


def generic(module: Module) -> None:
    """Wrap each elementwise operation and matmul in a region of one core."""
    for op in _dispatched(module):
        _wrap(module, op, *_maps(op))


def generic_kernel(module: Module) -> None:
    """Wrap elementwise operations and matmuls as `kernel` in regions.

    Each is a `kernel` of its name.
    """
    for op in _dispatched(module):
        if op.name == "ttir.kernel":
            continue
        name = op.name.partition(".")[2]
        kernel = make(
            "ttir.kernel",
            module.version,
            list(op.inputs),
            [result.type for result in op.results],
            {
                "op": SymbolRefAttr(name),
                "kind": SymbolRefAttr("matmul" if op.name == "ttir.matmul" else "eltwise"),
                "operand_constraints": op.properties.get("operand_constraints", ArrayAttr([])),
            },
            outs=op.outs,
            location=op.location,
        )
        maps, kinds = _maps(op)
        insert_before(op, kernel)
        replace(op, kernel.results)
        _wrap(module, kernel, maps, kinds)


def operands_to_memref(module: Module) -> None:
    """Convert region arguments from tensors to core memory buffers."""
    for op in table_ops(module.op, "ttir.generic"):
        block = op.regions[0].blocks.first
        if block is None:
            continue
        for argument, value in zip(block.args, (*op.inputs, *(op.outs or op.results)), strict=True):
            new = _buffer(value.type)
            if new is not None:
                set_type(argument, new)
        by_value: dict[SSAValue, Attribute] = {argument: argument.type for argument in block.args}
        for inner in block.ops:
            if isinstance(inner, TableOp):
                for result, out in zip(inner.results, inner.outs, strict=False):
                    set_type(result, by_value.get(out, out.type))
                    by_value[result] = result.type


def _buffer(type_: Attribute) -> Attribute | None:
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    if not isinstance(encoding, LayoutAttr) or not isinstance(type_, TensorType):
        return None
    return TensorType(type_.element_type, encoding.memref.get_shape(), BufferAttr(encoding.memref, "alias"))
