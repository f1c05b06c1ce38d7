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


def split_query_key_value_and_split_heads(
    x: ArrayLike,
    kv_input_tensor: ArrayLike | None = None,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_key: bool = True,
    **_: object,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the heads of queries, keys (transposed if asked for) and values."""
    groups = num_heads if num_kv_heads is None else num_kv_heads
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    if kv_input_tensor is not None:
        values = np.concatenate([values, np.asarray(kv_input_tensor, np.float64)], axis=-1)
    batch, rows, width = values.shape
    size = width // (num_heads + 2 * groups)
    heads = values.reshape(batch, rows, -1, size).swapaxes(1, 2)
    query, key, value = heads[:, :num_heads], heads[:, num_heads : num_heads + groups], heads[:, num_heads + groups :]
    return query, key.swapaxes(-1, -2) if transpose_key else key, value


def concatenate_heads(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return heads side by side."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    batch, heads, rows, size = values.shape
    result: NDArray[np.float64] = values.swapaxes(1, 2).reshape(batch, rows, heads * size)
    return result
