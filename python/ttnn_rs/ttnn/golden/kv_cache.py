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


def paged_update_cache(
    cache: ArrayLike,
    rows: ArrayLike,
    *,
    update_idxs: Sequence[int] = (),
    update_idxs_tensor: ArrayLike | None = None,
    share_cache: bool | None = None,
    page_table: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return the cache with every user's row at its own position."""
    values, given = np.array(cache, np.float64), np.asarray(rows, np.float64)
    heads, length = values.shape[1:3]
    places = list(update_idxs) or np.asarray(update_idxs_tensor).astype(int).reshape(-1).tolist()
    for user, place in enumerate(places):
        page = 0 if share_cache else user
        if page_table is not None:
            page = int(np.asarray(page_table)[user, place // length])
        if place >= 0 and page >= 0:
            values[page, :, place % length] = given[0, user, :heads]
    return values


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
    **_: object,
) -> Array:
    """Return the cache with a user's rows in its own pages."""
    values, given = np.array(cache, np.float64), np.asarray(x, np.float64)
    user = batch_idx if batch_idx_tensor is None else int(np.asarray(batch_idx_tensor).reshape(-1)[0])
    length = values.shape[2]
    for number, page in enumerate(np.asarray(page_table).astype(int)[user]):
        part = given[0, :, number * length : (number + 1) * length]
        if page >= 0 and part.shape[1]:
            values[page, :, : part.shape[1]] = part
    return values
