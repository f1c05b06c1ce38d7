"""Python source of a module of the dialect `emitpy`.

Values get the names that `emitpy.name` suggests, else `var_0`, `var_1`, ...; arguments of functions are `inputs`. A
literal and an expression that may be inlined stand where they are used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.opaque import opaque_text
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.target_text import comment, is_python_identifier, is_python_path, python_string, source_lines
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    Block,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    Operation,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
)

__all__ = ["emitpy_source", "has_emitpy"]

_INDENT: Final = "  "
_LONGEST: Final = 1_000_000
_LIST: Final = "util_create_list"
"""Callee whose call is written as a list."""


def has_emitpy(module: Module) -> bool:
    """Return whether a module has operations of the dialect."""
    return any(op.name.startswith("emitpy.") for op in module.op.walk())


def emitpy_source(module: Module, file: str | None = None) -> str:
    """Return the Python source of a module.

    Args:
        module: With operations of `emitpy` and functions.
        file: Only this `emitpy.file`; all, each under its name, if none is given.

    Raises:
        CompileError: An operation has no form in Python.
    """
    emitter = _Emitter(module, file)
    emitter.module_body(module.op)
    return "".join(f"{line}\n" if line else "\n" for line in emitter.lines)


class _Scope:
    """Names that are taken, and how many were made up."""

    def __init__(self, outer: _Scope | None = None) -> None:
        self.taken: set[str] = set(outer.taken) if outer is not None else set()
        self.names: dict[SSAValue, str] = dict(outer.names) if outer is not None else {}
        self.count: int = outer.count if outer is not None else 0


class _Emitter:
    """Lines of source as they are written."""

    def __init__(self, module: Module, file: str | None) -> None:
        self._module = module
        self._file = file
        self._depth = 0
        self._class_depth = 0
        self._scope = _Scope()
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        """Add a line at the current depth."""
        self.lines.append(_INDENT * self._depth + text if text else "")

    def fail(self, op: Operation, message: str) -> CompileError:
        return CompileError(self._module.error(op, message))

    # Names.

    def name(self, value: SSAValue, suggestion: str) -> str:
        """Return a value's name, assigned at first use."""
        if value not in self._scope.names:
            name = suggestion
            while name in self._scope.taken:
                name = f"{name}_{self._scope.count}"
                self._scope.count += 1
            self._scope.names[value] = name
            self._scope.taken.add(name)
        return self._scope.names[value]

    def identifier(self, op: Operation, name: str) -> str:
        """Return a name of the module that is one of Python.

        Raises:
            CompileError: It is none.
        """
        if not is_python_identifier(name):
            raise self.fail(op, f"{name!r} is no identifier of Python")
        return name

    def path(self, op: Operation, name: str, *, relative: bool = False) -> str:
        """Return valid dotted Python names, as of modules and callees.

        Raises:
            CompileError: They are none.
        """
        absolute = name.lstrip(".") if relative else name
        if not (is_python_path(absolute) or (name and not absolute)):
            raise self.fail(op, f"{name!r} is no name of Python")
        return name

    def symbol(self, op: Operation, name: str = "sym_name") -> str:
        """Return an attribute of an operation that is an identifier.

        Raises:
            CompileError: It is none.
        """
        return self.identifier(op, _text(op, name))

    def values(self, values: Iterable[SSAValue]) -> str:
        return ", ".join(self.name(value, "op_arg") for value in values)

    def target(self, op: Operation) -> str:
        """Return an assignment's left part; empty without results."""
        if not op.results:
            return ""
        if len(op.results) == 1:
            suggested = op.attributes.get("emitpy.name")
            name = _identifier(suggested.data) if isinstance(suggested, StringAttr) else ""
            return f"{self.name(op.results[0], name or self.fresh('var'))} = "
        return ", ".join(self.name(result, self.fresh("v")) for result in op.results) + " = "

    def fresh(self, stem: str) -> str:
        self._scope.count += 1
        return f"{stem}_{self._scope.count - 1}"

    # Values of attributes.

    def attribute(self, op: Operation, value: Attribute) -> str:
        opaque = opaque_text("emitpy", value)
        if opaque is not None:
            return opaque
        if isinstance(value, IntegerAttr):
            return str(value.value.data)
        if isinstance(value, FloatAttr):
            number = value.value.data
            return repr(number) if abs(number) < float("inf") else f"float('{number}')"
        if isinstance(value, StringAttr):
            return python_string(value.data)
        raise self.fail(op, f"cannot emit attribute: {attribute_text(value)}")

    # Statements.

    def module_body(self, op: Operation) -> None:
        """Write a module; one with files writes these, each under its name."""
        operations = _operations(op.regions[0].blocks)
        for one in op.walk():
            self._scope.taken.update(_defined(one))
        files = [one for one in operations if one.name == "emitpy.file"]
        for one in files or operations:
            if one.name != "emitpy.file":
                self.statement(one)
            elif self._file is None:
                self.line(f"# File: {comment(python_string(_text(one, 'id')))}")
                self.within(one, 0, indent=0)
            elif _text(one, "id") == self._file:
                self.within(one, 0, indent=0)

    def within(self, op: Operation, region: int, indent: int = 1) -> None:
        """Write the operations of a region."""
        self._depth += indent
        for one in _operations(op.regions[region].blocks):
            self.statement(one)
        self._depth -= indent

    def statement(self, op: Operation) -> None:
        """Write an operation.

        Raises:
            CompileError: It has no form in Python.
        """
        write = _STATEMENTS.get(op.name)
        if write is None:
            raise self.fail(op, "has no form in Python")
        write(self, op)

    def scoped(self, write: Callable[[], None]) -> None:
        """Write something whose names end with it."""
        outer = self._scope
        self._scope = _Scope(outer)
        try:
            write()
        finally:
            self._scope = outer

    def function(self, op: Operation) -> None:
        if not op.regions[0].blocks:
            return
        self.scoped(lambda: self._function(op))
        if not self._class_depth and _text(op, "sym_name") == "main":
            self.line("")
            self.line("if __name__ == '__main__':")
            self.line(f"{_INDENT}main()")

    def _function(self, op: Operation) -> None:
        name = self.symbol(op)
        kind = op.attributes.get("emitpy.method_kind")
        if isinstance(kind, StringAttr):
            if not self._class_depth:
                raise self.fail(op, "emitpy.method_kind is only valid inside a class")
            if kind.data != "instance":
                self.line(f"@{self.path(op, kind.data)}")
        (block,) = self.one_block(op)
        names = []
        for index, argument in enumerate(block.args):
            suggested = _argument_name(op, index)
            default = "self" if self._class_depth and not index else "inputs"
            names.append(self.name(argument, suggested or default))
        self.line(f"def {name}({', '.join(names)}):")
        self.body(op)

    def one_block(self, op: Operation) -> Sequence[Block]:
        blocks = list(op.regions[0].blocks)
        if len(blocks) != 1:
            raise self.fail(op, "only functions of one block have a form in Python")
        return blocks

    def body(self, op: Operation, region: int = 0) -> None:
        """Write a definition's or condition's nonempty body."""
        before = len(self.lines)
        self.within(op, region)
        if len(self.lines) == before:
            self.line(f"{_INDENT}pass")

    def nested(self, op: Operation) -> None:
        name = self.symbol(op)

        def write() -> None:
            (block,) = self.one_block(op)
            arguments = ", ".join(self.name(argument, "arg") for argument in block.args)
            self.line(f"def {name}({arguments}):")
            self.body(op)

        self.scoped(write)

    def klass(self, op: Operation) -> None:
        bases = op.properties.get("base_classes")
        parts = []
        for base in bases.data if isinstance(bases, ArrayAttr) else ():
            text = (
                self.path(op, base.string_value()) if isinstance(base, SymbolRefAttr) else opaque_text("emitpy", base)
            )
            if text is None:
                raise self.fail(op, "base_classes must be symbol refs or #emitpy.opaque")
            parts.append(text)
        self.line(f"class {self.symbol(op)}" + (f"({', '.join(parts)})" if parts else "") + ":")
        self._class_depth += 1
        self.scoped(lambda: self.body(op))
        self._class_depth -= 1

    def returned(self, op: Operation) -> None:
        self.line(f"return {self.values(op.operands)}" if op.operands else "return")

    def called(self, op: Operation) -> None:
        """A call of another function."""
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        arguments = self.values(op.operands)
        self.line(f"{self.target(op)}{self.path(op, callee.string_value())}({arguments})")

    def call(self, op: Operation) -> None:
        operands = [self.name(value, "op_arg") for value in op.operands]
        self.line(self.target(op) + self.call_text(op, operands))

    def call_text(self, op: Operation, operands: Sequence[str]) -> str:
        """A call with written operands.

        `args` is their order among attributes.
        """
        callee = _text(op, "callee")
        if callee == _LIST:
            return f"[{', '.join(operands)}]"
        order, words = op.properties.get("args"), op.properties.get("keyword_args")
        callee = self.path(op, callee)
        if not isinstance(order, ArrayAttr):
            return f"{callee}({', '.join(operands)})"
        keywords = words.data if isinstance(words, ArrayAttr) else [StringAttr("")] * len(order.data)
        if len(keywords) != len(order.data):
            raise self.fail(op, "args and keyword_args must have the same size")
        parts = []
        for one, word in zip(order.data, keywords, strict=True):
            if isinstance(one, IntegerAttr) and isinstance(one.type, IndexType):
                if not 0 <= one.value.data < len(operands):
                    raise self.fail(op, f"args names operand {one.value.data} of {len(operands)}")
                text = operands[one.value.data]
            else:
                text = self.attribute(op, one)
            assert isinstance(word, StringAttr)
            parts.append(f"{self.identifier(op, word.data)}={text}" if word.data else text)
        return f"{callee}({', '.join(parts)})"

    def imported(self, op: Operation) -> None:
        whole = "import_all" not in op.properties and "members_to_import" not in op.properties
        module = self.path(op, _text(op, "module_name"), relative=not whole)
        members, aliases = op.properties.get("members_to_import"), op.properties.get("member_aliases")
        if "import_all" in op.properties:
            self.line(f"from {module} import *")
        elif isinstance(members, ArrayAttr):
            given = aliases.data if isinstance(aliases, ArrayAttr) else [StringAttr("")] * len(members.data)
            renamed = [self.renamed(op, one) for one in given]
            names = [self.identifier(op, one.data) for one in members.data if isinstance(one, StringAttr)]
            parts = ", ".join(name + alias for name, alias in zip(names, renamed, strict=True))
            self.line(f"from {module} import {parts}")
        else:
            alias = op.properties.get("module_alias")
            self.line(f"import {module}{self.renamed(op, alias) if alias is not None else ''}")

    def renamed(self, op: Operation, alias: Attribute) -> str:
        """Return an import's renaming part; empty without one."""
        given = isinstance(alias, StringAttr) and alias.data
        return f" as {self.identifier(op, given)}" if given else ""

    def constant(self, op: Operation) -> None:
        self.line(self.target(op) + self.attribute(op, op.properties["value"]))

    def literal(self, op: Operation) -> None:
        self._scope.names.setdefault(op.results[0], _text(op, "value"))

    def subscript(self, op: Operation) -> None:
        container, index = (self.name(value, "subscript_arg") for value in op.operands)
        self.line(f"{self.target(op)}{container}[{index}]")

    def get_attr(self, op: Operation) -> None:
        base = self.name(op.operands[0], "object")
        self.line(f"{self.target(op)}{base}.{self.path(op, _text(op, 'attr_name'))}")

    def set_attr(self, op: Operation) -> None:
        base, value = self.name(op.operands[0], "object"), self.name(op.operands[1], "value")
        self.line(f"{base}.{self.path(op, _text(op, 'attr_name'))} = {value}")

    def global_(self, op: Operation) -> None:
        self.line(f"{self.symbol(op)} = {self.attribute(op, op.properties['initial_value'])}")

    def global_statement(self, op: Operation) -> None:
        symbol = self.identifier(op, _symbol(op))
        self._scope.names.setdefault(op.results[0], symbol)
        self.line(f"global {symbol}")

    def assign_global(self, op: Operation) -> None:
        symbol = self.identifier(op, _symbol(op))
        self.line(f"{symbol} = {self.name(op.operands[0], symbol)}")

    def create_dict(self, op: Operation) -> None:
        name = self.symbol(op, "dict_name")
        self._scope.names.setdefault(op.results[0], name)
        if "literal_expr" in op.properties:
            self.line(f"{name} = {_text(op, 'literal_expr')}")
            return
        texts = [self.name(value, "dict_item") for value in op.operands]
        pairs = ", ".join(f"{key}: {value}" for key, value in zip(texts[::2], texts[1::2], strict=True))
        self.line(f"{name} = {{{pairs}}}")

    def assign(self, op: Operation) -> None:
        target, value = self.name(op.operands[0], "target"), self.name(op.operands[1], "value")
        self.line(f"{target} = {value}")

    def verbatim(self, op: Operation) -> None:
        for line in source_lines(self.formatted(op, _text(op, "value"))):
            self.line(line)

    def formatted(self, op: Operation, text: str) -> str:
        """A text with operands for `{}`; `{{` is a brace.

        Raises:
            CompileError: There are not as many operands as places.
        """
        pieces = re.split(r"(\{\{|\}\}|\{\})", text)
        if pieces.count("{}") != len(op.operands):
            raise self.fail(op, "requires operands for each placeholder in the format string")
        operands = iter([self.name(value, "arg") for value in op.operands])
        return "".join(next(operands) if one == "{}" else "{" if one == "{{" else one for one in pieces).replace(
            "}}", "}"
        )

    def condition(self, op: Operation, word: str = "if") -> None:
        self.line(f"{word} {self.formatted(op, _text(op, 'condition'))}:")
        self.body(op)
        others = _operations(op.regions[1].blocks) if len(op.regions) > 1 else []
        if not others:
            return
        inner = others[0]
        alone = len(others) == 1 and inner.name == "emitpy.if" and not _operations(inner.regions[1].blocks)
        if alone:
            self.condition(inner, "elif")
            return
        self.line("else:")
        self.body(op, 1)

    def expression(self, op: Operation) -> None:
        """An expression stands where it is used, unless it says otherwise."""
        (block,) = self.one_block(op)
        names: dict[SSAValue, str] = {
            argument: self.name(value, "expr_arg") for argument, value in zip(block.args, op.operands, strict=True)
        }
        result = block.last_op
        if result is None or result.name != "emitpy.yield":
            raise self.fail(op, "must end with emitpy.yield")
        if "do_not_inline" not in op.properties:
            self._scope.names.setdefault(op.results[0], self.inline(block, names))
            return

        def write() -> None:
            self._scope.names.update(names)
            for one in list(block.ops)[:-1]:
                self.statement(one)
            made = self.name(result.operands[0], "value")
            outer.names[op.results[0]] = self.name(op.results[0], self.fresh("var"))
            self.line(f"{outer.names[op.results[0]]} = {made}")

        outer = self._scope
        self.scoped(write)
        outer.taken.add(outer.names[op.results[0]])

    def inline(self, block: Block, names: dict[SSAValue, str]) -> str:
        """The text of what an expression yields.

        Raises:
            CompileError: An operation that is no expression of Python, or a text without end.
        """
        for op in block.ops:
            if any(value not in names for value in op.operands):
                raise self.fail(op, "uses a value of an expression before it is made")
            operands = [names[value] for value in op.operands]
            if op.name == "emitpy.yield":
                return operands[0]
            if op.name not in _INLINE or len(op.results) != 1:
                raise self.fail(op, "operation type not supported in inline expression")
            if sum(map(len, operands)) > _LONGEST:
                raise self.fail(op, "the expression is too long to be inlined; use do_not_inline")
            names[op.results[0]] = _INLINE[op.name](self, op, operands)
        raise AssertionError("an expression ends with a yield")


def _operations(blocks: Any) -> list[Operation]:
    return [op for block in blocks for op in block.ops]


def _text(op: Operation, name: str) -> str:
    value = op.properties.get(name)
    return value.data if isinstance(value, StringAttr) else ""


def _symbol(op: Operation) -> str:
    name = op.properties["name"]
    assert isinstance(name, SymbolRefAttr)
    return str(name.string_value())


def _defined(op: Operation) -> Iterator[str]:
    """Yield module names of an operation, which variables must not hide."""
    if op.name in ("emitpy.class", "emitpy.global", "emitpy.nested_func", "func.func"):
        yield _text(op, "sym_name")
    elif op.name == "emitpy.import":
        for name in ("members_to_import", "member_aliases"):
            found = op.properties.get(name)
            listed = found.data if isinstance(found, ArrayAttr) else ()
            yield from (one.data for one in listed if isinstance(one, StringAttr))
        yield _text(op, "module_alias") or _text(op, "module_name").partition(".")[0]


def _identifier(text: str) -> str:
    """A suggested name as an identifier; empty if it cannot be one."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = f"var_{name}" if name[:1].isdigit() else name
    # A value of the name `float` would hide the builtin that infinities are made with.
    return "" if not is_python_identifier(name) or name == "float" else name


def _argument_name(function: Operation, index: int) -> str:
    found = function.properties.get("arg_attrs")
    if not isinstance(found, ArrayAttr) or index >= len(found.data):
        return ""
    entries = found.data[index]
    name = entries.data.get("emitpy.name") if isinstance(entries, DictionaryAttr) else None
    return _identifier(name.data) if isinstance(name, StringAttr) else ""


_STATEMENTS: Final[dict[str, Callable[[_Emitter, Operation], None]]] = {
    "builtin.module": lambda emitter, op: emitter.scoped(lambda: emitter.module_body(op)),
    "emitpy.assign": _Emitter.assign,
    "emitpy.assign_global": _Emitter.assign_global,
    "emitpy.call_opaque": _Emitter.call,
    "emitpy.class": _Emitter.klass,
    "emitpy.constant": _Emitter.constant,
    "emitpy.create_dict": _Emitter.create_dict,
    "emitpy.expression": _Emitter.expression,
    "emitpy.get_attr": _Emitter.get_attr,
    "emitpy.global": _Emitter.global_,
    "emitpy.global_statement": _Emitter.global_statement,
    "emitpy.if": _Emitter.condition,
    "emitpy.import": _Emitter.imported,
    "emitpy.literal": _Emitter.literal,
    "emitpy.nested_func": _Emitter.nested,
    "emitpy.nested_func_return": _Emitter.returned,
    "emitpy.set_attr": _Emitter.set_attr,
    "emitpy.subscript": _Emitter.subscript,
    "emitpy.verbatim": _Emitter.verbatim,
    "func.call": _Emitter.called,
    "func.func": _Emitter.function,
    "func.return": _Emitter.returned,
}
_INLINE: Final[dict[str, Callable[[_Emitter, Operation, list[str]], str]]] = {
    "emitpy.call_opaque": lambda emitter, op, operands: emitter.call_text(op, operands),
    "emitpy.constant": lambda emitter, op, _: emitter.attribute(op, op.properties["value"]),
    "emitpy.get_attr": lambda emitter, op, operands: f"{operands[0]}.{emitter.path(op, _text(op, 'attr_name'))}",
    "emitpy.literal": lambda _, op, __: _text(op, "value"),
    "emitpy.subscript": lambda _, __, operands: f"{operands[0]}[{operands[1]}]",
}
