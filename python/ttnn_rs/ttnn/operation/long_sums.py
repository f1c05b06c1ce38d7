"""The hint for long-K matmuls with a 16-bit Dst.

K is too long for sums there.
"""

from __future__ import annotations

from typing import Final

PRODUCTS_OF_A_STEP: Final = 16
"""Products that the FPU sums before it adds them to Dst."""
_STEPS: Final = 1 << 8
"""Equal terms that a 16-bit Dst adds exactly.

It has 8 significant bits: of so many equal terms, the next one is at most half of the sum's last bit.
"""


def hint(k: int, wide: bool) -> str:
    """Return the hint for a matmul of length `k`, or empty.

    The fidelity does not matter: its later phases add smaller terms.

    Args:
        k: Length of the sums.
        wide: Whether Dst is 32 bits wide.
    """
    if wide or k < _STEPS * PRODUCTS_OF_A_STEP:
        return ""
    return f"K is {k}, with sums in a 16-bit Dst: consider fp32_dest_acc_en"
