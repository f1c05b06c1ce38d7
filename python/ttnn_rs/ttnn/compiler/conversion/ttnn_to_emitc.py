"""`convert-ttnn-to-emitc`: `ttnn` functions as C++ functions.

They are in the dialect `emitc`.

The calls are those of an executed binary. A function takes and returns tensors; several results are a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import (
    CACHED,
    PROGRAM,
    TRACE,
    Call,
    DeviceArgument,
    New,
    Ref,
    references,
)
from ttnn.compiler.conversion.ttnn_to_calls.generic import is_kernel
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.conversion.ttnn_to_calls.source import cpp_literal, cpp_name, identifiers, last_uses
from ttnn.compiler.conversion.ttnn_to_emitpy import legal_programs
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import quote
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    FuncOp,
    FunctionType,
    IndexType,
    IntegerAttr,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.transforms.ttcore.device import unwrap

__all__ = ["run"]


def _type(text: str) -> OpaqueDialectType:
    return OpaqueDialectType("emitc.opaque", (f"<{quote(text)}>",))


_TENSOR: Final = _type("::ttnn::Tensor")
_TENSORS: Final = _type("::std::vector<::ttnn::Tensor>")
_DEVICE: Final = _type("ttnn::MeshDevice*")
_OBJECT: Final = _type("auto")
_ELEMENT: Final = OpaqueDialectType("emitc.lvalue", ("<", _TENSOR, ">"))
_LIST: Final = "util_create_vec"


def run(module: Module) -> None:
    """Replace a module's functions by C++ with the same calls.

    Raises:
        CompileError: A function has operations other than those of the library, or one that is not executed.
    """
    functions = [one for one in module.functions() if one.body.blocks and not is_kernel(one)]
    programs = legal_programs(module, functions)
    for function, program in zip(functions, programs, strict=True):
        if any(call.function == TRACE for call in program.calls):
            message = "traces are not written as C++: lower without enable-trace, or write Python"
            raise CompileError(module.at(function, message))
        if any(call.function == "ttnn.generic_op" for call in program.calls):
            raise CompileError(module.at(function, "programs of kernels are not written as C++: write Python"))
    unwrap(module)
    names = identifiers(programs)
    block = module.op.body.block
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)
    module.op.attributes.clear()
    block.add_op(make("emitc.include", module.version, [], [], {"include": StringAttr("ttnn-emitted.hpp")}))
    for program, name in zip(programs, names, strict=True):
        block.add_op(_Function(module, program, names).made(name))


class _Function:
    """A function as it is built."""

    def __init__(self, module: Module, program: Program, names: Sequence[str]) -> None:
        self._module = module
        self._program = program
        self._names = names
        self._block = Block(arg_types=[_TENSOR] * len(program.inputs))
        self._tensors: dict[int, SSAValue] = {
            number: argument for (number, _), argument in zip(program.inputs, self._block.args, strict=True)
        }
        self._device: SSAValue | None = None

    def made(self, name: str) -> FuncOp:
        """Return the function."""
        given = {number for number, _ in self._program.inputs}
        freed = last_uses(self._program)
        for index, call in enumerate(self._program.calls):
            if call.function == "ttnn.deallocate" and call.arguments[0].id in given:
                # Inputs belong to the caller.
                continue
            finished = [self._tensors[number] for number in freed.get(index, [])]
            self._call(call)
            for value in finished:
                self._opaque("ttnn::deallocate", [value], [])
        outputs = [self._tensors[number] for number, _ in self._program.outputs]
        single = len(outputs) == 1
        returned = outputs[0] if single else self._opaque(_LIST, outputs, [_TENSORS])[0]
        self._block.add_op(ReturnOp(returned))
        types = [argument.type for argument in self._block.args]
        function = FuncOp(name, FunctionType.from_lists(types, [returned.type]), Region(self._block))
        if self._program.private:
            function.properties["sym_visibility"] = StringAttr("private")
        return function

    def _opaque(
        self,
        callee: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        order: Sequence[Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        properties: dict[str, Attribute] = {"callee": StringAttr(callee)}
        if order is not None:
            properties["args"] = ArrayAttr(list(order))
        op = make("emitc.call_opaque", self._module.version, operands, types, properties)
        self._block.add_op(op)
        return tuple(op.results)

    def _call(self, call: Call) -> None:
        """Add a call of the library or of another function."""
        count = len(call.outputs)
        if call.function in (PROGRAM, CACHED):
            operands = [self._tensors[one.id] for one in call.arguments[1]]
            (made,) = self._opaque(self._names[call.arguments[0]], operands, [_TENSOR if count == 1 else _TENSORS])
            results = [made] if count == 1 else [self._element(made, index) for index in range(count)]
        elif call.returns is None:
            results = list(self._written(call.function, call.arguments, call.keywords, [_TENSOR] * count))
        else:
            (made,) = self._written(call.function, call.arguments, call.keywords, [_TENSORS])
            results = [self._element(made, index) for index in call.returns]
        self._tensors |= dict(zip(call.outputs, results, strict=True))

    def _written(
        self, function: str, arguments: Sequence[Any], keywords: dict[str, Any], types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """Add a call; tensor arguments are operands, others attributes.

        What has tensors in it is an operand.
        """
        operands: list[SSAValue] = []
        order: list[Attribute] = []
        names = [*("" for _ in arguments), *(f"/*{name}=*/" for name in keywords)]
        for name, argument in zip(names, (*arguments, *keywords.values()), strict=True):
            value = self._value(argument)
            if value is None:
                order.append(OpaqueDialectAttr("emitc.opaque", (f"<{quote(name + cpp_literal(argument))}>",)))
                continue
            order.append(IntegerAttr(len(operands), IndexType()))
            operands.append(value)
        plain = len(order) == len(operands)
        return self._opaque(cpp_name(function), operands, types, None if plain else order)

    def _value(self, argument: Any) -> SSAValue | None:
        """Return an argument's value with tensors or device, else None."""
        if isinstance(argument, Ref):
            return self._tensors[argument.id]
        if isinstance(argument, DeviceArgument):
            if self._device is None:
                (self._device,) = self._opaque("ttnn::DeviceGetter::getInstance", [], [_DEVICE])
            return self._device
        if not any(True for _ in references(argument)):
            return None
        if isinstance(argument, New):
            (made,) = self._written(argument.path, argument.arguments, dict(argument.keywords), [_OBJECT])
            return made
        parts = [value for value in map(self._value, argument) if value is not None]
        return self._opaque(_LIST, parts, [_TENSORS])[0]

    def _element(self, values: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector."""
        literal = make("emitc.literal", self._module.version, [], [IndexType()], {"value": StringAttr(str(index))})
        place = make("emitc.subscript", self._module.version, [values, literal.results[0]], [_ELEMENT])
        loaded = make("emitc.load", self._module.version, [place.results[0]], [_TENSOR])
        self._block.add_ops([literal, place, loaded])
        return loaded.results[0]
