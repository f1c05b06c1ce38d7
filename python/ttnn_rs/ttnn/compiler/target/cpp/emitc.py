"""C++ source of dialect `emitc`: kernels and TT-NN functions.

A literal stands where it is used; other values are variables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.opaque import opaque_text
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.target_text import comment, is_cpp_callee, is_cpp_identifier, is_header, source_lines
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    FloatAttr,
    FuncOp,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.target.cpp.headers import THREAD, headers_of, thread_of

__all__ = ["emitc_functions", "emitc_kernel", "emitc_kernels", "has_emitc_functions"]

_OPERATORS: Final = {
    "add": "+",
    "bitwise_and": "&",
    "bitwise_left_shift": "<<",
    "bitwise_or": "|",
    "bitwise_right_shift": ">>",
    "bitwise_xor": "^",
    "div": "/",
    "mul": "*",
    "rem": "%",
    "sub": "-",
}


_PRINTING: Final = {
    "ttmlir::CBPrinter": """namespace ttmlir {
struct CBPrinter {
  uint32_t cb_id;
  template <typename Buffer>
  constexpr explicit CBPrinter(Buffer buffer) : cb_id(static_cast<uint32_t>(buffer)) {}
  constexpr operator uint32_t() const { return cb_id; }
};
} // namespace ttmlir""",
    "ttmlir::dprint": """#include <type_traits>
namespace ttmlir {
template <typename Part>
void dprint_part(const Part &part) {
  if constexpr (std::is_class_v<Part> || std::is_same_v<Part, size_t>) {
    DPRINT << static_cast<uint32_t>(part);
  } else {
    DPRINT << part;
  }
}
template <typename... Parts>
void dprint(const Parts &...parts) {
  (dprint_part(parts), ...);
}
} // namespace ttmlir""",
}
"""Functions besides the kernel API that printing kernels call."""


def emitc_kernels(module: Module) -> str:
    """Return a module's kernels as consecutive C++ sources.

    Raises:
        CompileError: There is none, or an operation has no form in C++.
    """
    kernels = [function for function in module.functions() if _is_kernel(function)]
    if not kernels:
        raise CompileError(module.at(module.op, "no function with operations of ttkernel"))
    return "\n".join(emitc_kernel(module, function) for function in kernels)


def _is_kernel(function: FuncOp) -> bool:
    blocks = function.body.blocks
    return THREAD in function.attributes or any(op.name == "emitc.include" for block in blocks for op in block.ops)


def emitc_kernel(module: Module, function: FuncOp, *, titled: bool = True) -> str:
    """Return the C++ source of a kernel.

    Args:
        module: For diagnostics.
        function: The kernel.
        titled: Begin with a comment, the name of the kernel.

    Raises:
        CompileError: An operation has no form in C++.
    """
    blocks = list(function.body.blocks)
    if len(blocks) != 1:
        raise CompileError(module.error(function, "only kernels of one block have a form in C++"))
    writer = _Writer(module)
    for op in blocks[0].ops:
        writer.statement(op)
    thread = thread_of(function)
    headers = headers_of(module, function, thread)
    if not writer.includes and headers:
        writer.includes = ["#include <cstdint>", *(f'#include "{header}"' for header in headers)]
    called = {_string(op, "callee") for op in blocks[0].ops if op.name == "emitc.call_opaque"}
    helpers = [text for name, text in _PRINTING.items() if name in called]
    lines = [f"// {comment(function.sym_name.data)}"] if titled else []
    body = ["void kernel_main() {", *(f"  {line}" for line in writer.lines), "}"]
    if (module.version, thread) == ("2024-09", "compute"):
        body = ["namespace NAMESPACE {", *body, "void MAIN { kernel_main(); }", "}"]
    return "\n".join([*lines, *writer.includes, *helpers, *body, ""])


def has_emitc_functions(module: Module) -> bool:
    """Return whether an `emitc` module calls TT-NN.

    It includes a header then.
    """
    return any(op.name == "emitc.include" for op in module.op.body.block.ops)


def emitc_functions(module: Module) -> str:
    """Return a module of TT-NN functions as C++ source.

    Raises:
        CompileError: An operation has no form in C++.
    """
    writer = _Writer(module)
    parts = []
    for op in module.op.body.block.ops:
        if isinstance(op, FuncOp):
            parts.append(_function(module, op))
        else:
            writer.statement(op)
    return "\n".join([*writer.includes, "", *writer.lines, *parts])


def _function(module: Module, function: FuncOp) -> str:
    blocks = list(function.body.blocks)
    if len(blocks) != 1:
        raise CompileError(module.error(function, "only functions of one block have a form in C++"))
    writer = _Writer(module)
    arguments = [f"{writer.type(one.type, function)} {writer.name(one)}" for one in blocks[0].args]
    results = [writer.type(one, function) for one in function.function_type.outputs.data]
    if len(results) > 1:
        raise CompileError(module.error(function, "returns several values, for which C++ has no form"))
    for op in blocks[0].ops:
        writer.statement(op)
    name = function.sym_name.data
    if not is_cpp_identifier(name):
        raise CompileError(module.error(function, f"{name!r} is no identifier of C++"))
    head = f"{results[0] if results else 'void'} {name}({', '.join(arguments)}) {{"
    return "\n".join([head, *(f"  {line}" for line in writer.lines), "}", ""])


class _Writer:
    """Statements of a function, and the names of its values."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._names: dict[SSAValue, str] = {}
        self._count = 0
        self.includes: list[str] = []
        self.lines: list[str] = []

    def value(self, value: SSAValue, op: Operation) -> str:
        if value not in self._names:
            raise CompileError(self._module.error(op, "uses a value that is not of this function"))
        return self._names[value]

    def name(self, value: SSAValue) -> str:
        """Return a new name for a value."""
        self._count += 1
        self._names[value] = f"v{self._count}"
        return self._names[value]

    def statement(self, op: Operation) -> None:
        """Add the statement of an operation.

        Raises:
            CompileError: It has no form in C++.
        """
        short = op.name.removeprefix("emitc.")
        operands = [self.value(value, op) for value in op.operands]
        if op.name == "func.return" and len(operands) < 2:
            self.lines.append(f"return {operands[0]};" if operands else "return;")
        elif op.name == "emitc.include":
            header = _string(op, "include")
            if not is_header(header):
                raise CompileError(self._module.error(op, f"{header!r} is no name of a header"))
            self.includes.append(
                f"#include <{header}>" if "is_standard_include" in op.properties else f'#include "{header}"'
            )
        elif op.name == "emitc.literal":
            self._names[op.results[0]] = _string(op, "value")
        elif op.name in ("emitc.constant", "emitc.variable"):
            self.declare(op, self.attribute(op, op.properties["value"]))
        elif op.name == "emitc.call_opaque":
            self.declare(op, self.call(op, operands))
        elif op.name == "emitc.cast":
            self.declare(op, f"({self.type(op.results[0].type, op)}) {operands[0]}")
        elif op.name == "emitc.subscript":
            self._names[op.results[0]] = "".join([operands[0], *(f"[{one}]" for one in operands[1:])])
        elif op.name == "emitc.load":
            self.declare(op, operands[0])
        elif op.name == "emitc.verbatim":
            self.lines += source_lines(self.verbatim(op, operands))
        elif op.name.startswith("emitc.") and short in _OPERATORS:
            self.declare(op, f"{operands[0]} {_OPERATORS[short]} {operands[1]}")
        else:
            raise CompileError(self._module.error(op, "has no form in C++"))

    def declare(self, op: Operation, text: str) -> None:
        """Add a statement, and the variables that it makes."""
        if len(op.results) > 1:
            text = f"auto [{', '.join(self.name(value) for value in op.results)}] = {text}"
        elif op.results:
            kind = self.type(op.results[0].type, op)
            text = f"{kind} {self.name(op.results[0])} = {text}"
        self.lines.append(f"{text};")

    def call(self, op: Operation, operands: Sequence[str]) -> str:
        templates, order = op.properties.get("template_args"), op.properties.get("args")
        inner = [self.attribute(op, one) for one in templates.data] if isinstance(templates, ArrayAttr) else []
        arguments = list(operands)
        if isinstance(order, ArrayAttr):
            arguments = []
            for one in order.data:
                is_operand = isinstance(one, IntegerAttr) and isinstance(one.type, IndexType)
                if is_operand and not 0 <= one.value.data < len(operands):
                    raise CompileError(self._module.error(op, f"args names operand {one.value.data}"))
                arguments.append(operands[one.value.data] if is_operand else self.attribute(op, one))
        if not is_cpp_callee(_string(op, "callee")):
            raise CompileError(self._module.error(op, f"{_string(op, 'callee')!r} is no name of a C++ function"))
        template = f"<{', '.join(inner)}>" if inner else ""
        return f"{_string(op, 'callee')}{template}({', '.join(arguments)})"

    def verbatim(self, op: Operation, operands: Sequence[str]) -> str:
        text = _string(op, "value")
        if not operands:
            return text
        pieces = re.split(r"(\{\{|\}\}|\{\})", text)
        if pieces.count("{}") != len(operands):
            raise CompileError(self._module.error(op, "requires operands for each placeholder in the format string"))
        rest = iter(operands)
        names = {"{{": "{", "}}": "}"}
        return "".join(next(rest) if piece == "{}" else names.get(piece, piece) for piece in pieces)

    def attribute(self, op: Operation, value: Attribute) -> str:
        opaque = opaque_text("emitc", value)
        if opaque is not None:
            return opaque
        if isinstance(value, IntegerAttr):
            width = value.type.width.data if isinstance(value.type, IntegerType) else 0
            return ("true" if value.value.data else "false") if width == 1 else str(value.value.data)
        if isinstance(value, FloatAttr) and abs(value.value.data) < float("inf"):
            return f"{value.value.data!r}f"
        raise CompileError(self._module.error(op, f"{attribute_text(value)} has no form in C++"))

    def type(self, kind: Attribute, op: Operation) -> str:
        """Return the name of a type in C++."""
        opaque = opaque_text("emitc", kind)
        if opaque is not None:
            return opaque
        text = attribute_text(kind)
        if text == "!emitc.size_t":
            return "size_t"
        if isinstance(kind, IntegerType):
            width = kind.width.data
            sign = "u" if text.startswith("ui") else ""
            if width == 1:
                return "bool"
            if width in (8, 16, 32, 64):
                return f"{sign}int{width}_t"
        if text == "f32":
            return "float"
        raise CompileError(self._module.error(op, f"type {text} has no form in C++"))


def _string(op: Operation, name: str) -> str:
    value = op.properties.get(name)
    return value.data if isinstance(value, StringAttr) else ""
