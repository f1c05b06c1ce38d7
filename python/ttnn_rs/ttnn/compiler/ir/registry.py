"""Queries of the parser and the writer to the dialects."""

from __future__ import annotations

from typing import Protocol

from ttnn.compiler.ir.interfaces import FullParser, WriterLike
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation
from ttnn.compiler.version import Version

__all__ = ["Registry"]


class Registry(Protocol):
    """The dialects that are known."""

    def dialects(self) -> tuple[str, ...]:
        """Return the names of the dialects."""

    def operation(self, name: str, version: Version) -> type[Operation] | None:
        """Return a known dialect's operation class; generic without a table entry."""

    def attribute(self, parser: FullParser, dialect: str, mnemonic: str, is_type: bool) -> Attribute | None:
        """Parse the body of `#dialect.mnemonic`; None if not in the table.

        Nothing is consumed then.
        """

    def parse_pretty(self, parser: FullParser, name: str, version: Version) -> Operation | None:
        """Parse an operation after its name in our pretty form, or None."""

    def print_pretty(self, writer: WriterLike, operation: Operation) -> bool:
        """Write an operation in our pretty form, without results; else False."""

    def alias(self, attribute: Attribute) -> str | None:
        """Return the alias under which an attribute is printed, without number."""

    def alias_dialect(self, attribute: Attribute) -> str:
        """Return the dialect of an attribute or type that is not builtin."""
