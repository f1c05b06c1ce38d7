"""Conversion of calls to functions of C++, in the dialect `emitc`.

A function has tensors as arguments and returns a tensor; several results are a vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.calls_to_emit import Builder, identifiers
from ttnn.compiler.conversion.ttnn_to_calls.calls import TRACE, Call, Name, New
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.dialects.operations import make
from ttnn.compiler.ir.attributes import OpaqueDialectType
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.opaque import opaque_type
from ttnn.compiler.ir.target_text import cpp_string
from ttnn.compiler.ir.xdsl_adapter import (
    Block,
    FuncOp,
    FunctionType,
    IndexType,
    ModuleOp,
    Region,
    ReturnOp,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.version import NEWEST, Version

__all__ = ["emitc_module", "reason_not_cpp"]

_TENSOR: Final = opaque_type("emitc", "::ttnn::Tensor")
_TENSORS: Final = opaque_type("emitc", "::std::vector<::ttnn::Tensor>")
_ELEMENT: Final = OpaqueDialectType("emitc.lvalue", ("<", _TENSOR, ">"))
_NAMES: Final[dict[str, str]] = {
    "ttnn.TILE_LAYOUT": "ttnn::Layout::TILE",
    "ttnn.ROW_MAJOR_LAYOUT": "ttnn::Layout::ROW_MAJOR",
    "ttnn.float32": "ttnn::DataType::FLOAT32",
    "ttnn.bfloat16": "ttnn::DataType::BFLOAT16",
    "ttnn.bfloat8_b": "ttnn::DataType::BFLOAT8_B",
    "ttnn.bfloat4_b": "ttnn::DataType::BFLOAT4_B",
    "ttnn.uint32": "ttnn::DataType::UINT32",
    "ttnn.uint16": "ttnn::DataType::UINT16",
    "ttnn.uint8": "ttnn::DataType::UINT8",
    "ttnn.int32": "ttnn::DataType::INT32",
}


def _name(path: str) -> str:
    """Return a public name as C++ has it."""
    return _NAMES.get(path) or path.replace(".", "::")


def _literal(argument: Any) -> str:
    """Return an argument without tensors as C++."""
    if isinstance(argument, Name):
        return _name(argument.path)
    if isinstance(argument, New):
        parts = [
            *map(_literal, argument.arguments),
            *(f"/*{name}=*/{_literal(part)}" for name, part in argument.keywords),
        ]
        return f"{_name(argument.path)}({', '.join(parts)})"
    if isinstance(argument, list | tuple):
        inner = ", ".join(map(_literal, argument))
        first = argument[0] if argument else 0
        if isinstance(first, New):
            return f"std::vector<{_name(first.path)}>{{{inner}}}"
        if isinstance(first, list | tuple):
            return f"std::vector<ttnn::SmallVector<int64_t>>{{{inner}}}"
        return f"ttnn::SmallVector<{'float' if isinstance(first, float) else 'int64_t'}>{{{inner}}}"
    if argument is None:
        return "std::nullopt"
    if isinstance(argument, bool):
        return "true" if argument else "false"
    if isinstance(argument, float):
        if argument != argument:
            return "std::numeric_limits<float>::quiet_NaN()"
        if argument in (float("inf"), float("-inf")):
            return f"{'-' if argument < 0 else ''}std::numeric_limits<float>::infinity()"
        return f"{argument!r}f"
    return cpp_string(argument) if isinstance(argument, str) else str(argument)


class _Body(Builder):
    """The body of a function as it is built."""

    dialect = "emitc"
    keywords = False
    list_callee = "util_create_vec"
    tensor_type = _TENSOR
    list_type = _TENSORS
    object_type = opaque_type("emitc", "auto")
    literal = staticmethod(_literal)
    callee = staticmethod(_name)
    _device: SSAValue | None = None

    def device(self) -> SSAValue:
        if self._device is None:
            kind = opaque_type("emitc", "ttnn::MeshDevice*")
            (self._device,) = self.opaque_call("ttnn::DeviceGetter::getInstance", [], [kind])
        return self._device

    def element(self, values: SSAValue, index: int) -> SSAValue:
        place = self.add("subscript", [values, self.written(str(index), IndexType())], [_ELEMENT], {})
        return self.add("load", [place.results[0]], [_TENSOR], {}).results[0]

    def inner_call(self, call: Call) -> list[SSAValue]:
        number, tensors = call.arguments
        single = len(call.outputs) == 1
        operands = [self.tensors[one.id] for one in tensors]
        (made,) = self.opaque_call(self.function_of(number), operands, [_TENSOR if single else _TENSORS])
        return [made] if single else [self.element(made, index) for index in range(len(call.outputs))]


def reason_not_cpp(program: Program) -> str | None:
    """Return why a program has no form in C++, or None."""
    functions = {call.function for call in program.calls}
    if TRACE in functions:
        return "traces are not written as C++: lower without enable-trace, or write Python"
    if math.prod(program.mesh) > 1:
        return "programs of several chips are not written as C++: write Python"
    return "programs of kernels are not written as C++: write Python" if "ttnn.generic_op" in functions else None


def emitc_module(programs: Sequence[Program], version: Version = NEWEST) -> Module:
    """Return a module with the functions of programs.

    Args:
        programs: All programs of a binary: they call each other by number.
        version: Version of the module.

    Raises:
        UnsupportedError: A program has traces, kernels or several chips.
    """
    for reason in filter(None, map(reason_not_cpp, programs)):
        raise UnsupportedError(f"{reason}.")
    names = identifiers(programs)
    include = make("emitc.include", version, [], [], {"include": StringAttr("ttnn-emitted.hpp")})
    functions = [_function(version, program, name, names) for program, name in zip(programs, names, strict=True)]
    return Module(ModuleOp([include, *functions]), version)


def _function(version: Version, program: Program, name: str, names: Sequence[str]) -> FuncOp:
    block = Block(arg_types=[_TENSOR] * len(program.inputs))
    body = _Body(version, block, names)
    body.tensors = {number: value for (number, _), value in zip(program.inputs, block.args, strict=True)}
    outputs = body.statements(program)
    returned = outputs[0] if len(outputs) == 1 else body.listed(outputs)
    block.add_op(ReturnOp(returned))
    function = FuncOp(name, FunctionType.from_lists([one.type for one in block.args], [returned.type]), Region(block))
    if program.private:
        function.properties["sym_visibility"] = StringAttr("private")
    return function
