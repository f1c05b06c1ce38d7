"""Operations of modules that are written with them."""

from typing import Any

from forge.op import loss
from ttnn.compiler.frontends.forge.operations import OPERATIONS

__all__ = [*sorted(OPERATIONS), "loss"]


def __getattr__(name: str) -> Any:
    """Return an operation by name."""
    if name not in OPERATIONS:
        raise AttributeError(f"forge.op has no {name}; it has {', '.join(sorted(OPERATIONS))}.")
    return OPERATIONS[name]
