"""`ttnn-trace-hoist-transform`: a program's computation as a repeatable trace.

It is recorded, and run again from the trace.

The operations of a program of the device move to a function of their own. Further functions capture a trace of it and
run the trace; `ttnn.capture_or_execute_trace` stands in the program for all of them. In 2026-08 the recorded
function writes its results to slots, which a fourth function allocates once; in 2025-10 the capturing function
allocates slots and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.dialects.attributes import EnumAttr
from ttnn.compiler.dialects.device_attributes import TtnnDeviceType
from ttnn.compiler.features import FUNCTION_KINDS, TRACE_SLOTS
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    BlockArgument,
    CallOp,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Operation,
    OpResult,
    Region,
    ReturnOp,
    Signedness,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from ttnn.compiler.transforms.base import erase, fail, insert_before, replace, set_type, update_function_type
from ttnn.compiler.transforms.traits import named, writes
from ttnn.compiler.transforms.ttnn.build import Build
from ttnn.compiler.transforms.ttnn.const_eval_hoist import KIND, function_kind
from ttnn.compiler.transforms.ttnn.layout.layouts import layout_of, shape_attr
from ttnn.compiler.transforms.ttnn.layout.types import element_word, on_host, retyped

__all__ = ["TRACE", "is_trace", "run"]

#: Attribute of functions of traces in version 2025-10.
TRACE: Final = "ttnn.trace"
_CACHE: Final = "ttcore.kv_cache"
_TYPE: Final = "ttcore.argument_type"
_STAYS: Final = ("func.return", "ttcore.load_cached", "ttnn.capture_or_execute_trace", "ttnn.get_device")
_CREATES: Final = frozenset(f"ttnn.{name}" for name in (*named("ttnn", "creates"), "create_global_semaphore"))
#: Made once before a trace, and used by it where they are.
_SCRATCH: Final = ("ttcore.load_cached", "ttnn.empty", "ttnn.alloc")


def is_trace(function: FuncOp) -> bool:
    """Return whether a function belongs to a trace."""
    return TRACE in function.attributes or function_kind(function).startswith("trace_")


def run(module: Module) -> None:
    """Move device programs' computation to functions recorded as traces.

    Raises:
        CompileError: An operation that cannot be recorded stands between others.
    """
    slots = TRACE_SLOTS.of(module.version)
    number = 0
    for function in module.functions():
        body = function.regions[0].blocks.first
        wanted = function_kind(function) == ("forward_device" if slots else "") and not is_trace(function)
        if body is None or not wanted:
            continue
        ops = _recorded(module, body)
        if not ops:
            continue
        hoist = _hoist_with_slots if slots else _hoist
        hoist(_Program(module, function, ops, number))
        number += 1


def _stays(op: Operation) -> bool:
    return op.name in _STAYS or op.name in _CREATES


def _recorded(module: Module, body: Block) -> list[Operation]:
    """Return the recorded operations.

    Those that only make tensors move before the first of them.
    """
    ops = [op for op in body.ops if op.name != "func.return"]
    places = [index for index, op in enumerate(ops) if not _stays(op)]
    if not places:
        return []
    found = []
    for op in ops[places[0] : places[-1] + 1]:
        if not _stays(op):
            found.append(op)
        elif op.name in _CREATES and TRACE_SLOTS.of(module.version):
            op.detach()
            insert_before(ops[places[0]], op)
        else:
            raise fail(module, op, "cannot be recorded in a trace, but is between operations that are")
    return found


def _is_semaphore(value: SSAValue) -> bool:
    return getattr(value.type, "mnemonic", "") == "ttnn.global_semaphore"


def _position(value: SSAValue) -> tuple[int, int]:
    """A trace's input order: arguments, then results by operation."""
    if isinstance(value, BlockArgument):
        return (-1, value.index)
    assert isinstance(value, OpResult)
    block = value.owner.parent
    assert block is not None
    return (block.get_operation_index(value.owner), value.index)


def _trace_id() -> TensorType[Any]:
    return TensorType(IntegerType(32, Signedness.UNSIGNED), (), OpaqueDialectAttr("ttnn.trace_id", ()))


_QUEUE: Final = IntegerAttr(0, IntegerType(32, Signedness.UNSIGNED))
_FALSE: Final = IntegerAttr(0, IntegerType(1))
_NOTHING: Final = DictionaryAttr({})


class _Made:
    """A private function in construction before a program.

    What is added comes before its return operation.
    """

    def __init__(
        self,
        module: Module,
        program: FuncOp,
        name: str,
        kind: str,
        arguments: Sequence[tuple[Attribute, DictionaryAttr]],
    ) -> None:
        types = [type_ for type_, _ in arguments]
        entries = [entry for _, entry in arguments]
        block = Block(arg_types=types)
        self._end = ReturnOp()
        self._end.location = program.location
        block.add_op(self._end)
        attributes = ArrayAttr(entries) if any(entry.data for entry in entries) else None
        self.function = FuncOp(
            name, FunctionType.from_lists(types, []), Region([block]), visibility="private", arg_attrs=attributes
        )
        if FUNCTION_KINDS.of(module.version):
            self.function.attributes[KIND] = StringAttr(kind)
        else:
            self.function.attributes[TRACE] = UnitAttr()
        self.function.location = program.location
        insert_before(program, self.function)
        self.build = Build(module, self._end)
        self.arguments: tuple[SSAValue, ...] = tuple(block.args)

    def end(self, values: Sequence[SSAValue] = ()) -> None:
        """Return values from the function."""
        self._end.operands = list(values)
        update_function_type(self.function)

    def call(self, callee: _Made, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """Call a function that is complete, and return its results."""
        types = list(callee.function.function_type.outputs.data)
        call = CallOp(SymbolRefAttr(callee.function.sym_name.data), list(operands), types)
        call.location = self._end.location
        insert_before(self._end, call)
        return list(call.results)

    def empty(self, type_: Attribute) -> SSAValue:
        """Allocate a tensor of the device."""
        assert isinstance(type_, TensorType)
        shape = shape_attr(tuple(type_.get_shape()))
        return self.build.value("empty", {"device": self.build.device}, type_, shape=shape)

    def write(self, host: SSAValue, slot: SSAValue) -> None:
        """Write a tensor of the host to one of the device."""
        self.build.op("write_tensor", [host, slot], [], blocking=_FALSE, cq_id=_QUEUE)

    def capture(self, recorded: _Made, operands: Sequence[SSAValue]) -> tuple[SSAValue, list[SSAValue], list[SSAValue]]:
        """Run and record a function; return trace and both results."""
        first = self.call(recorded, operands)
        trace = self.build.value("begin_trace_capture", [self.build.device], _trace_id(), cq_id=_QUEUE)
        second = self.call(recorded, operands)
        self.build.op("end_trace_capture", [self.build.device, trace], [], cq_id=_QUEUE)
        return trace, first, second

    def execute(self, trace: SSAValue) -> None:
        """Run a trace."""
        self.build.op("execute_trace", [self.build.device, trace], [], cq_id=_QUEUE, blocking=_FALSE)


class _Program:
    """A program of which a trace is made.

    Attributes:
        inputs: Tensors that what is recorded takes from the program, first those that stay on the device.
        resident: How many of them stay.
        semaphores: Semaphores that it takes.
        outputs: What the program takes from it.
    """

    def __init__(self, module: Module, function: FuncOp, ops: list[Operation], number: int) -> None:
        self.module = module
        self.function = function
        self.ops = ops
        self.name = f"trace_{number}_{function.sym_name.data}"
        inside = set(ops)
        values = {value for op in ops for value in op.operands if value.owner not in inside}
        tensors = sorted((value for value in values if isinstance(value.type, TensorType)), key=_position)
        self.inputs = tensors
        self.resident = 0
        if TRACE_SLOTS.of(module.version):
            self.inputs = sorted(tensors, key=lambda value: not self.stays(value))
            self.resident = sum(map(self.stays, tensors))
        self.semaphores = sorted(filter(_is_semaphore, values), key=_position)
        self.outputs: list[SSAValue] = [
            result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)
        ]

    def entry(self, value: SSAValue) -> DictionaryAttr:
        """Return the attributes of an input as an argument."""
        if isinstance(value, BlockArgument):
            known = self.function.arg_attrs
            return known.data[value.index] if known is not None else _NOTHING
        scratch = _SCRATCH if TRACE_SLOTS.of(self.module.version) else _SCRATCH[:1]
        if isinstance(value.owner, Operation) and value.owner.name in scratch:
            return DictionaryAttr({_TYPE: EnumAttr("ttcore.argument_type", "constant")})
        return _NOTHING

    def stays(self, value: SSAValue) -> bool:
        """Return whether a value stays on the device between runs.

        It is not written anew for each run.

        What the program itself writes has to: a copy would take the change.
        """
        if any(writes(use.operation, use.index) for use in value.uses):
            return True
        entry = self.entry(value)
        kind = entry.data.get(_TYPE)
        return _CACHE in entry.data or (isinstance(kind, EnumAttr) and kind.value in ("constant", "parameter"))

    def made(self, name: str, kind: str, arguments: Sequence[tuple[Attribute, DictionaryAttr]]) -> _Made:
        """Begin a function of the trace."""
        return _Made(self.module, self.function, name, kind, arguments)

    def record(self, made: _Made, values: dict[SSAValue, SSAValue]) -> None:
        """Copy the operations to the recorded function.

        It has a device of its own.
        """
        for op in self.ops:
            for operand in op.operands:
                if isinstance(operand.type, TtnnDeviceType):
                    values[operand] = made.build.device
            copied = op.clone(values)
            insert_before(made.build.place, copied)
            values.update(zip(op.results, copied.results, strict=True))

    def execution(self) -> None:
        """Add the function that runs the trace."""
        made = self.made(f"execute_{self.name}", "trace_execute", [(_trace_id(), _NOTHING)])
        made.execute(made.arguments[0])
        made.end()

    def replace(self, op: Operation) -> None:
        """Replace the recorded operations by the trace's results."""
        for old, new in zip(self.outputs, op.results, strict=True):
            old.replace_all_uses_with(new)
        for one in reversed(self.ops):
            erase(one)


def _hoist(program: _Program) -> None:
    """Make a 2025-10 trace.

    The function that captures it allocates slots and returns all.
    """
    plain = [(value.type, program.entry(value)) for value in program.inputs]
    main = program.made(program.name, "", plain)
    values = dict(zip(program.inputs, main.arguments, strict=True))
    program.record(main, values)
    main.end([values[value] for value in program.outputs])

    capture = program.made(f"run_and_capture_{program.name}", "", plain)
    slots = [
        argument if program.stays(value) else capture.empty(argument.type)
        for value, argument in zip(program.inputs, capture.arguments, strict=True)
    ]
    for argument, slot in zip(capture.arguments, slots, strict=True):
        if slot is not argument:
            host = capture.build.value("from_device", [argument], retyped(argument.type, space="system_memory"))
            capture.write(host, slot)
    trace, results, kept = capture.capture(main, slots)
    capture.end([trace, *results, *slots, *kept])
    program.execution()

    build = Build(program.module, program.ops[0])
    op = build.op(
        "capture_or_execute_trace",
        [build.device, *program.inputs],
        [value.type for value in program.outputs],
        capture_callee=SymbolRefAttr(capture.function.sym_name.data),
        execute_callee=SymbolRefAttr(f"execute_{program.name}"),
    )
    program.replace(op)


def _hoist_with_slots(program: _Program) -> None:
    """Make a 2026-08 trace.

    A function allocates slots, which the other ones are given.
    """
    resident, staged = program.inputs[: program.resident], program.inputs[program.resident :]
    outputs = [(value.type, _NOTHING) for value in program.outputs]
    semaphores = [(value.type, _NOTHING) for value in program.semaphores]
    inputs = [(value.type, program.entry(value)) for value in program.inputs]
    main = program.made(program.name, "trace_main", [*inputs, *outputs, *semaphores])
    values = dict(zip(program.inputs, main.arguments, strict=False))
    values |= dict(zip(program.semaphores, main.arguments[len(inputs) + len(outputs) :], strict=True))
    program.record(main, values)
    for value, slot in zip(program.outputs, main.arguments[len(inputs) :], strict=False):
        main.build.op("copy", [values[value], slot], [])
    main.end()

    kept = inputs[: program.resident]
    staging = [retyped(value.type, space="dram") for value in staged]
    allocate = program.made(f"allocate_slots_{program.name}", "trace_allocate_slots", kept)
    allocate.end([*allocate.arguments, *map(allocate.empty, [*staging, *(type_ for type_, _ in outputs)])])

    host = [(retyped(value.type, space="system_memory"), program.entry(value)) for value in staged]
    slots = [*kept, *((type_, _NOTHING) for type_ in staging), *outputs]
    capture = program.made(f"run_and_capture_{program.name}", "trace_run_and_capture", [*host, *slots, *semaphores])
    given, taken = capture.arguments[: len(host)], capture.arguments[len(host) :]
    for argument, slot in zip(given, taken[program.resident :], strict=False):
        capture.write(argument, slot)
    trace, _, _ = capture.capture(main, taken)
    capture.execute(trace)
    capture.end([trace])
    program.execution()

    build = Build(program.module, program.ops[0])
    for value in resident:
        layout = layout_of(value.type)
        if layout is not None and on_host(layout):
            raise fail(program.module, program.ops[0], "an input of the trace that stays on the device is on the host")
    operands = [*resident, *(build.spec(value, retyped(value.type, space="system_memory")) for value in staged)]
    op = build.op(
        "capture_or_execute_trace",
        {"device": build.device, "inputs": operands, "semaphore_inputs": program.semaphores},
        [value.type for value in program.outputs],
        allocate_slots_callee=SymbolRefAttr(allocate.function.sym_name.data),
        capture_callee=SymbolRefAttr(capture.function.sym_name.data),
        execute_callee=SymbolRefAttr(f"execute_{program.name}"),
    )
    program.replace(op)
    _take_from_host(program)


def _take_from_host(program: _Program) -> None:
    """Read arguments from the trace's slots, if nothing else reads them.

    Raises:
        CompileError: The data type of such an argument changes on its way.
    """
    body = program.function.regions[0].blocks.first
    assert body is not None
    for argument in body.args:
        users = [use.operation for use in argument.uses]
        if len(users) != 1 or users[0].name != "ttnn.to_tensor_spec":
            continue
        (moved,) = users[0].results
        if element_word(moved.type) != element_word(argument.type):
            raise fail(program.module, users[0], "changes the data type of an argument of a trace")
        set_type(argument, moved.type)
        replace(users[0], [argument])
    update_function_type(program.function)
