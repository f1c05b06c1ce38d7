"""`ttir` attention, caches and heads in numpy float64.

Shapes as the operations document them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects import TableOp

Array = NDArray[Any]
Groups = Callable[[str], Any]


def _weights(scores: Array, sink: Array | None) -> Array:
    """Softmax over the last axis.

    A sink is one more score that belongs to no key.
    """
    most = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        most = np.maximum(most, sink)
    e = np.exp(scores - most)
    total = e.sum(axis=-1, keepdims=True)
    if sink is not None:
        total = total + np.exp(sink - most)
    return e / total


def _scale(op: TableOp, width: int) -> float:
    scale = op.get("scale")
    return 1 / math.sqrt(width) if scale is None else float(scale)


def attention(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention of queries, keys and values.

    [B, H, S, D], [B, G, T, D], [B, G, T, V] -> [B, H, S, V].
    """
    q, k, v = given[:3]
    repeats = q.shape[1] // k.shape[1]
    k, v = k.repeat(repeats, axis=1), v.repeat(repeats, axis=1)
    scores = q @ np.swapaxes(k, -1, -2) * _scale(op, q.shape[-1])
    mask = groups("attention_mask")
    if mask is not None:
        scores = scores + mask
    rows, columns = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    window = op.get("sliding_window_size") if "sliding_window_size" in op.spec.attributes else None
    if q.shape[2] == 1 and window is not None and not op.get("is_causal"):
        # One query is a step of decoding, at the last key.
        scores = np.where(columns < k.shape[2] - window, -np.inf, scores)
    if op.get("is_causal") and mask is None:
        hidden = columns > rows
        if window is not None:
            hidden = hidden | (columns <= rows - window)
        scores = np.where(hidden, -np.inf, scores)
    sink = groups("attention_sink") if _has(op, "attention_sink") else None
    return [_weights(scores, None if sink is None else sink.reshape(1, -1, 1, 1)) @ v]


def _has(op: TableOp, group: str) -> bool:
    return any(one.name == group for one in op.spec.operands)


def decode(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention of one new token of each user.

    [1, B, H, D], [B, G, T, D], [B, G, T, V] -> [1, B, H, V].
    """
    q, k, v = given[:3]
    return [_decode(op, q, k, v, groups)]


def _decode(op: TableOp, q: Array, k: Array, v: Array, groups: Groups) -> Array:
    repeats = q.shape[2] // k.shape[1]
    k, v = k.repeat(repeats, axis=1), v.repeat(repeats, axis=1)
    scores = np.einsum("bhd,bhtd->bht", q[0], k) * _scale(op, q.shape[-1])
    keys = np.arange(k.shape[2])[None, None, :]
    # Without causality the last key is the position; the window ends there (reader of the kernel in tt-metal).
    last = groups("cur_pos_tensor").reshape(-1, 1, 1) if op.get("is_causal") else k.shape[2] - 1
    window = op.get("sliding_window_size") if "sliding_window_size" in op.spec.attributes else None
    hidden = (keys > last) if window is None else (keys > last) | (keys <= last - window)
    scores = np.where(hidden, -np.inf, scores)
    mask = groups("attention_mask")
    if mask is not None:
        scores = scores + mask.reshape(mask.shape[0], -1, mask.shape[-1])
    sink = groups("attention_sink")
    if sink is not None:
        sink = sink[..., 0].reshape(1, -1, 1)
    return np.einsum("bht,bhtd->bhd", _weights(scores, sink), v)[None]


def paged_decode(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention with paged keys and values.

    Pages [pages, G, block, D], and a table [B, n] has the pages of each user.
    """
    table = groups("page_table").astype(np.int64)
    k, v = (_paged(groups(name), table) for name in ("key", "value"))
    return [_decode(op, groups("query"), k, v, groups)]


def paged_latent_decode(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """The same with values as the keys' first columns.

    If they are no tensor.
    """
    table = groups("page_table").astype(np.int64)
    k, value = _paged(groups("key"), table), groups("value")
    v = k[..., : op.get("head_dim_v")] if value is None else _paged(value, table)
    return [_decode(op, groups("query"), k, v, groups)]


def chunked(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Attention of queries [B, H, S, D] from a position on.

    Keys and values are in pages as above.
    """
    q, table = groups("query"), groups("page_table").astype(np.int64)
    k, v = (_paged(groups(name), table) for name in ("key", "value"))
    repeats = q.shape[1] // k.shape[1]
    k, v = k.repeat(repeats, axis=1), v.repeat(repeats, axis=1)
    rows = int(groups("chunk_start_idx").reshape(-1)[0]) + np.arange(q.shape[2])[:, None]
    scores = q @ np.swapaxes(k, -1, -2) * _scale(op, q.shape[-1])
    return [_weights(np.where(np.arange(k.shape[2])[None, :] > rows, -np.inf, scores), None) @ v]


def _paged(cache: Array, table: Array) -> Array:
    """[pages, G, block, D] -> [B, G, n * block, D]."""
    found = cache[table]  # [B, n, G, block, D]
    return np.swapaxes(found, 1, 2).reshape(table.shape[0], cache.shape[1], -1, cache.shape[-1])


def split_heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Heads of [B, S, W].

    Queries [B, H, S, D], keys [B, G, D, S] if they are transposed, values [B, G, S, D].
    """
    x, other = groups("input_tensor"), groups("kv_input_tensor")
    heads, pairs = op.get("num_heads"), op.get("num_kv_heads") or op.get("num_heads")
    size = x.shape[-1] // (heads + 2 * pairs if other is None else heads)
    parts = np.concatenate([x, other], axis=-1) if other is not None else x
    cuts = np.split(parts, [heads * size, (heads + pairs) * size], axis=-1)
    q, k, v = (np.swapaxes(one.reshape(*x.shape[:2], -1, size), 1, 2) for one in cuts)
    return [q, np.swapaxes(k, -1, -2) if op.get("transpose_key") else k, v]


def fill_cache(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """First rows of one user, written to a cache.

    [B, H, S, D], [1, H, s, D]. `ttnn` copies tiles of 32 rows: the rest is zero.
    """
    cache, source = given[0].copy(), given[1]
    source = np.pad(source, ((0, 0), (0, 0), (0, -source.shape[2] % 32), (0, 0)))[:, :, : cache.shape[2]]
    cache[op.get("batch_offset"), :, : source.shape[2]] = source[0]
    return [cache]


def update_cache(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """One row of every user, written to a cache.

    [B, H, S, D], [1, H, B, D].
    """
    cache, source, index = given[0].copy(), given[1], int(given[2].reshape(-1)[0])
    first = op.get("batch_offset")
    cache[:, :, index] = np.swapaxes(source[0, :, first : first + cache.shape[0]], 0, 1)
    return [cache]


def paged_fill_cache(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """One user's rows, written to pages.

    [pages, H, block, D], [1, H, s, D]: a page after the other, in whole tiles as above.
    """
    cache, source = given[0].copy(), given[1]
    source = np.pad(source, ((0, 0), (0, 0), (0, -source.shape[2] % 32), (0, 0)))
    batch = groups("batch_idx_tensor")
    pages = groups("page_table").astype(np.int64)[0 if batch is None else int(batch.reshape(-1)[0])]
    block = cache.shape[2]
    for start in range(0, source.shape[2], block):
        rows = source[0, :, start : start + block]
        cache[pages[start // block], :, : rows.shape[1]] = rows
    return [cache]


def paged_update_cache(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """One row per user, written to pages.

    [pages, H, block, D], [1, B, H, D]: each is at a place of its own.
    """
    cache, source = given[0].copy(), given[1]
    places, table = groups("update_index").astype(np.int64).reshape(-1), groups("page_table")
    heads, block = cache.shape[1], cache.shape[2]
    for user, place in enumerate(places):
        page = user if table is None else int(table[user, place // block])
        cache[0 if op.get("share_cache") else page, :, place % block] = source[0, user, :heads]
    return [cache]


def concatenate_heads(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """[B, H, S, D] -> [B, S, H * D]."""
    x = np.swapaxes(given[0], 1, 2)
    return [x.reshape(*x.shape[:2], -1)]


ATTENTION: dict[str, Callable[[TableOp, list[Array], Groups], list[Array]]] = {
    "concatenate_heads": concatenate_heads,
    "fill_cache": fill_cache,
    "chunked_scaled_dot_product_attention": chunked,
    "paged_fill_cache": paged_fill_cache,
    "paged_flash_multi_latent_attention_decode": paged_latent_decode,
    "paged_scaled_dot_product_attention_decode": paged_decode,
    "paged_update_cache": paged_update_cache,
    "scaled_dot_product_attention": attention,
    "scaled_dot_product_attention_decode": decode,
    "split_query_key_value_and_split_heads": split_heads,
    "update_cache": update_cache,
}
#: Operations of 2026-08 without result: their first operand changes.
IN_PLACE = ("fill_cache", "update_cache", "paged_fill_cache", "paged_update_cache")
