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


def rotary_embedding(
    x: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    token_index: int | None = None,
    *,
    is_decode_mode: bool = False,
    **_: object,
) -> NDArray[np.float64]:
    """Return x * cos + rotated * sin; rotated has the halves of the columns swapped and the first half negated."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    left, right = np.split(values, 2, axis=-1)
    return _rotary(values, np.concatenate([-right, left], axis=-1), cos, sin, 0 if is_decode_mode else token_index)


def rotary_embedding_llama(
    x: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    trans_mat: ArrayLike,
    *,
    is_decode_mode: bool = False,
    **_: object,
) -> NDArray[np.float64]:
    """Return x * cos + rotated * sin; rotated is the product of every 32 columns with a matrix."""
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    matrix: NDArray[np.float64] = np.asarray(trans_mat, np.float64)[0, 0]
    groups = values.reshape(*values.shape[:-1], values.shape[-1] // 32, 32)
    return _rotary(values, (groups @ matrix).reshape(values.shape), cos, sin, 0 if is_decode_mode else None)


def rotary_embedding_llama_fused_qk(
    q: ArrayLike, k: ArrayLike, cos: ArrayLike, sin: ArrayLike, trans_mat: ArrayLike, **_: object
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `rotary_embedding_llama` in decode mode of queries and of keys."""
    query, key = (rotary_embedding_llama(x, cos, sin, trans_mat, is_decode_mode=True) for x in (q, k))
    return query, key


def _rotary(
    x: NDArray[np.float64], rotated: NDArray[np.float64], cos: ArrayLike, sin: ArrayLike, row: int | None
) -> NDArray[np.float64]:
    tables: list[NDArray[np.float64]] = [np.asarray(table, np.float64) for table in (cos, sin)]
    rows = slice(0, x.shape[-2]) if row is None else slice(row, row + 1)
    cosines, sines = (table[..., rows, :] for table in tables)
    result: NDArray[np.float64] = x * cosines + rotated * sines
    return result


def nlp_create_qkv_heads(
    x: ArrayLike,
    input_kv: ArrayLike | None = None,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_k_heads: bool = True,
    **_: object,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the heads of queries, keys (transposed if asked for) and values of [B, 1, S, W]."""
    return split_query_key_value_and_split_heads(
        np.asarray(x, np.float64)[:, 0],
        None if input_kv is None else np.asarray(input_kv, np.float64)[:, 0],
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        transpose_key=transpose_k_heads,
    )


def nlp_concat_heads(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return heads side by side, with a dimension of 1 in front of rows."""
    return concatenate_heads(x)[:, None]
