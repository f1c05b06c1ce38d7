"""The simulated system: a chip of the generation that is opened."""

from __future__ import annotations

import ttnn
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc

__all__ = ["current_system"]


def current_system() -> SystemDesc:
    """Return `get_arch_name`'s chip descriptor: an n150 or p150."""
    return SystemDesc.for_arch(ttnn.get_arch_name())
