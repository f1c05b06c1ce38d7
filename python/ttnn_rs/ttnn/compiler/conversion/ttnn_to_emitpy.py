"""`convert-ttnn-to-emitpy`: `ttnn` functions as Python functions.

They are in the dialect `emitpy`.

The calls are those of an executed binary. A function takes a list of tensors and the device, and returns a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.conversion.ttnn_to_calls.calls import (
    CACHED,
    DEVICE,
    PROGRAM,
    TRACE,
    Call,
    DeviceArgument,
    Name,
    New,
    Ref,
    kept_by_traces,
    references,
)
from ttnn.compiler.conversion.ttnn_to_calls.generic import is_kernel
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs_of_tables
from ttnn.compiler.conversion.ttnn_to_calls.source import RUN_TRACE, identifiers, last_uses, python_literal
from ttnn.compiler.conversion.ttnn_to_flatbuffer.tables import programs_of
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import OperationText
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import quote
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    CallOp,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    IndexType,
    IntegerAttr,
    Operation,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
)
from ttnn.compiler.transforms.ttcore.device import unwrap

__all__ = ["legal_programs", "run"]


def _opaque(text: str) -> OpaqueDialectAttr:
    return OpaqueDialectAttr("emitpy.opaque", (f"<{quote(text)}>",))


def _type(text: str) -> OpaqueDialectType:
    return OpaqueDialectType("emitpy.opaque", (f"<{quote(text)}>",))


_TENSOR: Final = _type("ttnn.Tensor")
_TENSORS: Final = _type("[ttnn.Tensor]")
_DEVICE: Final = _type("ttnn.MeshDevice")
_OBJECT: Final = _type("object")
_INTEGER: Final = _type("int")


class _Body:
    """The body of a function as it is built.

    Args:
        module: For its version.
        block: Where operations go.
        tensors: Values of the tensors of a program, by number.
        device: The device, an argument of the function.
    """

    def __init__(self, module: Module, block: Block, device: SSAValue) -> None:
        self._module = module
        self._block = block
        self._device = device
        self.tensors: dict[int, SSAValue] = {}

    def add(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute] | None = None,
    ) -> Operation:
        """Add an operation of the dialect."""
        op = make(f"emitpy.{name}", self._module.version, operands, types, properties, attributes=attributes or {})
        self._block.add_op(op)
        return op

    def element(self, values: SSAValue, index: int, kind: Attribute = _TENSOR) -> SSAValue:
        """Return an element of a list."""
        literal = self.add("literal", [], [IndexType()], {"value": StringAttr(str(index))})
        return self.add("subscript", [values, literal.results[0]], [kind], {}).results[0]

    def listed(self, values: Sequence[SSAValue]) -> SSAValue:
        """Return a list of values."""
        return self.add("call_opaque", values, [_TENSORS], {"callee": StringAttr("util_create_list")}).results[0]

    def call(
        self, callee: str, arguments: Sequence[Any], keywords: dict[str, Any], types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """Add a call; tensor arguments are operands, others attributes.

        So is what is made of tensors.
        """
        operands: list[SSAValue] = []
        order: list[Attribute] = []
        words = [*("" for _ in arguments), *keywords]
        for argument in (*arguments, *keywords.values()):
            value = self.value(argument)
            if value is None:
                order.append(_opaque(python_literal(argument)))
                continue
            order.append(IntegerAttr(len(operands), IndexType()))
            operands.append(value)
        properties: dict[str, Attribute] = {"callee": StringAttr(callee)}
        if len(order) != len(operands) or any(words):
            properties["args"] = ArrayAttr(order)
            properties["keyword_args"] = ArrayAttr([StringAttr(word) for word in words])
        return tuple(self.add("call_opaque", operands, types, properties).results)

    def value(self, argument: Any) -> SSAValue | None:
        """Return an argument's value with tensors or device, else None."""
        if isinstance(argument, Ref):
            return self.tensors[argument.id]
        if isinstance(argument, DeviceArgument):
            return self._device
        if not any(True for _ in references(argument)):
            return None
        if isinstance(argument, New):
            (made,) = self.call(argument.path, argument.arguments, dict(argument.keywords), [_OBJECT])
            return made
        return self.listed([self.value(one) or self.written(one) for one in argument])

    def written(self, argument: Any) -> SSAValue:
        """Return a tensorless argument's value as Python source."""
        literal = self.add("literal", [], [_OBJECT], {"value": StringAttr(python_literal(argument))})
        value: SSAValue = literal.results[0]
        return value


def run(module: Module, options: dict[str, Any]) -> None:
    """Replace a module's functions by Python with the same calls.

    Raises:
        CompileError: A function has operations other than those of the library, or one that is not executed.
    """
    functions = [one for one in module.functions() if one.body.blocks and not is_kernel(one)]
    programs = legal_programs(module, functions)
    unwrap(module)
    names = ["forward"] if options["target-module"] else identifiers(programs, {"TRACES", "on_device", "run_trace"})
    if options["target-module"] and sum(not program.private for program in programs) != 1:
        raise CompileError(module.at(module.op, "a target module has one public function"))
    if options["target-module"]:
        taken = identifiers([program for program in programs if program.private], {"forward"})
        private = iter(taken)
        names = [next(private) if program.private else "forward" for program in programs]
    block = module.op.body.block
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)
    module.op.attributes.clear()
    block.add_op(make("emitpy.import", module.version, [], [], {"module_name": StringAttr("ttnn")}))
    if any(call.function == TRACE for program in programs for call in program.calls):
        block.add_op(make("emitpy.verbatim", module.version, [], [], {"value": StringAttr(RUN_TRACE.strip())}))
    inputs_name = "input" if options["target-module"] else "inputs"
    for program, name in zip(programs, names, strict=True):
        block.add_op(_function(module, program, name, names, inputs_name))
    if not options["target-module"]:
        called = [(name, program) for name, program in zip(names, programs, strict=True) if not program.private]
        files = None
        if options["load-input-tensors-from-disk"]:
            folder = options["tensor-load-directory"]
            files = f"{folder}/{options['tensor-load-file-prefix']}" if folder else options["tensor-load-file-prefix"]
        for name, program in called:
            block.add_op(_inputs(module, program, name, files))
        block.add_op(_main(module, [name for name, _ in called], "create" if files is None else "load"))


def legal_programs(module: Module, functions: list[FuncOp]) -> list[Program]:
    """Return the calls of the functions.

    Raises:
        CompileError: An operation is none of the library, or is not executed.
    """
    for function in functions:
        for op in function.body.walk():
            if op.name.startswith(("ttir.", "emitpy.")):
                raise CompileError(module.error(op, "is not an operation of ttnn: run a pipeline to ttnn first"))
    try:
        tables = programs_of(module, module.version, OperationText(module))
    except CompileError as error:
        raise _illegal(module, functions, error.diagnostics[0].message) from None
    try:
        return programs_of_tables(tables, module.version)
    except CompileError:
        raise
    except TtnnError as error:
        raise _not_executed(module, functions, error) from None


def _not_executed(module: Module, functions: list[FuncOp], error: TtnnError) -> CompileError:
    """Return the diagnostic of an operation without such calls.

    The error names program and place.
    """
    found = re.match(r"program (.+), operation (\d+) \(\w+\): (.*)", error.sentence, re.DOTALL)
    function = next((one for one in functions if found and one.sym_name.data == found.group(1)), None)
    if found is None or function is None or function.body.blocks.first is None:
        return CompileError(module.at(functions[0], f"cannot be written as source: {error}"))
    ops = [op for op in function.body.blocks.first.ops if op.name != "func.return"]
    op = ops[int(found.group(2))]
    return CompileError(module.at(op, f"failed to legalize operation '{op.name}': {found.group(3)}"))


def _illegal(module: Module, functions: list[FuncOp], message: str) -> CompileError:
    """Return the diagnostic of the operation that a message names first."""
    for function in functions:
        for op in function.body.walk():
            if message.startswith(f"'{op.name}' op"):
                reason = message.partition(" op ")[2]
                return CompileError(module.at(op, f"failed to legalize operation '{op.name}': it {reason}"))
    return CompileError(module.at(module.op, message))


def _named(names: Sequence[str]) -> ArrayAttr[Attribute]:
    return ArrayAttr([DictionaryAttr({"emitpy.name": StringAttr(name)}) for name in names])


def _define(name: str, arguments: dict[str, Attribute], results: Sequence[Attribute]) -> tuple[FuncOp, Block]:
    block = Block(arg_types=list(arguments.values()))
    function = FuncOp(name, FunctionType.from_lists(list(arguments.values()), list(results)), Region(block))
    if arguments:
        function.properties["arg_attrs"] = _named(list(arguments))
    return function, block


def _function(module: Module, program: Program, name: str, names: Sequence[str], inputs: str) -> FuncOp:
    function, block = _define(name, {inputs: _TENSORS, "device": _DEVICE}, [_TENSORS])
    if program.private:
        function.properties["sym_visibility"] = StringAttr("private")
    body = _Body(module, block, block.args[1])
    for index, (number, _) in enumerate(program.inputs):
        body.tensors[number] = body.element(block.args[0], index)
    freed = last_uses(program)
    given = {number for number, _ in program.inputs} | kept_by_traces(program.calls)
    for index, call in enumerate(program.calls):
        if call.function == "ttnn.deallocate" and call.arguments[0].id in given:
            # Inputs belong to the caller.
            continue
        finished = [body.tensors[number] for number in freed.get(index, [])]
        if call.function in (PROGRAM, CACHED):
            _called(body, block, call, names)
        elif call.function == TRACE:
            callees = [None if one is None else Name(names[one]) for one in call.arguments[:3]]
            arguments = [call.arguments[3], DEVICE, len(call.outputs), *callees]
            _call(body, Call("run_trace", arguments, {}, call.outputs, call.operation, call.returns))
        else:
            _call(body, call)
        for value in finished:
            body.add("call_opaque", [value], [], {"callee": StringAttr("ttnn.deallocate")})
    block.add_op(ReturnOp(body.listed([body.tensors[number] for number, _ in program.outputs])))
    return function


def _call(body: _Body, call: Call) -> None:
    if call.returns is None:
        results = body.call(call.function, call.arguments, call.keywords, [_TENSOR] * len(call.outputs))
    else:
        (made,) = body.call(call.function, call.arguments, call.keywords, [_TENSORS])
        results = [body.element(made, index) for index in call.returns]
    body.tensors |= dict(zip(call.outputs, results, strict=True))


def _called(body: _Body, block: Block, call: Call, names: Sequence[str]) -> None:
    """A call of another function."""
    given = body.value(call.arguments[1])
    operands = [body.listed([]) if given is None else given, block.args[1]]
    made = CallOp(SymbolRefAttr(names[call.arguments[0]]), operands, [_TENSORS])
    block.add_op(made)
    for index, number in enumerate(call.outputs):
        body.tensors[number] = body.element(made.results[0], index)


def _inputs(module: Module, program: Program, name: str, files: str | None) -> FuncOp:
    """The function that creates or loads each input tensor.

    It makes a tensor of ones, or reads it from a file whose name begins so.
    """
    verb = "create" if files is None else "load"
    function, block = _define(f"{verb}_inputs_for_{name}", {"device": _DEVICE}, [_TENSORS])
    body = _Body(module, block, block.args[0])
    made: list[SSAValue] = []
    for index, (_, want) in enumerate(program.inputs):
        if files is not None:
            place = {} if want.memory is None else {"device": DEVICE}
            made += body.call("ttnn.load_tensor", [f"{files}{index}.tensorbin"], place, [_TENSOR])
            continue
        arguments: list[Any] = [list(want.shape), want.dtype, want.layout]
        arguments += [] if want.memory is None else [DeviceArgument(), want.memory]
        made += body.call("ttnn.ones", arguments, {}, [_TENSOR])
    block.add_op(ReturnOp(body.listed(made)))
    return function


def _main(module: Module, names: Sequence[str], verb: str) -> FuncOp:
    """The function that runs all others once."""
    function, block = _define("main", {}, [_INTEGER])
    opened = make(
        "emitpy.call_opaque",
        module.version,
        [],
        [_DEVICE],
        {
            "callee": StringAttr("ttnn.open_device"),
            "args": ArrayAttr([_opaque("0")]),
            "keyword_args": ArrayAttr([StringAttr("device_id")]),
        },
        attributes={"emitpy.name": StringAttr("device")},
    )
    block.add_op(opened)
    device = opened.results[0]
    body = _Body(module, block, device)
    for name in names:
        inputs = CallOp(SymbolRefAttr(f"{verb}_inputs_for_{name}"), [device], [_TENSORS])
        block.add_op(inputs)
        block.add_op(CallOp(SymbolRefAttr(name), [inputs.results[0], device], [_TENSORS]))
    body.add("call_opaque", [device], [], {"callee": StringAttr("ttnn.close_device")})
    code = body.add("constant", [], [_INTEGER], {"value": _opaque("0")})
    block.add_op(ReturnOp(code.results[0]))
    return function
