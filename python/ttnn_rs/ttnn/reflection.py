"""The official module of this name: taking an argument out of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn.base.exceptions import ArgumentError


def pop_argument(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """Return the first positional argument, or else the one of a name, and the arguments that are left.

    Raises:
        ArgumentError: there is neither.
    """
    if args:
        return args[0], list(args[1:]), kwargs
    if name not in kwargs:
        raise ArgumentError(f"pop_argument: the call has no argument {name!r}.", vendor=f"Missing argument: {name}")
    return kwargs[name], args, {key: value for key, value in kwargs.items() if key != name}
