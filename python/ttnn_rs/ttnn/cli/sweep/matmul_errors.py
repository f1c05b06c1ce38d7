"""Measurements of `sweep matmul`: error by length, fidelity, Dst width and blocking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIDELITIES: Final = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
BLOCKINGS: Final = {"in Dst": (1, False), "in L1 after 8 tiles": (8, True), "in L1 after every tile": (1, True)}
"""K block accumulation: tiles per block, and L1 packer accumulation flag.

Without the packer partial sums are reloaded to Dst unchanged, so the number of tiles per block does not matter.
"""


@dataclass(frozen=True)
class Measurement:
    """The error of one product.

    Args:
        k: Length of the sums.
        fidelity: Phases of the multiplier.
        dst: Width of Dst in bits.
        blocking: Where blocks of K are added up, see `BLOCKINGS`.
        relative_error: Root mean square of the error over that of the exact result.
        max_ulp: Largest error in bfloat16 spacings of the root mean square result.
    """

    k: int
    fidelity: str
    dst: int
    blocking: str
    relative_error: float
    max_ulp: float
