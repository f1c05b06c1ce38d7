"""`ttir-layout` of 2024-09: layouts of tensors and operands.

Every tensor gets a layout, every operand comes where its operation allows it.
"""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.attributes import ConstraintAttr
from ttnn.compiler.dialects.enums import CONSTRAINT_GROUPS
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    FuncOp,
    FunctionType,
    NoneAttr,
    Operation,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import insert_before, owner_of, set_type, update_function_type
from ttnn.compiler.transforms.tt.layouts import (
    layout_of,
    new_layout,
    tile_of,
    with_encoding,
)
from ttnn.compiler.transforms.ttcore.system import device_of

__all__ = ["run"]

_ORDER = ("interleaved", "single_bank", "height_sharded", "width_sharded", "block_sharded")
_ANYWHERE = ConstraintAttr(CONSTRAINT_GROUPS["any_device"])
_KEPT = {"ttir.to_layout", "ttir.constant", "ttir.yield", "ttir.alloc", "ttir.dealloc"}


def run(module: Module, options: dict[str, Any]) -> None:
    """Assign layouts to all tensors and insert `to_layout` operations.

    Raises:
        CompileError: An option is not a memory space or layout.
    """
    device = device_of(module)
    # Without a device the grid is that of one chip.
    rank = len(device.grid.shape) if device is not None else 2
    initial = _word(module, options["init-memory-space"], ("system", "mmio", "dram", "l1"))
    space = _word(module, options["default-memory-space"], ("system", "mmio", "dram", "l1"))
    default = _word(module, options["default-device-memory-layout"], ("none", *_ORDER))
    for op in module.op.walk():
        if not _inside_generic(op):
            for result in op.results:
                set_type(result, _initial(result.type, initial, rank))
            if not isinstance(op, TableOp) or op.name != "ttir.generic":
                for region in op.regions:
                    for block in region.blocks:
                        for argument in block.args:
                            set_type(argument, _initial(argument.type, initial, rank))
    for function in module.functions():
        kind = function.function_type
        function.properties["function_type"] = FunctionType.from_lists(
            [_initial(type_, initial, rank) for type_ in kind.inputs.data],
            [_initial(type_, initial, rank) for type_ in kind.outputs.data],
        )
        for op in list(function.walk()):
            if isinstance(op, TableOp) and op.name.startswith("ttir.") and not _inside_generic(op):
                _operands(module, op, space, default)
        _returns(module, function, initial, default)
        update_function_type(function)


def _word(module: Module, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise CompileError(module.at(module.op, f"ttir-layout: expected one of {', '.join(words)}, got '{word}'"))
    return word


def _inside_generic(op: Operation) -> bool:
    parent = op.parent_op()
    return parent is not None and parent.name == "ttir.generic"


def _initial(type_: Attribute, space: str, rank: int) -> Attribute:
    if not isinstance(type_, TensorType) or not isinstance(type_.encoding, NoneAttr):
        return type_
    return with_encoding(type_, new_layout(type_, space, (1,) * rank))


def _constraint(op: TableOp, index: int) -> ConstraintAttr:
    constraints = op.properties.get("operand_constraints")
    if isinstance(constraints, ArrayAttr) and index < len(constraints.data):
        one = constraints.data[index]
        if isinstance(one, ConstraintAttr):
            return one
    return _ANYWHERE


def _operands(module: Module, op: TableOp, space: str, default: str) -> None:
    if op.name in _KEPT:
        return
    count = len(op.inputs)
    if op.name != "ttir.conv2d":
        # The operation of the library brings the operands of convolutions to the device itself.
        for i, value in enumerate(op.inputs):
            op.operands[i] = _bring(module, op, value, _constraint(op, i), space, default)
    for i, out in enumerate(op.outs):
        op.operands[count + i] = _bring(module, op, out, _constraint(op, count + i), space, default)
    for i, result in enumerate(op.results):
        wanted = _wanted(result.type, _constraint(op, count + i), space, default)
        if op.outs:
            set_type(result, op.outs[i].type)
        elif wanted is not None:
            set_type(result, wanted)


def _wanted(type_: Attribute, constraint: ConstraintAttr, space: str, default: str) -> Attribute | None:
    """Return the type with a constraint's layout, or None.

    None if it has it already.
    """
    word = next((one for one in (space, "dram", "l1") if constraint.allows(one)), "system")
    layout = "none"
    if default != "none" and word in ("dram", "l1"):
        layout = next((one for one in (default, *_ORDER) if constraint.allows(one)), "none")
    return _with(type_, word, layout, tiled=not constraint.allows("scalar"))


def _with(type_: Attribute, space: str, mem_layout: str, *, tiled: bool) -> Attribute | None:
    current = layout_of(type_)
    if current is None or not isinstance(type_, TensorType):
        return None
    element = tile_of(type_.element_type) if tiled else type_.element_type
    if (current.space, current.element, current.mem_layout) == (space, element, mem_layout):
        return None
    return with_encoding(type_, new_layout(type_, space, current.grid.shape, element=element, mem_layout=mem_layout))


def _bring(
    module: Module, op: Operation, value: SSAValue, constraint: ConstraintAttr, space: str, default: str
) -> SSAValue:
    wanted = _wanted(value.type, constraint, space, default)
    return value if wanted is None else _convert(module, op, value, wanted)


def _convert(module: Module, op: Operation, value: SSAValue, wanted: Attribute) -> SSAValue:
    """Return a value in another layout.

    What makes empty or constant tensors makes them there at once.
    """
    producer = owner_of(value)
    if producer is not None and producer.name in ("tensor.empty", "ttir.constant"):
        set_type(value, wanted)
        return value
    new = make("ttir.to_layout", module.version, [value], [wanted], location=op.location)
    insert_before(op, new)
    return new.results[0]


def _returns(module: Module, function: FuncOp, initial: str, default: str) -> None:
    for op in list(function.walk()):
        if op.name == "func.return":
            for i, value in enumerate(op.operands):
                layout = default if initial in ("dram", "l1") else "none"
                wanted = _with(value.type, initial, layout, tiled=False)
                if wanted is not None:
                    op.operands[i] = _convert(module, op, value, wanted)
