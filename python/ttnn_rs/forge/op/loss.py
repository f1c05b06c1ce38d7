"""Losses."""

from typing import Any

from ttnn.compiler.frontends.forge.losses import LOSSES

__all__ = sorted(LOSSES)


def __getattr__(name: str) -> Any:
    """Return a loss by name."""
    if name not in LOSSES:
        raise AttributeError(f"forge.op.loss has no {name}; it has {', '.join(sorted(LOSSES))}.")
    return LOSSES[name]
