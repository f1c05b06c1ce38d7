"""Argument errors of plain functions, in the text of the official package.

Source: TT-NN docs, "operation objects"; recorded argument errors of ttnn 0.81.1.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from operator import index
from typing import Any, Final, TypeVar, cast

import numpy as np

from ttnn.base.exceptions import ArgumentError, TtnnError

_NUMBERS: Final = (int, float, np.integer, np.floating)
_NO_FLOAT: Final = 2**1024 - 2**970
"""The smallest int that rounds beyond the range of float64."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def is_float(value: object) -> bool:
    """Return whether a binding accepts `value` as a float."""
    # An int beyond float64 does not convert in the official binding either: the call fits no signature.
    return isinstance(value, _NUMBERS) and not (isinstance(value, int) and abs(value) >= _NO_FLOAT)


def as_integer(value: Any) -> int | None:
    """Return an integer as a Python int.

    None for truth values, arrays and all else.
    """
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def shown(value: object) -> str:
    """Return a value's text for errors, also of huge ints."""
    try:
        return repr(value)
    except ValueError:
        # Python writes no int of more than 4300 digits.
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else " with an int of too many digits"
        return f"{type(value).__name__}{bits}"


# Classes that the official package shows under the module that defines them; all others appear as ttnn.<name>.
_DEFINING_MODULE: Final = {"MeshDevice": "ttnn._ttnn.multi_device", "CoreGrid": "ttnn._ttnn.types"}


def type_text(value: object) -> str:
    """Return `value`'s class name as in the vendor's argument errors."""
    cls = type(value)
    if isinstance(value, int) and not is_float(value):
        return f"{cls.__qualname__} beyond float"
    if cls.__module__ == "builtins":
        return cls.__qualname__
    if cls.__module__.split(".", 1)[0] == "ttnn":
        return f"{_DEFINING_MODULE.get(cls.__name__, 'ttnn')}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__qualname__}"


def checked(function: _Function) -> _Function:
    """Return `function` with ArgumentErrors that show its parameters."""

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


def pop_argument(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """Return an argument, by position or name, and the remaining arguments.

    Raises:
        ArgumentError: there is neither.
    """
    if args:
        return args[0], list(args[1:]), kwargs
    if name not in kwargs:
        raise ArgumentError(f"pop_argument: the call has no argument {name!r}.", vendor=f"Missing argument: {name}")
    return kwargs[name], args, {key: value for key, value in kwargs.items() if key != name}
