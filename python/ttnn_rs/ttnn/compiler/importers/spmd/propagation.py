"""Shardings of all values, from those that the program states."""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.exceptions import FileFormatError
from ttnn.compiler.limits import shortened

__all__ = ["propagate"]

_PASSES: Final = (
    "builtin.module(symbol-dce,sdy-apply-sharding-constraints,sdy-propagation-pipeline,sdy-close-shardings)"
)


def propagate(module: Any) -> None:
    """Propagate the shardings of Shardy through a module of jaxlib, in place.

    Raises:
        FileFormatError: The module cannot be read or its shardings contradict each other.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.passmanager import PassManager

    with module.context:
        try:
            PassManager.parse(_PASSES).run(module.operation)
        except (ir.MLIRError, ValueError) as error:
            raise FileFormatError(f"the shardings cannot be propagated: {shortened(str(error))}") from None
