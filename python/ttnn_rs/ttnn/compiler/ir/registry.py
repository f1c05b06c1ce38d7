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
        """Return the class of an operation of a known dialect; a generic one for an operation that no table has."""

    def attribute(self, parser: FullParser, dialect: str, mnemonic: str, is_type: bool) -> Attribute | None:
        """Parse what follows `#dialect.mnemonic`; None, with nothing consumed, if the table does not have it."""

    def parse_pretty(self, parser: FullParser, name: str, version: Version) -> Operation | None:
        """Parse what follows the name of an operation in pretty form; None if it has none of ours."""

    def print_pretty(self, writer: WriterLike, operation: Operation) -> bool:
        """Write an operation in pretty form, without its results; False if it has none of ours."""

    def alias(self, attribute: Attribute) -> str | None:
        """Return the alias under which an attribute is printed, without number."""

    def alias_dialect(self, attribute: Attribute) -> str:
        """Return the dialect of an attribute or type that is not builtin."""
