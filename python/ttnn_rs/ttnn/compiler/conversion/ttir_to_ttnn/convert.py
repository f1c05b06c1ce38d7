"""`convert-ttir-to-ttnn`, in the form of the version of the module."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.conversion.ttir_to_ttnn import tt as book_to_ttnn
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.module import Module

__all__ = ["run"]


def run(module: Module, options: dict[str, Any]) -> None:
    """Lower all tensor operations to calls of the library.

    Raises:
        CompileError: An operation cannot be lowered.
    """
    if DIALECT_TT.of(module.version):
        book_to_ttnn.run(module, options)
        return
    from ttnn.compiler.conversion.ttir_to_ttnn import lowering as later_to_ttnn

    later_to_ttnn.run(module, options)
