"""Reference functions of attention and its parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.normalization import scale_mask_softmax


def attention_softmax(
    x: ArrayLike, *, head_size: int | None = None, attention_mask: ArrayLike | None = None, **_: object
) -> NDArray[np.float64]:
    """Return the softmax of x / sqrt(head_size) + attention_mask over the last dimension."""
    return scale_mask_softmax(x, None if head_size is None else head_size**-0.5, attention_mask)
