"""Reference functions of attention and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttnn.golden.normalization import scale_mask_softmax

Values = NDArray[np.float64]
_TILE = 32


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
    """Return concatenated heads."""
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
    """Return x * cos + rotated * sin.

    Rotated has the halves of the columns swapped and the first half negated.
    """
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
    """Return x * cos + rotated * sin.

    Rotated is the product of every 32 columns with a matrix.

    Of several matrices below each other, every user of decoding has its own.
    """
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    matrix: NDArray[np.float64] = np.asarray(trans_mat, np.float64).reshape(-1, 1, 32, 32)
    matrix = matrix[: values.shape[1]] if is_decode_mode and len(matrix) > 1 else matrix[0, 0]
    groups = values.reshape(*values.shape[:-1], values.shape[-1] // 32, 32)
    return _rotary(values, (groups @ matrix).reshape(values.shape), cos, sin, 0 if is_decode_mode else None)


def rotary_embedding_llama_fused_qk(
    q: ArrayLike, k: ArrayLike, cos: ArrayLike, sin: ArrayLike, trans_mat: ArrayLike, **_: object
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `rotary_embedding_llama` in decode mode of queries and of keys.

    Of twice as many tables or matrices as users, the first half is that of queries.
    """
    users = np.asarray(q).shape[1]
    cosines, sines = np.asarray(cos, np.float64), np.asarray(sin, np.float64)
    matrices: NDArray[np.float64] = np.asarray(trans_mat, np.float64).reshape(-1, 32, 32)

    def turned(x: ArrayLike, number: int) -> NDArray[np.float64]:
        part = slice(number * users, (number + 1) * users)
        halves = cosines.shape[1] == 2 * users
        own = matrices[part] if len(matrices) == 2 * users else matrices
        tables = (cosines[:, part], sines[:, part]) if halves else (cosines, sines)
        return rotary_embedding_llama(x, tables[0], tables[1], own, is_decode_mode=True)

    return turned(q, 0), turned(k, 1)


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
    """Return query, key and value heads of [B, 1, S, W].

    Keys are transposed if requested.
    """
    return split_query_key_value_and_split_heads(
        np.asarray(x, np.float64)[:, 0],
        None if input_kv is None else np.asarray(input_kv, np.float64)[:, 0],
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        transpose_key=transpose_k_heads,
    )


def nlp_create_heads_of_shards(
    x: ArrayLike, input_kv: ArrayLike | None = None, *, num_heads: int, num_kv_heads: int | None = None, **_: object
) -> tuple[Values, Values, Values]:
    """Return query, key and value heads of grouped columns.

    Of [B, 1, S, W], whose columns are groups of them.
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    values = np.asarray(x, np.float64)[:, 0]
    others = values if input_kv is None else np.asarray(input_kv, np.float64)[:, 0]

    def parts(given: Values, count: int) -> Values:
        return given.reshape(*given.shape[:2], groups, count, -1)

    def heads(given: Values) -> Values:
        result: Values = given.reshape(*given.shape[:2], -1, given.shape[-1]).swapaxes(1, 2)
        return result

    each = num_heads // groups
    queries = parts(values, each if input_kv is not None else each + 2)[..., :each, :]
    keys_and_values = parts(others, 2 if input_kv is not None else each + 2)[..., -2:, :]
    return heads(queries), heads(keys_and_values[..., 0, :]), heads(keys_and_values[..., 1, :])


def nlp_create_qkv_heads_falcon7b(x: ArrayLike, **_: object) -> tuple[Values, Values, Values]:
    """Return 71 heads of queries, and one of keys and of values."""
    return nlp_create_qkv_heads(x, num_heads=71, num_kv_heads=1, transpose_k_heads=False)


def nlp_create_qkv_heads_vit(x: ArrayLike, **_: object) -> tuple[Values, Values, Values]:
    """Return 12 heads of queries, keys and values."""
    return nlp_create_qkv_heads(x, num_heads=12, transpose_k_heads=False)


def experimental_split_heads(
    x: ArrayLike, _grid: object = None, *, num_heads: int = 16, **_: object
) -> tuple[Values, Values, Values]:
    """Return the heads of queries, transposed keys and values."""
    return nlp_create_qkv_heads(x, num_heads=num_heads)


def nlp_create_qkv_heads_decode(
    x: ArrayLike,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    batch_offset: ArrayLike | None = None,
    slice_size: int | None = None,
    **_: object,
) -> tuple[Values, Values, Values]:
    """Return every user's heads of [1, 1, B, W].

    As [1, B, heads, D].
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    rows = np.asarray(x, np.float64)[0, 0]
    if batch_offset is not None and slice_size is not None:
        first = int(np.asarray(batch_offset).reshape(-1)[0])
        rows = rows[first : first + slice_size]
    heads = rows.reshape(1, rows.shape[0], num_heads + 2 * groups, -1)
    return heads[:, :, :num_heads], heads[:, :, num_heads : num_heads + groups], heads[:, :, num_heads + groups :]


def nlp_concat_heads_decode(x: ArrayLike, *, num_heads: int, **_: object) -> Values:
    """Return every user's first heads side by side, in 32 rows."""
    values: Values = np.asarray(x, np.float64)[0, :, :num_heads]
    result: Values = np.zeros((1, 1, 32, num_heads * values.shape[2]))
    result[0, 0, : values.shape[0]] = values.reshape(values.shape[0], -1)
    return result


def nlp_kv_cache_load_slice(x: ArrayLike, *, seq_len_start: int, seq_len_end: int, **_: object) -> Values:
    """Return rows of every head."""
    result: Values = np.asarray(x, np.float64)[:, :, seq_len_start:seq_len_end]
    return result


def nlp_concat_heads(x: ArrayLike, *_args: object, **_: object) -> NDArray[np.float64]:
    """Return heads side by side, with a leading row dimension 1."""
    return concatenate_heads(x)[:, None]


def _attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float | None, hidden: Any = None, mask: ArrayLike | None = None
) -> Values:
    """Return softmax(scale * (q @ k.T + mask)) @ v; hidden scores do not count."""
    queries: Values = np.asarray(q, np.float64)
    group = queries.shape[1] // np.shape(k)[1]
    keys: Values = np.repeat(np.asarray(k, np.float64), group, axis=1)
    values: Values = np.repeat(np.asarray(v, np.float64), group, axis=1)
    scores: Values = queries @ keys.swapaxes(-1, -2)
    if mask is not None:
        # The program adds the mask before it scales.
        scores = scores + np.asarray(mask, np.float64)
    scores = scores * (queries.shape[-1] ** -0.5 if scale is None else scale)
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Values = exponentials / exponentials.sum(axis=-1, keepdims=True) @ values
    return result


def _hidden(rows: int, columns: int, first: int, window: int | None) -> NDArray[np.bool_]:
    query, key = np.arange(first, first + rows)[:, None], np.arange(columns)[None, :]
    hidden: NDArray[np.bool_] = key > query
    return hidden if window is None else hidden | (key + window <= query)


def _seen(blocks: ArrayLike, width: int, geometry: Any) -> Values:
    """Return cache blocks with the same tiles in another shape.

    Args:
        blocks: [blocks, heads, rows, columns].
        width: Columns of the call.
        geometry: Its rows and heads, or None.
    """
    values: Values = np.asarray(blocks, np.float64)
    if geometry is None:
        return values
    count, heads, rows, columns = values.shape
    sizes = count, heads, rows // _TILE, _TILE, columns // _TILE, _TILE
    tiles = values.reshape(sizes).swapaxes(3, 4)
    heads, rows = geometry.num_kv_heads, geometry.block_size
    seen = tiles.reshape(count, heads, rows // _TILE, width // _TILE, _TILE, _TILE)
    result: Values = seen.swapaxes(3, 4).reshape(count, heads, rows, width)
    return result


def _sequence(cache: ArrayLike, table: ArrayLike) -> Values:
    """Return cache blocks as sequences.

    [blocks, G, rows, D] -> [B, G, T, D].
    """
    blocks: Values = np.asarray(cache, np.float64)[np.asarray(table).astype(np.int64)]
    return np.concatenate(list(blocks.swapaxes(0, 1)), axis=-2)


def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = True,
    scale: float | None = None,
    sliding_window_size: int | None = None,
    output_concat_heads: bool = False,
    **_: object,
) -> Values:
    """Return the attention of queries, by head or heads side by side."""
    rows, columns = np.shape(q)[2], np.shape(k)[2]
    hidden = _hidden(rows, columns, 0, sliding_window_size) if is_causal else None
    # The mask is divided by the scale before it meets the scores.
    factor = np.shape(q)[-1] ** -0.5 if scale is None else scale
    mask = None if attn_mask is None else np.asarray(attn_mask, np.float64) / (factor or 1.0)
    result = _attention(q, k, v, scale, hidden, mask)
    return nlp_concat_heads(result) if output_concat_heads else result


def joint_scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    joint_q: ArrayLike,
    joint_k: ArrayLike,
    joint_v: ArrayLike,
    *,
    scale: float | None = None,
    **_: object,
) -> tuple[Values, Values]:
    """Return attention of two sequences over both's keys and values."""
    queries, keys, values = (np.concatenate(pair, axis=2) for pair in ((q, joint_q), (k, joint_k), (v, joint_v)))
    result = _attention(queries, keys, values, scale)
    first, second = np.split(result, [np.shape(q)[2]], axis=2)
    return first, second


def chunked_scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    page_table: ArrayLike,
    chunk_start_idx: int = 0,
    *,
    scale: float | None = None,
    sliding_window_size: int | None = None,
    paged_cache_geometry: Any = None,
    **_: object,
) -> Values:
    """Return causal attention over blocks, from a query position on.

    Keys and values are in blocks.
    """
    width = np.shape(q)[-1]
    keys, values = (_sequence(_seen(blocks, width, paged_cache_geometry), page_table) for blocks in (k, v))
    hidden = _hidden(np.shape(q)[2], keys.shape[2], chunk_start_idx, sliding_window_size)
    return _attention(q, keys, values, scale, hidden)


def flash_mla_prefill(q: ArrayLike, k: ArrayLike, v: Any, **options: Any) -> Values:
    """Return attention with values from keys' first columns, or given."""
    values = np.asarray(k, np.float64)[..., :v] if isinstance(v, int) else v
    return scaled_dot_product_attention(q, k, values, **options)


def chunked_flash_mla_prefill(
    q: ArrayLike, k: ArrayLike, head_dim_v: int, page_table: ArrayLike, chunk_start_idx: int, **options: Any
) -> Values:
    """Return causal attention with values from blocked keys' first columns."""
    values = np.asarray(k, np.float64)[..., :head_dim_v]
    return chunked_scaled_dot_product_attention(q, k, values, page_table, chunk_start_idx, **options)


def scaled_dot_product_attention_decode(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    is_causal: bool = True,
    attn_mask: ArrayLike | None = None,
    cur_pos: Sequence[int] = (),
    cur_pos_tensor: ArrayLike | None = None,
    scale: float | None = None,
    sliding_window_size: int | None = None,
    **_: object,
) -> Values:
    """Return the attention of one query per user, [1, B, H, D]."""
    queries: Values = np.asarray(q, np.float64)[0][:, :, None]
    batch, columns = queries.shape[0], np.shape(k)[2]
    positions = np.asarray(cur_pos if cur_pos_tensor is None else cur_pos_tensor, np.int64).reshape(-1)
    hidden = None
    if is_causal:
        rows = [_hidden(1, columns, int(position), sliding_window_size) for position in positions]
        hidden = np.stack(rows).reshape(batch, 1, 1, columns)
    mask = None if attn_mask is None else np.asarray(attn_mask, np.float64).swapaxes(1, 2)
    result: Values = _attention(queries, k, v, scale, hidden, mask)[:, :, 0][None]
    return result


def paged_scaled_dot_product_attention_decode(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, page_table: ArrayLike, *, paged_cache_geometry: Any = None, **options: Any
) -> Values:
    """Return the attention of one query per user over blocks."""
    width = np.shape(q)[-1]
    keys, values = (_sequence(_seen(blocks, width, paged_cache_geometry), page_table) for blocks in (k, v))
    return scaled_dot_product_attention_decode(q, keys, values, **options)


def flash_multi_latent_attention_decode(
    q: ArrayLike, k: ArrayLike, head_dim_v: int, *, input_tensor_v: ArrayLike | None = None, **options: Any
) -> Values:
    """Return one query's attention per user, values given or from keys.

    From keys: their first columns.
    """
    values = np.asarray(k if input_tensor_v is None else input_tensor_v, np.float64)[..., :head_dim_v]
    return scaled_dot_product_attention_decode(q, k, values, **options)


def paged_flash_multi_latent_attention_decode(
    q: ArrayLike,
    k: ArrayLike,
    head_dim_v: int,
    page_table_tensor: ArrayLike,
    *,
    input_tensor_v: ArrayLike | None = None,
    **options: Any,
) -> Values:
    """Return the same over blocks."""
    values = np.asarray(k if input_tensor_v is None else input_tensor_v, np.float64)[..., :head_dim_v]
    return paged_scaled_dot_product_attention_decode(q, k, values, page_table_tensor, **options)


def _in_groups(x: ArrayLike, parts: Sequence[int], groups: int) -> list[Values]:
    """Return heads of grouped columns, [B, 1, S, W].

    Groups have so many heads of every kind.
    """
    values: Values = np.asarray(x, np.float64)[:, 0]
    batch, rows, width = values.shape
    size = width // (sum(parts) * groups)
    heads = values.reshape(batch, rows, groups, sum(parts), size).transpose(0, 2, 3, 1, 4)
    ends = np.cumsum(parts)
    return [
        heads[:, :, end - part : end].reshape(batch, groups * part, rows, size)
        for part, end in zip(parts, ends, strict=True)
    ]


def create_qkv_heads(
    x: ArrayLike, *, num_heads: int, num_kv_heads: int | None = None, transpose_k_heads: bool = True, **_: object
) -> tuple[Values, Values, Values]:
    """Return query, key and value heads, columns grouped by key head."""
    groups = num_heads if num_kv_heads is None else num_kv_heads
    query, key, value = _in_groups(x, (num_heads // groups, 1, 1), groups)
    return query, key.swapaxes(-1, -2) if transpose_k_heads else key, value


def split_heads_of_blocks(
    x: ArrayLike, *, num_heads: int, num_kv_heads: int | None = None, transpose_key: bool = True, **_: object
) -> tuple[Values, Values, Values]:
    """Return what `create_qkv_heads` returns, for a projection [B, S, W]."""
    values: Values = np.asarray(x, np.float64)[:, None]
    return create_qkv_heads(values, num_heads=num_heads, num_kv_heads=num_kv_heads, transpose_k_heads=transpose_key)


def experimental_split_heads_of_blocks(
    x: ArrayLike, _grid: object = None, *, num_heads: int = 16, **_: object
) -> tuple[Values, Values, Values]:
    """Return query, transposed key and value heads of paired groups.

    The columns are in groups of two of each.
    """
    query, key, value = _in_groups(x, (2, 2, 2), num_heads // 2)
    return query, key.swapaxes(-1, -2), value


def create_qkv_heads_from_separate_tensors(
    x: ArrayLike,
    input_kv: ArrayLike,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_k_heads: bool = True,
    **_: object,
) -> tuple[Values, Values, Values]:
    """Return query heads, and heads of paired keys and values.

    The columns of keys and values are in pairs.
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    (query,) = _in_groups(x, (1,), num_heads)
    key, value = _in_groups(input_kv, (1, 1), groups)
    return query, key.swapaxes(-1, -2) if transpose_k_heads else key, value


def nlp_create_qkv_heads_boltz(
    x: ArrayLike,
    input_kv: ArrayLike | None = None,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_k_heads: bool = True,
    **_: object,
) -> tuple[Values, Values, Values]:
    """Return token pair heads, [H, S, S, D].

    Transposed keys are [H, D, S * S] in the order of its tiles.
    """
    groups = num_heads if num_kv_heads is None else num_kv_heads
    values: Values = np.asarray(x, np.float64)[0]
    if input_kv is not None:
        values = np.concatenate([values, np.asarray(input_kv, np.float64)[0]], axis=-1)
    tokens = values.shape[0]
    heads = values.reshape(tokens, tokens, num_heads + 2 * groups, -1).transpose(2, 0, 1, 3)
    query, key, value = np.split(heads, [num_heads, num_heads + groups])
    if transpose_k_heads:
        size = key.shape[-1]
        tiles = key.reshape(groups, tokens * tokens // 32, 32, size // 32, 32).transpose(0, 3, 1, 4, 2)
        grid = tiles.reshape(groups, size, tokens // 32, tokens // 32, 32, 32)
        key = grid.swapaxes(3, 4).reshape(groups, size, tokens, tokens)
    return query, key, value


def nlp_concat_heads_boltz(x: ArrayLike, **_: object) -> Values:
    """Return concatenated token pair heads.

    [H, S, S, D] -> [1, S, S, H * D].
    """
    values: Values = np.asarray(x, np.float64)
    heads, tokens, _others, size = values.shape
    result: Values = values.transpose(1, 2, 0, 3).reshape(1, tokens, tokens, heads * size)
    return result


def nlp_create_q_heads_split(
    x: ArrayLike, *, num_heads: int, split_head_dim: int, **_: object
) -> tuple[Values, Values]:
    """Return the first columns of every head, and the others."""
    (heads,) = _in_groups(x, (1,), num_heads)
    return heads[..., :split_head_dim], heads[..., split_head_dim:]


def nlp_create_qkv_heads_segformer(x: ArrayLike, **_: object) -> tuple[Values, Values, Values]:
    """Return 32-column heads in full tiles, zeros for keys and values."""
    values = np.asarray(x, np.float64)
    padded = np.pad(values, ((0, 0), (0, 0), (0, -values.shape[2] % 32), (0, 0)))
    (heads,) = _in_groups(padded, (1,), padded.shape[-1] // 32)
    return heads, np.zeros_like(heads), np.zeros_like(heads)
