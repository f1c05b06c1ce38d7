"""Reference functions of embeddings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def embedding(indices: ArrayLike, weight: ArrayLike, *_args: object, **_: object) -> Array:
    """Return table rows at indices.

    Leading dimensions of indices between batch and sequence are 1.
    """
    table = np.asarray(weight, np.float64)
    rows = np.asarray(indices, np.int64)
    if rows.ndim != 1:
        rows = rows.reshape(1, -1) if rows.ndim == 0 else rows.reshape(rows.shape[0], -1)[:, : rows.shape[-1]]
    return table.reshape(-1, table.shape[-1])[rows]
