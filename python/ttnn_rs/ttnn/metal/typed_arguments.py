"""Type checks of what operator descriptors are built from."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ttnn.base.call import checked
from ttnn.base.exceptions import ArgumentError
from ttnn.metal.descriptors import required

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _classes(hint: Any) -> tuple[type, ...]:
    """Return the classes of an annotation's values."""
    if hint is Any:
        return (object,)
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for part in get_args(hint) for kind in _classes(part))
    kind = get_origin(hint) or hint
    return (float, int) if kind is float else (kind,)


@cache
def _fields(owner: Any) -> dict[str, tuple[type, ...]]:
    return {name: _classes(hint) for name, hint in get_type_hints(owner).items()}


class TypedFields:
    """Base of dataclasses whose fields are checked when they are set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field.

        Raises:
            ArgumentError: the value has another type.
        """
        owner: Any = type(self)
        kinds = _fields(owner).get(name, (object,))
        if not isinstance(value, kinds):
            names = " or ".join(dict.fromkeys(kind.__name__.replace("NoneType", "None") for kind in kinds))
            raise ArgumentError(f"{type(self).__name__}: {name} must be {names}, got {type(value).__name__}")
        object.__setattr__(self, name, value)


def of_operation(attributes: type, tensors: type) -> Callable[[_Function], _Function]:
    """Return a decorator that checks the options and tensors of a function."""

    def decorate(function: _Function) -> _Function:
        where = function.__qualname__

        @checked
        @wraps(function)
        def call(operation_attributes: Any, tensor_args: Any, *args: Any, **kwargs: Any) -> Any:
            required(f"{where}: operation_attributes", operation_attributes, attributes)
            required(f"{where}: tensor_args", tensor_args, tensors)
            return function(operation_attributes, tensor_args, *args, **kwargs)

        return cast("_Function", call)

    return decorate
