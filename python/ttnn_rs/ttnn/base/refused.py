"""Official functions that always raise, so that importing programs works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from ttnn.base.exceptions import UnsupportedError

SEVERAL_CHIPS: Final = "not implemented for meshes; docs/meshes.md lists what is"
"""The reason why functions of several chips raise."""


def refusing(module: str, names: str, why: str) -> dict[str, Callable[..., NoReturn]]:
    """Return functions that raise `UnsupportedError` when they are called, by name.

    Args:
        module: Where the official package has them, for example "ttnn.graph".
        names: Their names, separated by blanks.
        why: The reason, for message and docstring.
    """
    return {name: _refuse(module, name, why) for name in names.split()}


def _refuse(module: str, name: str, why: str) -> Callable[..., NoReturn]:
    def refused(*_args: object, **_options: object) -> NoReturn:
        raise UnsupportedError(f"{module}.{name}: {why}", "unimplemented")

    refused.__name__ = refused.__qualname__ = name
    refused.__module__ = module
    refused.__doc__ = f"Always raise UnsupportedError: {why}."
    return refused
