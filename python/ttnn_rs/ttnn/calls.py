"""Plain functions with the manners of operators: the official text for a call that does not fit.

Source: TT-NN docs, "operation objects"; recorded argument errors of ttnn 0.81.1.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ttnn.exceptions import ArgumentError, TtnnError

_Function = TypeVar("_Function", bound=Callable[..., Any])


def checked(function: _Function) -> _Function:
    """Make a call that Python cannot bind to the parameters of `function` an ArgumentError that shows them."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            # Only a call that could not be bound has no frame below this one.
            bound = error.__traceback__ is None or error.__traceback__.tb_next is not None
            if bound or isinstance(error, TtnnError):
                raise
        raise _wrong_arguments(function, args, kwargs)

    return cast("_Function", call)


def _wrong_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentError:
    # Imported here: opening devices is checked too, and operators need devices.
    from ttnn.ops.arguments import type_text

    name = function.__name__
    given = [type_text(value) for value in args] + [f"{key}={type_text(value)}" for key, value in kwargs.items()]
    return ArgumentError(
        f"\nttnn.{name}(): incompatible function arguments.\n\nCalled with:\n  {name}({', '.join(given)})\n\n"
        f"Available signatures:\n  {name}({', '.join(_parameters(function))})"
    )


def _parameters(function: Callable[..., Any]) -> list[str]:
    parts: list[str] = []
    keyword_only = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        text = f"{parameter.name}: {parameter.annotation}"
        if parameter.default is not parameter.empty:
            default = parameter.default
            text += f" = {default if isinstance(default, enum.Enum) else repr(default)}"
        parts.append(text)
    return parts
