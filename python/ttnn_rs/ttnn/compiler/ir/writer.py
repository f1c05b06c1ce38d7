"""The writer: text of a module as MLIR prints it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.aliases import AliasTable
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.pretty import PRINTERS
from ttnn.compiler.ir.printing import LOCATIONS, AttributeText
from ttnn.compiler.ir.registry import Registry
from ttnn.compiler.ir.values import ValueNames
from ttnn.compiler.ir.xdsl_adapter import Attribute, Block, Operation, Region, SSAValue, UnknownLoc
from ttnn.compiler.version import Version

__all__ = ["Expansion", "Writer", "write_module"]


class Expansion(Protocol):
    """An operation's text in a version: outputs and own names.

    The outputs before it, and the names on its own line.
    """

    def outputs(self, operation: Operation) -> Sequence[Attribute]:
        """Return the types of the empty tensors that an operation writes to."""

    def places(self, operation: Operation) -> Sequence[tuple[Operation, int]]:
        """Return the operations they preceded, and their order.

        Empty if that was right before it.
        """

    def operands(self, operation: Operation, outputs: Sequence[str]) -> list[tuple[str | SSAValue, Attribute]]:
        """Return the written operands with their types.

        They are values, or names of the outputs.
        """

    def properties(self, operation: Operation) -> dict[str, Attribute]:
        """Return the properties as they are written."""

    def empty(self, printer: AttributeText, type_: Attribute, *, generic: bool) -> str:
        """Return the operation that makes an output, without its result."""


class Writer:
    """Writer of operations, line by line, in two passes.

    The first only looks for aliases.
    """

    def __init__(
        self,
        registry: Registry,
        names: ValueNames,
        text: AttributeText,
        expansion: Expansion,
        *,
        debuginfo: bool = False,
        generic: bool = False,
    ) -> None:
        self.registry = registry
        self.names = names
        self.text = text
        self.expansion = expansion
        self.debuginfo = debuginfo
        self.generic = generic
        self.out: list[str] = []
        self.indent = ""

    def write(self, text: str) -> None:
        """Append text."""
        self.out.append(text)

    def attribute(self, attribute: Attribute) -> str:
        """Return the text of an attribute or type."""
        return self.text.attribute(attribute)

    def value(self, value: SSAValue) -> str:
        """Return `%name` of a value."""
        return self.names.value(value)

    def values(self, values: Iterable[SSAValue]) -> str:
        """Return values with commas between."""
        return ", ".join(map(self.names.value, values))

    def location(self, location: Attribute) -> None:
        """Write ` loc(...)` where debug information is asked for."""
        if self.debuginfo:
            known = location if isinstance(location, LOCATIONS) else UnknownLoc()
            self.write(" " + self.text.attribute(known))

    def dictionary(self, entries: dict[str, Attribute]) -> str:
        """Return an attribute dictionary."""
        return self.text.dictionary(entries)

    def attributes(self, entries: dict[str, Attribute], leave_out: Iterable[str] = (), keyword: bool = False) -> None:
        """Write a dictionary with a space before, unless it is empty."""
        left = {name: value for name, value in entries.items() if name not in leave_out}
        if left:
            self.write((" attributes " if keyword else " ") + self.dictionary(left))

    def operation(self, operation: Operation) -> None:
        """Write an operation with results, outputs, location and line end."""
        for name, type_, owner in self.names.empties(operation):
            self.write(f"{self.indent}{name} = {self.expansion.empty(self.text, type_, generic=self.generic)}")
            self.location(owner.location)
            self.write("\n")
        self.write(self.indent)
        if operation.results:
            self.write(self.names.results(operation) + " = ")
        if self.generic or not (self._builtin_pretty(operation) or self.registry.print_pretty(self, operation)):
            self.generic_form(operation, self.names.outputs(operation))
        self.location(operation.location)
        self.write("\n")

    def _builtin_pretty(self, operation: Operation) -> bool:
        printer = PRINTERS.get(operation.name)
        return printer is not None and printer(self, operation)

    def generic_form(self, operation: Operation, output_names: Sequence[str] = ()) -> None:
        """Write the generic form."""
        operands = self.expansion.operands(operation, output_names)
        texts = [one if isinstance(one, str) else self.names.value(one) for one, _ in operands]
        self.write(f'"{written_name(operation)}"({", ".join(texts)})')
        if operation.successors:
            self.write("[" + ", ".join(self.names.block(block) for block in operation.successors) + "]")
        properties = self.expansion.properties(operation)
        if properties:
            self.write(f" <{self.dictionary(properties)}>")
        if operation.regions:
            self.write(" (")
            for i, region in enumerate(operation.regions):
                self.write(", " if i else "")
                self.region(region)
            self.write(")")
        attributes = {name: value for name, value in operation.attributes.items() if name != "op_name__"}
        if attributes:
            self.write(" " + self.dictionary(attributes))
        types = ", ".join(self.attribute(type_) for _, type_ in operands)
        self.write(f" : ({types}) -> {self.text.results(r.type for r in operation.results)}")

    def region(self, region: Region, *, arguments: bool = True, empty_terminator: str = "") -> None:
        """Write a region in braces.

        Args:
            region: The region.
            arguments: Whether the entry block is labelled if it has arguments.
            empty_terminator: A terminator without operands that is left out.
        """
        self.write("{\n")
        outer = self.indent
        self.indent = outer + "  "
        for i, block in enumerate(region.blocks):
            labelled = i > 0 or (arguments and bool(block.args)) or (not block.ops.first and len(region.blocks) > 1)
            if labelled:
                self.block_label(block, outer)
            for operation in block.ops:
                if operation.name == empty_terminator and not operation.operands and operation is block.last_op:
                    continue
                self.operation(operation)
        self.indent = outer
        self.write(outer + "}")

    def block_label(self, block: Block, indent: str) -> None:
        """Write `^bb0(%arg0: type):`."""
        self.write(indent + self.names.block(block))
        if block.args:
            self.write("(")
            for i, argument in enumerate(block.args):
                self.write(f"{', ' if i else ''}{self.value(argument)}: {self.attribute(argument.type)}")
                self.argument_location(argument.location)
            self.write(")")
        self.write(":\n")

    def argument_location(self, location: Attribute | None) -> None:
        """Write the location of a block argument, if asked for."""
        if self.debuginfo:
            known = location if isinstance(location, LOCATIONS) else UnknownLoc()
            self.write(" " + self.text_of_argument_location(known))

    def text_of_argument_location(self, location: Attribute) -> str:
        """Return an argument's location.

        Its alias cannot be at the end of the file.
        """
        if isinstance(self.text, AliasTable):
            return self.text.now(location)
        return self.text.attribute(location)


def write_module(
    operation: Operation,
    registry: Registry,
    expansion: Expansion,
    *,
    version: Version,
    resources: dict[str, dict[str, bytes]] | None = None,
    debuginfo: bool = False,
    local_scope: bool = False,
    generic: bool = False,
) -> str:
    """Return the text of a module with its aliases, locations and resources."""
    names = ValueNames(operation, expansion)
    text: AttributeText
    if local_scope:
        text = AttributeText()
    else:
        text = table = AliasTable(registry, underscored=DIALECT_TT.of(version))
        finder = Writer(registry, names, table, expansion, debuginfo=debuginfo, generic=generic)
        finder.operation(operation)
        table.settle()
    writer = Writer(registry, names, text, expansion, debuginfo=debuginfo, generic=generic)
    writer.operation(operation)
    head, tail = ("", "") if local_scope else (table.head(), table.tail())
    body = "".join(writer.out)
    return head + body + tail + _resources(resources or {})


def _resources(resources: dict[str, dict[str, bytes]]) -> str:
    used = {dialect: entries for dialect, entries in resources.items() if entries}
    if not used:
        return ""
    parts = []
    for dialect, entries in used.items():
        from ttnn.compiler.ir.printing import bare_or_quoted

        lines = ",\n".join(f'      {bare_or_quoted(key)}: "0x{data.hex().upper()}"' for key, data in entries.items())
        parts.append(f"    {dialect}: {{\n{lines}\n    }}")
    return "\n{-#\n  dialect_resources: {\n" + ",\n".join(parts) + "\n  }\n#-}\n"
