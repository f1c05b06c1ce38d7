"""The hint for matrix products whose K is too long for sums in a 16-bit Dst."""

from __future__ import annotations

from typing import Final

PRODUCTS_OF_A_STEP: Final = 16
"""Products that the FPU sums before it adds them to Dst."""
_STEPS: Final = 1 << 8
"""A 16-bit Dst has 8 significant bits: of so many equal terms, the next one is at most half of the sum's last bit."""


def hint(k: int, wide: bool) -> str:
    """Return what to consider for a product over `k` elements, or an empty text.

    The fidelity does not matter: its later phases add smaller terms.

    Args:
        k: Length of the sums.
        wide: Whether Dst is 32 bits wide.
    """
    if wide or k < _STEPS * PRODUCTS_OF_A_STEP:
        return ""
    return f"K is {k}, with sums in a 16-bit Dst: consider fp32_dest_acc_en"
