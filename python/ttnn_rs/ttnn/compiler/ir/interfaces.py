"""Types of modules above: parser and writer.

They hand themselves to what is below them.
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, TypeAlias

__all__ = ["FullParser", "ParserLike", "WriterLike"]


class ParserLike(Protocol):
    """The parser methods that other modules use."""

    _text: str

    @property
    def _current_token(self) -> Any:
        """The token that comes next."""

    def fail(self, message: str, at: Any = None) -> NoReturn:
        """Raise a parse error."""

    def parse_punctuation(self, punctuation: Any, context_msg: str = "") -> Any:
        """Parse punctuation."""

    def parse_type(self) -> Any:
        """Parse a type."""

    def _consume_token(self, expected_kind: Any = None) -> Any:
        """Advance to the next token."""

    def _resume_from(self, pos: int) -> None:
        """Continue at a position of the text."""


FullParser: TypeAlias = Any
"""`ttnn.compiler.ir.parser.MlirParser`, for those who parse with all of it."""
WriterLike: TypeAlias = Any
"""`ttnn.compiler.ir.writer.Writer`."""
