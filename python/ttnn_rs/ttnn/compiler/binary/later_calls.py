"""What the operations of the later epochs call."""

from __future__ import annotations

from typing import Final

from ttnn.compiler.binary.book_calls import Handler

__all__ = ["LATER"]

LATER: Final[dict[str, Handler]] = {}
