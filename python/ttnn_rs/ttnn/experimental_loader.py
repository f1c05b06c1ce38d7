"""The official module of this name: listing the operators of an extension module, of which there is none here."""

from __future__ import annotations

from types import ModuleType
from typing import NoReturn

from ttnn.base.exceptions import UnsupportedError
from ttnn.operation.hooks import create_module_if_not_exists as create_module_if_not_exists


def register_tt_lib_operations_as_ttnn_operations(module: ModuleType) -> NoReturn:
    """Always raise: operators come from the registry, not from an extension module.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "register_tt_lib_operations_as_ttnn_operations: operators come from the registry of this package; "
        "ttnn.register_python_operation adds one."
    )
