"""The calls of an executed program."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.conversion.ttnn_to_calls.calls import Call
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program


class SeenCalls:
    """Observer of a program.

    Attributes:
        functions: Function of each call that has ended.
    """

    def __init__(self) -> None:
        self.functions: list[str] = []

    def before(self, program: Program, call: Call, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Do nothing."""

    def after(self, program: Program, call: Call, result: Any, nanoseconds: int) -> None:
        """Add the function of a call."""
        self.functions.append(call.function)
