"""Conversion of calls to functions of Python, in the dialect `emitpy`.

A function has a list of tensors and the device as arguments, and returns a list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.conversion.calls_to_emit import Builder, identifiers
from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, TRACE, Call, Name, New
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.opaque import opaque, opaque_type
from ttnn.compiler.ir.target_text import python_string
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    CallOp,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    IndexType,
    ModuleOp,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
)
from ttnn.compiler.version import NEWEST, Version

__all__ = ["emitpy_module"]

_TENSOR: Final = opaque_type("emitpy", "ttnn.Tensor")
_TENSORS: Final = opaque_type("emitpy", "[ttnn.Tensor]")
_DEVICE: Final = opaque_type("emitpy", "ttnn.MeshDevice")
_INTEGER: Final = opaque_type("emitpy", "int")

#: What emitted Python does where an executed binary captures or runs a trace.
_RUN_TRACE: Final = """
TRACES = dict()  # captured traces: device, id, slots of inputs, which inputs are their own slots, outputs


def on_device(tensor):
    return tensor.storage_type() == ttnn.StorageType.DEVICE


def run_trace(inputs, device, outputs, allocate, capture, execute):
    where, trace_id, slots, fixed, results = TRACES.get(execute, (None, None, [], [], []))
    live = where is device and all(tensor.is_allocated() for tensor in [*slots, *results])
    if live and all(a is b for a, b, own in zip(inputs, slots, fixed) if own):
        for tensor, slot, own in zip(inputs, slots, fixed):
            if not own:
                (ttnn.copy if on_device(tensor) else ttnn.copy_host_to_device_tensor)(tensor, slot)
        execute([trace_id], device)
        return results
    if where is device:
        ttnn.release_trace(device, trace_id)
    if allocate is None:
        trace_id, *made = capture(inputs, device)
        slots, results = made[outputs : outputs + len(inputs)], made[outputs + len(inputs) :]
        for result, slot in zip(made, results):
            ttnn.copy(result, slot)
    else:
        made = allocate([tensor for tensor in inputs if on_device(tensor)], device)
        (trace_id,) = capture([tensor for tensor in inputs if not on_device(tensor)] + made, device)
        slots, results = made[: len(inputs)], made[len(inputs) :]
    TRACES[execute] = device, trace_id, slots, [a is b for a, b in zip(inputs, slots)], results
    return results
"""


def _literal(argument: Any) -> str:
    """Return an argument without tensors as Python."""
    if isinstance(argument, Name):
        return argument.path
    if isinstance(argument, New):
        parts = [*map(_literal, argument.arguments), *(f"{name}={_literal(part)}" for name, part in argument.keywords)]
        return f"{argument.path}({', '.join(parts)})"
    if isinstance(argument, list):
        return f"[{', '.join(map(_literal, argument))}]"
    if isinstance(argument, tuple):
        return f"({_literal(argument[0])},)" if len(argument) == 1 else f"({', '.join(map(_literal, argument))})"
    if isinstance(argument, float) and (argument != argument or argument in (float("inf"), float("-inf"))):
        return f'float("{argument}")'
    return python_string(argument) if isinstance(argument, str) else repr(argument)


class _Body(Builder):
    """The body of a function as it is built."""

    dialect = "emitpy"
    keywords = True
    list_callee = "util_create_list"
    tensor_type = _TENSOR
    list_type = _TENSORS
    object_type = opaque_type("emitpy", "object")
    literal = staticmethod(_literal)

    @staticmethod
    def callee(path: str) -> str:
        return path

    def device(self) -> SSAValue:
        """Return the last argument of the function."""
        return self.block.args[-1]

    def element(self, values: SSAValue, index: int) -> SSAValue:
        number = self.written(str(index), IndexType())
        return self.add("subscript", [values, number], [_TENSOR], {}).results[0]

    def inner_call(self, call: Call) -> list[SSAValue]:
        if call.function == TRACE:
            callees = [None if one is None else Name(self.function_of(one)) for one in call.arguments[:3]]
            arguments = [call.arguments[3], DEVICE, len(call.outputs), *callees]
            (made,) = self.call("run_trace", arguments, {}, [_TENSORS])
        else:
            number, tensors = call.arguments
            listed = self.value(tensors) if tensors else self.listed([])
            assert listed is not None
            made = self.function_call(self.function_of(number), [listed, self.device()])
        return [self.element(made, index) for index in range(len(call.outputs))]

    def function_call(self, name: str, operands: Sequence[SSAValue]) -> SSAValue:
        """Add a call of another function, and return its list."""
        op = CallOp(SymbolRefAttr(name), operands, [_TENSORS])
        self.block.add_op(op)
        return op.results[0]


def emitpy_module(
    programs: Sequence[Program], version: Version = NEWEST, *, target_module: bool = False, files: str | None = None
) -> Module:
    """Return a module with the functions of programs.

    Others make or load their inputs, and `main` calls all.

    Args:
        programs: All programs of a binary: they call each other by number.
        version: Version of the module; it has the dialect.
        target_module: Name the public program `forward`, without functions of inputs and without `main`.
        files: The inputs are loaded from files whose names begin so; by default they are ones.
    """
    if target_module:
        private = iter(identifiers([program for program in programs if program.private], {"forward"}))
        names = [next(private) if program.private else "forward" for program in programs]
    else:
        names = identifiers(programs, {"TRACES", "on_device", "run_trace"})
    top = _Body(version, Block(), names)
    top.add("import", [], [], {"module_name": StringAttr("ttnn")})
    if any(call.function == TRACE for program in programs for call in program.calls):
        top.add("verbatim", [], [], {"value": StringAttr(_RUN_TRACE.strip())})
    named = list(zip(names, programs, strict=True))
    functions = [_program(version, program, name, names, target_module) for name, program in named]
    if not target_module:
        called = [(name, program) for name, program in named if not program.private]
        functions += [_inputs(version, program, name, files) for name, program in called]
        functions.append(_main(version, called, "create" if files is None else "load"))
    top.block.add_ops(functions)
    return Module(ModuleOp(Region(top.block)), version)


def _define(name: str, arguments: dict[str, Attribute], result: Attribute) -> FuncOp:
    block = Block(arg_types=list(arguments.values()))
    function = FuncOp(name, FunctionType.from_lists(list(arguments.values()), [result]), Region(block))
    if arguments:
        named = [DictionaryAttr({"emitpy.name": StringAttr(one)}) for one in arguments]
        function.properties["arg_attrs"] = ArrayAttr[Attribute](named)
    return function


def _program(version: Version, program: Program, name: str, names: Sequence[str], target_module: bool) -> FuncOp:
    function = _define(name, {"input" if target_module else "inputs": _TENSORS, "device": _DEVICE}, _TENSORS)
    if program.private:
        function.properties["sym_visibility"] = StringAttr("private")
    body = _Body(version, function.body.block, names)
    for index, (number, _) in enumerate(program.inputs):
        body.tensors[number] = body.element(body.block.args[0], index)
    body.block.add_op(ReturnOp(body.listed(body.statements(program))))
    return function


def _inputs(version: Version, program: Program, name: str, files: str | None) -> FuncOp:
    """Return the function that makes or loads the inputs of a program."""
    verb = "create" if files is None else "load"
    function = _define(f"{verb}_inputs_for_{name}", {"device": _DEVICE}, _TENSORS)
    body = _Body(version, function.body.block)
    made: list[SSAValue] = []
    for index, (_, want) in enumerate(program.inputs):
        if files is not None:
            place = {} if want.memory is None else {"device": DEVICE}
            made += body.call("ttnn.load_tensor", [f"{files}{index}.tensorbin"], place, [_TENSOR])
            continue
        arguments: list[Any] = [list(want.shape), want.dtype, want.layout]
        arguments += [] if want.memory is None else [DEVICE, want.memory]
        made += body.call("ttnn.ones", arguments, {}, [_TENSOR])
    body.block.add_op(ReturnOp(body.listed(made)))
    return function


def _main(version: Version, called: Sequence[tuple[str, Program]], verb: str) -> FuncOp:
    """Return the function that calls all others once."""
    function = _define("main", {}, _INTEGER)
    body = _Body(version, function.body.block)
    mesh = max((program.mesh for _, program in called), key=math.prod, default=(1, 1))
    path, word, argument = "ttnn.open_device", "device_id", "0"
    if math.prod(mesh) > 1:
        body.call("ttnn.set_fabric_config", [Name("ttnn.FabricConfig.FABRIC_1D")], {}, [])
        path, word, argument = "ttnn.open_mesh_device", "mesh_shape", f"ttnn.MeshShape{mesh}"
    properties = {"args": ArrayAttr([opaque("emitpy", argument)]), "keyword_args": ArrayAttr([StringAttr(word)])}
    opened = {"callee": StringAttr(path), **properties}
    device = body.add("call_opaque", [], [_DEVICE], opened, {"emitpy.name": StringAttr("device")}).results[0]
    for name, _ in called:
        inputs = body.function_call(f"{verb}_inputs_for_{name}", [device])
        body.function_call(name, [inputs, device])
    body.opaque_call("ttnn.close_device", [device])
    if math.prod(mesh) > 1:
        body.call("ttnn.set_fabric_config", [Name("ttnn.FabricConfig.DISABLED")], {}, [])
    code = body.add("constant", [], [_INTEGER], {"value": opaque("emitpy", "0")})
    body.block.add_op(ReturnOp(code.results[0]))
    return function
