"""A function cut into the parts that run in turn.

Operations of the device between two calls of other parts are one program. Each is as early as what it reads allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ttnn.compiler.importers.builder.segments import Part, part_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Block,
    BlockArgument,
    CallOp,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    ModuleOp,
    Operation,
    Region,
    ReturnOp,
    SSAValue,
)

__all__ = ["Cut", "partition"]


@dataclass
class Cut:
    """A part of a function.

    Attributes:
        reads: Numbers of the values that it reads.
        writes: Numbers of its results.
        program: The program of the device, if it is one.
        part: What else it is.
        call: The call of it.
    """

    reads: list[int]
    writes: list[int]
    program: Module | None = None
    part: Part | None = None
    call: CallOp | None = None


_FLOATING: Final = frozenset({"ttir.constant", "ttir.full", "ttir.zeros", "ttir.ones", "ttir.arange"})
"""Operations that each program that reads them has its own copy of."""


@dataclass
class _Cutter:
    module: Module
    function: FuncOp
    end: Operation
    used: set[Operation]
    numbers: dict[SSAValue, int] = field(default_factory=dict)
    floating: dict[SSAValue, Operation] = field(default_factory=dict)

    def number(self, value: SSAValue) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


def partition(module: Module, function: FuncOp) -> tuple[list[Cut], list[int]] | None:
    """Return the parts of a function, and the numbers of its results.

    Values are numbered, the arguments first. None for a function that is one program of the device.
    """
    parts = {one.sym_name.data: part for one in module.functions() if (part := part_of(one)) is not None}
    block = function.regions[0].blocks[0]
    calls = {one: parts[_callee(one)] for one in block.ops if isinstance(one, CallOp) and _callee(one) in parts}
    if not parts:
        return None
    operations = list(block.ops)
    end = operations.pop()
    cutter = _Cutter(module, function, end, _used(operations, end))
    for argument in block.args:
        cutter.number(argument)
    level: dict[SSAValue, int] = dict.fromkeys(block.args, 0)
    programs: dict[int, list[Operation]] = {}
    others: dict[int, list[CallOp]] = {}
    for op in operations:
        if op not in cutter.used:
            continue
        if op.name in _FLOATING:
            cutter.floating.update(dict.fromkeys(op.results, op))
            continue
        at = max((level.get(one, 0) for one in _reads(op)), default=0)
        if op in calls:
            assert isinstance(op, CallOp)
            others.setdefault(at, []).append(op)
            level.update(dict.fromkeys(op.results, at + 1))
        else:
            programs.setdefault(at, []).append(op)
            level.update(dict.fromkeys(op.results, at))
    _settle(cutter.floating, programs, others, end)
    cuts: list[Cut] = []
    for at in range(max([*programs, *others], default=-1) + 1):
        if programs.get(at):
            cuts.append(_program(cutter, programs[at], f"{function.sym_name.data}_{len(cuts)}"))
        for call in others.get(at, []):
            reads, writes = ([cutter.number(one) for one in values] for values in (call.operands, call.results))
            cuts.append(Cut(reads, writes, part=calls[call], call=call))
    return cuts, [cutter.number(one) for one in end.operands]


def _settle(
    floating: dict[SSAValue, Operation],
    programs: dict[int, list[Operation]],
    others: Mapping[int, Sequence[CallOp]],
    end: Operation,
) -> None:
    """Compute constants that other parts read in the first program.

    Others are parts that are no programs, and the caller.
    """
    read = {one for calls in others.values() for call in calls for one in call.operands} | set(end.operands)
    settled = list(dict.fromkeys(op for value, op in floating.items() if value in read))
    if settled:
        programs[0] = [*settled, *programs.get(0, [])]


def _callee(call: CallOp) -> str:
    return str(call.callee.string_value())


def _reads(op: Operation) -> list[SSAValue]:
    """Return the values that an operation reads, those of its regions too."""
    if not op.regions:
        return list(op.operands)
    inside = {value for one in op.walk() for value in one.results}
    inside |= {value for one in op.walk() for region in one.regions for part in region.blocks for value in part.args}
    return [value for one in op.walk() for value in one.operands if value not in inside]


def _used(operations: Sequence[Operation], end: Operation) -> set[Operation]:
    """Return the operations whose results are needed."""
    needed, used = set(end.operands), set()
    for op in reversed(operations):
        if not op.results or any(one in needed for one in op.results):
            used.add(op)
            needed.update(_reads(op))
    return used


def _program(cutter: _Cutter, operations: Sequence[Operation], name: str) -> Cut:
    """Return operations as a program of the device."""
    floating = cutter.floating
    members = set(operations)
    made = {one for op in operations for one in op.results}
    constants = list(
        dict.fromkeys(
            floating[one] for op in operations for one in _reads(op) if one in floating and floating[one] not in members
        )
    )
    near = {one for op in constants for one in op.results}
    reads = list(dict.fromkeys(one for op in operations for one in _reads(op) if one not in made and one not in near))
    writes = [one for op in operations for one in op.results if _outside(one, members, cutter.used, cutter.end)]
    block = Block(arg_types=[one.type for one in reads])
    values: dict[SSAValue, SSAValue] = dict(zip(reads, block.args, strict=True))
    for op in (*constants, *operations):
        block.add_op(op.clone(values))
    block.add_op(ReturnOp(*(values[one] for one in writes)))
    given = cutter.function.arg_attrs
    attributes = [
        given.data[one.index]
        if given is not None and isinstance(one, BlockArgument) and one.owner is cutter.function.regions[0].blocks[0]
        else DictionaryAttr({})
        for one in reads
    ]
    type_ = FunctionType.from_lists([one.type for one in reads], [one.type for one in writes])
    function = FuncOp(name, type_, Region(block), arg_attrs=ArrayAttr(attributes))
    whole = ModuleOp([function], dict(cutter.module.op.attributes))
    program = Module(whole, cutter.module.version, cutter.module.filename, dict(cutter.module.resources))
    return Cut([cutter.number(one) for one in reads], [cutter.number(one) for one in writes], program)


def _outside(value: SSAValue, members: set[Operation], used: set[Operation], end: Operation) -> bool:
    """Return whether an operation outside of a program reads a value."""
    for use in value.uses:
        op = use.operation
        while (above := op.parent_op()) is not None and not isinstance(above, FuncOp):
            op = above
        if op is end or (op in used and op not in members):
            return True
    return False
