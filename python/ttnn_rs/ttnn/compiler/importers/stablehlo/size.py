"""Number of operations of a program after its calls are inlined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Operation

__all__ = ["LIMIT", "check_size"]

LIMIT: Final = 2_000_000
"""Limit of operations, calls and loops written out."""


def check_size(functions: Mapping[str, Operation]) -> None:
    """Refuse a program that is too large with calls written out.

    Raises:
        UnsupportedError: It has more than `LIMIT` operations.
    """
    own: dict[str, int] = {}
    calls: dict[str, list[str]] = {}
    for name, function in functions.items():
        views = [View(op) for op in function.walk()]
        own[name] = len(views)
        calls[name] = [one.symbol("callee") for one in views if one.name == "func.call"]
    sizes: dict[str, int] = {}
    begun: set[str] = set()
    waiting = [(name, False) for name in functions]
    while waiting:
        name, counted = waiting.pop()
        if counted:
            # A function that calls itself is refused by the depth of its calls.
            sizes[name] = own[name] + sum(sizes.get(one, 0) for one in calls[name])
            if sizes[name] > LIMIT:
                raise UnsupportedError(f"this program has more than {LIMIT:,} operations with its calls written out.")
        elif name not in begun:
            begun.add(name)
            waiting.append((name, True))
            waiting.extend((one, False) for one in calls[name] if one in own and one not in begun)
