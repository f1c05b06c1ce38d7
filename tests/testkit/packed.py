"""Packer results for words in Dst."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def packed(words: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Return Dst words as packed to bfloat16.

    -0 becomes +0, NaN infinity of its sign.
    """
    result = words.copy()
    result[result == 0x8000] = 0
    nan = ((result & 0x7F80) == 0x7F80) & ((result & 0x7F) != 0)
    result[nan] = (result[nan] & 0x8000) | 0x7F80
    return result
