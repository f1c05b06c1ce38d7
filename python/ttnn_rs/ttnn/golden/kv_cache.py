"""Reference functions of caches of keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def fill_cache(cache: ArrayLike, x: ArrayLike, batch_index: int, *, update_idx: int = 0, **_: object) -> Array:
    """Return a cache with `x` written into a user's part."""
    result, values = np.array(cache, np.float64), np.asarray(x, np.float64)
    result[batch_index, :, update_idx : update_idx + values.shape[-2]] = values[0]
    return result


def update_cache(cache: ArrayLike, x: ArrayLike, update_index: int, batch_offset: int = 0, **_: object) -> Array:
    """Return a cache with a row of `x` in every user's part."""
    result, values = np.array(cache, np.float64), np.asarray(x, np.float64)
    users = result.shape[0]
    result[:, :, update_index] = np.swapaxes(values[0, :, batch_offset : batch_offset + users], 0, 1)
    return result


def _seen(values: Array, heads: int, length: int, width: int) -> Array:
    """Return pages whose tiles are those of other heads, rows and widths."""
    pages, old_heads, old_length, old_width = values.shape
    tiles = values.reshape(pages, old_heads, old_length // 32, 32, old_width // 32, 32).swapaxes(3, 4)
    tiles = tiles.reshape(pages, heads, length // 32, width // 32, 32, 32).swapaxes(3, 4)
    result: Array = tiles.reshape(pages, heads, length, width)
    return result


def paged_update_cache(
    cache: ArrayLike,
    rows: ArrayLike,
    *,
    update_idxs: Sequence[int] = (),
    update_idxs_tensor: ArrayLike | None = None,
    share_cache: bool | None = None,
    page_table: ArrayLike | None = None,
    block_size: int | None = None,
    num_kv_heads: int | None = None,
    cache_position_modulo: int | None = None,
    **_: object,
) -> Array:
    """Return the cache with every user's row at its own position."""
    values, given = np.array(cache, np.float64), np.asarray(rows, np.float64)
    _, *own = values.shape
    heads, length = num_kv_heads or own[0], block_size or own[1]
    if [heads, length, given.shape[3]] != own:
        values = _seen(values, heads, length, given.shape[3])
    places = list(update_idxs) or np.asarray(update_idxs_tensor).astype(int).reshape(-1).tolist()
    for user, place in enumerate(places):
        if cache_position_modulo is not None and place >= 0:
            place %= cache_position_modulo
        page = 0 if share_cache else user
        if page_table is not None:
            page = int(np.asarray(page_table)[user, place // length])
        if place >= 0 and page >= 0:
            values[page, :, place % length] = given[0, user, :heads]
    return values if [*values.shape[1:]] == own else _seen(values, own[0], own[1], own[2])


def paged_fused_update_cache(
    first: ArrayLike, rows: ArrayLike, second: ArrayLike, others: ArrayLike, **options: Any
) -> tuple[Array, Array]:
    """Return two caches with rows of every user."""
    return paged_update_cache(first, rows, **options), paged_update_cache(second, others, **options)


def paged_fill_cache(
    cache: ArrayLike,
    x: ArrayLike,
    page_table: ArrayLike,
    *,
    batch_idx_tensor: ArrayLike | None = None,
    batch_idx: int = 0,
    block_size: int | None = None,
    cache_position_modulo: int | None = None,
    valid_seq_len_tensor: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return the cache with a user's rows in its own pages."""
    values, given = np.array(cache, np.float64), np.asarray(x, np.float64)
    user = batch_idx if batch_idx_tensor is None else int(np.asarray(batch_idx_tensor).reshape(-1)[0])
    _, *own = values.shape
    length, end = block_size or own[1], given.shape[2]
    if [given.shape[1], length, given.shape[3]] != own:
        values = _seen(values, given.shape[1], length, given.shape[3])
    if valid_seq_len_tensor is not None:
        end = min(end, -(-int(np.asarray(valid_seq_len_tensor).reshape(-1)[0]) // length) * length) or end
    ring = cache_position_modulo or end
    for row in range(max(0, end - ring), end):
        page = int(np.asarray(page_table)[user, row % ring // length])
        if page >= 0:
            values[page, :, row % length] = given[0, :, row]
    return values if [*values.shape[1:]] == own else _seen(values, own[0], own[1], own[2])
