"""The dialects, as the parser and the writer ask for them."""

from __future__ import annotations

from ttnn.compiler.dialects import pretty
from ttnn.compiler.dialects.attributes import (
    ConstraintAttr,
    DeviceAttr,
    EnumAttr,
    LayoutAttr,
    SystemDescAttr,
    TTNNLayoutAttr,
    parse_attribute,
)
from ttnn.compiler.dialects.operations import written_class
from ttnn.compiler.dialects.spec import DIALECTS
from ttnn.compiler.ir.attributes import DialectAttr
from ttnn.compiler.ir.operations import generic_operation
from ttnn.compiler.ir.parser import MlirParser
from ttnn.compiler.ir.writer import Writer
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation
from ttnn.compiler.version import Version

__all__ = ["REGISTRY", "DialectRegistry"]

_NAMED_BY_WORD = {
    "tt.memory_space",
    "tt.iterator_type",
    "ttcore.memory_space",
    "ttcore.iterator_type",
    "ttnn.buffer_type",
}


class DialectRegistry:
    """All dialects of the compiler stack."""

    def dialects(self) -> tuple[str, ...]:
        """Return the names of the dialects."""
        return tuple(DIALECTS)

    def operation(self, name: str, version: Version) -> type[Operation] | None:
        """Return an operation's class; a generic one without a table entry."""
        return written_class(name, version) or generic_operation(name)

    def attribute(self, parser: MlirParser, dialect: str, mnemonic: str, is_type: bool) -> Attribute | None:
        """Parse what follows `#dialect.mnemonic`; None if it has no class."""
        return parse_attribute(parser, f"{dialect}.{mnemonic}", is_type)

    def parse_pretty(self, parser: MlirParser, name: str, version: Version) -> Operation | None:
        """Parse an operation after its name in pretty form, or None."""
        return pretty.parse_pretty(parser, name, version)

    def print_pretty(self, writer: Writer, operation: Operation) -> bool:
        """Write an operation in pretty form; False if it has none here."""
        return pretty.print_pretty(writer, operation)

    def alias(self, attribute: Attribute) -> str | None:
        """Return the alias under which an attribute is printed, without number."""
        if isinstance(attribute, LayoutAttr):
            return "layout"
        if isinstance(attribute, TTNNLayoutAttr):
            return "ttnn_layout"
        if isinstance(attribute, EnumAttr):
            return attribute.value if attribute.enum in _NAMED_BY_WORD else None
        if isinstance(attribute, ConstraintAttr):
            return attribute.group or "operand_constraint"
        if isinstance(attribute, DeviceAttr):
            return "device" if attribute.dialect == "tt" else None
        if isinstance(attribute, SystemDescAttr):
            return "system_desc"
        if isinstance(attribute, DialectAttr) and attribute.full_name() == "ttcore.metal_layout":
            return "layout"
        return None

    def alias_dialect(self, attribute: Attribute) -> str:
        """Return the dialect of an attribute or type that is not builtin."""
        return attribute.full_name().partition(".")[0] if isinstance(attribute, DialectAttr) else "builtin"


REGISTRY = DialectRegistry()
