"""Calls of attention, caches, heads and rotary embeddings in the later versions.

The programs of attention take bfloat16 in tiles; tensors of another data type are converted around the call.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.configurations import attention_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    compute_config,
    finish,
    in_rows,
    in_tiles,
    operand,
    row,
    several,
)
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, Handler, place

__all__ = ["ATTENTION"]

_HALVES: Final = ("BFloat16", "BFP_BFloat8", "BFP_BFloat4")
_GRID: Final = 8
"""Cores in a row of the smallest chip."""
_HEAD_TO_A_CORE: Final = New(
    "ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.WIDTH_SHARDED"), Name("ttnn.BufferType.L1"))
)


def _half(calls: Calls, reference: dict[str, Any] | None) -> Ref | None:
    """Return an operand in tiles of an attention type, or `None`."""
    if reference is None:
        return None
    have = describe(reference)
    return in_tiles(calls, reference, have.data_type if have.data_type in _HALVES else "BFloat16")


def _mask(calls: Calls, table: dict[str, Any]) -> Ref | None:
    """Return the mask with a row per query.

    The programs repeat none.
    """
    reference, rows = table.get("attention_mask"), describe(table["query"]).shape[2]
    mask = _half(calls, reference)
    if mask is None or reference is None or describe(reference).shape[2] != 1 or rows == 1:
        return mask
    return calls.call("ttnn.repeat", mask, [1, 1, rows, 1])


def _kind(reference: dict[str, Any]) -> str:
    have = describe(reference)
    return have.data_type if have.data_type in _HALVES else "BFloat16"


def _scale(table: dict[str, Any]) -> float | None:
    return float(table["scale"]) if table.get("scale") is not None else None


def _result(calls: Calls, made: Ref, table: dict[str, Any], kind: str, *, tiled: bool = True) -> None:
    want = describe(table["out"])
    place(calls, made, Description(want.shape, kind, tiled, DRAM), table["out"]["global_id"], want)


def _attention(calls: Calls, table: dict[str, Any]) -> None:
    operands = [_half(calls, table[name]) for name in ("query", "key", "value")]
    window = table.get("sliding_window_size")
    made = calls.call(
        "ttnn.transformer.scaled_dot_product_attention",
        *operands,
        attn_mask=_mask(calls, table),
        is_causal=bool(table["is_causal"]),
        scale=_scale(table),
        sliding_window_size=None if window is None else int(window),
        attention_sink=_half(calls, table.get("attention_sink")),
    )
    _result(calls, made, table, _kind(table["query"]))


def _latent(calls: Calls, table: dict[str, Any]) -> None:
    """Attention with values from the keys' first columns, or a tensor."""
    value = _half(calls, table.get("value"))
    operands: list[Argument] = [_half(calls, table[name]) for name in ("query", "key")]
    made = calls.call(
        "ttnn.transformer.flash_mla_prefill",
        *operands,
        int(table["head_dim_v"]) if value is None else value,
        attn_mask=_mask(calls, table),
        is_causal=bool(table["is_causal"]),
        scale=_scale(table),
    )
    _result(calls, made, table, _kind(table["query"]))


def _decode(function: str, *tables: str) -> Handler:
    """Attention of one new token per user.

    Positions are integers in rows, as are the pages of a table.
    """

    def add(calls: Calls, table: dict[str, Any]) -> None:
        operands: list[Argument] = [_half(calls, table[name]) for name in ("query", "key", "value")]
        operands += [in_rows(calls, table[name], "Int32") for name in tables]
        place_of = table.get("cur_pos_tensor")
        window = table.get("sliding_window_size")
        made = calls.call(
            function,
            *operands,
            is_causal=bool(table["is_causal"]),
            attn_mask=_mask(calls, table),
            cur_pos_tensor=None if place_of is None else in_rows(calls, place_of, "Int32"),
            attention_sink=_half(calls, table.get("attention_sink")),
            scale=_scale(table),
            sliding_window_size=None if window is None else int(window),
            program_config=attention_config(table.get("program_config")),
        )
        _result(calls, made, table, _kind(table["query"]))

    return add


def _latent_decode(calls: Calls, table: dict[str, Any]) -> None:
    """Attention of one new token per user, with multi-latent values.

    The values are the first columns of the keys, or a tensor.
    """
    place_of = table.get("cur_pos_tensor")
    made = calls.call(
        "ttnn.transformer.paged_flash_multi_latent_attention_decode",
        _half(calls, table["query"]),
        _half(calls, table["key"]),
        _half(calls, table.get("value")),
        int(table["head_dim_v"]),
        in_rows(calls, table["page_table"], "Int32"),
        is_causal=bool(table["is_causal"]),
        attn_mask=_mask(calls, table),
        cur_pos_tensor=None if place_of is None else in_rows(calls, place_of, "Int32"),
        attention_sink=_half(calls, table.get("attention_sink")),
        scale=_scale(table),
    )
    _result(calls, made, table, _kind(table["query"]))


def _chunked(calls: Calls, table: dict[str, Any]) -> None:
    operands: list[Argument] = [_half(calls, table[name]) for name in ("query", "key", "value")]
    pages = in_rows(calls, table["page_table"], "Int32")
    start = in_rows(calls, table["chunk_start_idx"], "Int32")
    made = calls.call(
        "ttnn.transformer.chunked_scaled_dot_product_attention",
        *operands,
        pages,
        chunk_start_idx_tensor=start,
        scale=_scale(table),
        program_config=attention_config(table.get("program_config")),
    )
    _result(calls, made, table, _kind(table["query"]))


def _split_heads(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["in"])
    outs = [table[name] for name in ("q_out", "k_out", "v_out")]
    made = [Description(describe(out).shape, have.data_type, True, DRAM) for out in outs]
    count = table.get("num_kv_heads")
    options: dict[str, Argument] = {
        "num_heads": int(table["num_heads"]),
        "num_kv_heads": None if count is None else int(count),
        "transpose_key": bool(table["transpose_key"]),
    }
    operands = [operand(table["in"]), operand(table.get("kv_input"))]
    function = "ttnn.transformer.split_query_key_value_and_split_heads"
    several(calls, function, [one for one in operands if one is not None], options, outs, made)


def _create_heads_decode(calls: Calls, table: dict[str, Any]) -> None:
    """Heads of one new token per user, one user per core."""
    have, outs = describe(table["input"]), [table[name] for name in ("q_out", "k_out", "v_out")]
    wants = [describe(out) for out in outs]
    count, overlap = table.get("num_kv_heads"), table.get("overlap_qk_coregrid")
    first, size = table.get("batch_offset"), table.get("slice_size")
    options: dict[str, Argument] = {
        "num_heads": int(table["num_heads"]),
        "num_kv_heads": None if count is None else int(count),
        "overlap_qk_coregrid": None if overlap is None else bool(overlap),
        "batch_offset": None if first is None else in_rows(calls, first, "UInt32"),
        "slice_size": None if size is None else int(size),
        "memory_config": wants[0].memory,
    }
    made = [Description(want.shape, have.data_type, True, want.memory) for want in wants]
    operands: list[Argument] = [operand(table["input"])]
    several(calls, "ttnn.experimental.nlp_create_qkv_heads_decode", operands, options, outs, made)


def _concatenate_heads_decode(calls: Calls, table: dict[str, Any]) -> None:
    """The function moves users' cores to heads' cores.

    Of 32 rows the first are users.
    """
    have, want, number = describe(table["in"]), describe(table["out"]), int(table["num_heads"])
    shape = (*want.shape[:2], 32, want.shape[3])
    source: Argument = operand(table["in"])
    if have.shape[0] == 1 and (have.memory is None or len(have.memory.arguments) < 3):
        source = calls.call("ttnn.to_memory_config", source, _user_to_a_core(have.shape))
    if want.memory is not None and len(want.memory.arguments) == 3 and want.shape == shape:
        finish(calls, table, "ttnn.experimental.nlp_concat_heads_decode", have, source, num_heads=number)
        return
    made = calls.call(
        "ttnn.experimental.nlp_concat_heads_decode",
        source,
        num_heads=number,
        memory_config=_HEAD_TO_A_CORE,
    )
    result = Description(shape, have.data_type, True, _HEAD_TO_A_CORE)
    if want.shape != shape:
        made = calls.call("ttnn.to_memory_config", made, DRAM)
        made = calls.call("ttnn.slice", made, [0] * 4, list(want.shape), [1] * 4)
        result = Description(want.shape, have.data_type, True, DRAM)
    place(calls, made, result, table["out"]["global_id"], want)


def _rotary(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["input"])
    tables = [in_tiles(calls, table[name], have.data_type) for name in ("cos_cache", "sin_cache")]
    index = table.get("token_index")
    made = calls.call(
        "ttnn.experimental.rotary_embedding",
        in_tiles(calls, table["input"]),
        *tables,
        *([] if index is None else [int(index)]),
        memory_config=DRAM,
        compute_kernel_config=compute_config(table),
    )
    want = describe(table["out"])
    if want.shape[-2] % 32:
        # The program fills whole tiles.
        made = calls.call("ttnn.slice", made, [0] * len(want.shape), list(want.shape), [1] * len(want.shape))
    _result(calls, made, table, have.data_type)


def _rotary_llama(calls: Calls, table: dict[str, Any]) -> None:
    have = describe(table["input"])
    tables = [_half(calls, table[name]) for name in ("cos_cache", "sin_cache", "trans_mat")]
    kind = _kind(table["input"])
    made = calls.call(
        "ttnn.experimental.rotary_embedding_llama",
        _half(calls, table["input"]),
        *tables,
        is_decode_mode=bool(table.get("is_decode_mode")),
        memory_config=have.memory if kind == have.data_type else None,
        compute_kernel_config=compute_config(table),
    )
    want = describe(table["out"])
    place(calls, made, Description(want.shape, kind, True, have.memory), table["out"]["global_id"], want)


def _fill_cache(calls: Calls, table: dict[str, Any]) -> None:
    cache = describe(table["cache"])
    source = in_tiles(calls, table["input"], cache.data_type)
    calls.call("ttnn.fill_cache", operand(table["cache"]), source, int(table["batch_offset"]))


def _update_cache(calls: Calls, table: dict[str, Any]) -> None:
    """The row is a number argument, read from its tensor."""
    index = in_rows(calls, table["update_index"], "UInt32")
    row = New("ttnn.Tensor.item", (index,))
    source = in_tiles(calls, table["input"])
    offset = int(table["batch_offset"])
    calls.call("ttnn.update_cache", operand(table["cache"]), source, row, batch_offset=offset)


def _paged_fill_cache(calls: Calls, table: dict[str, Any]) -> None:
    cache = describe(table["cache"])
    batch = table.get("batch_idx_tensor")
    calls.call(
        "ttnn.experimental.paged_fill_cache",
        operand(table["cache"]),
        in_tiles(calls, table["input"], cache.data_type),
        in_rows(calls, table["page_table"], "Int32"),
        batch_idx_tensor=None if batch is None else in_rows(calls, batch, "UInt32"),
    )


def _paged_update_cache(calls: Calls, table: dict[str, Any]) -> None:
    """The program has each user's rows on one core."""
    have = describe(table["input"])
    kind = have.data_type if have.data_type in ("BFloat16", "Float32") else "BFloat16"
    source = in_tiles(calls, table["input"], kind)
    if have.memory is None or len(have.memory.arguments) < 3:
        source = calls.call("ttnn.to_memory_config", source, _user_to_a_core(have.shape))
    pages = table.get("page_table")
    calls.call(
        "ttnn.experimental.paged_update_cache",
        operand(table["cache"]),
        source,
        update_idxs_tensor=in_rows(calls, table["update_index"], "Int32"),
        share_cache=bool(table.get("share_cache")) if pages is None else None,
        page_table=None if pages is None else in_rows(calls, pages, "Int32"),
    )


def _user_to_a_core(shape: tuple[int, ...]) -> New:
    """Memory of [1, users, heads, width], one user per core.

    The tiles of a user are on its core, cores row by row.
    """
    users, height = shape[1], -(-shape[2] // 32) * 32
    full, rest = divmod(users, _GRID)
    corners = [((0, 0), (_GRID - 1, full - 1))] if full else []
    corners += [((0, full), (rest - 1, full))] if rest else []
    ranges = [
        New("ttnn.CoreRange", (New("ttnn.CoreCoord", first), New("ttnn.CoreCoord", last))) for first, last in corners
    ]
    spec = New(
        "ttnn.ShardSpec",
        (New("ttnn.CoreRangeSet", (ranges,)), [height, shape[3]], Name("ttnn.ShardOrientation.ROW_MAJOR")),
    )
    layout, buffer = Name("ttnn.TensorMemoryLayout.HEIGHT_SHARDED"), Name("ttnn.BufferType.L1")
    return New("ttnn.MemoryConfig", (layout, buffer, spec))


#: What each member of the union `OpType` adds.
ATTENTION: Final[dict[str, Handler]] = {
    "ChunkedScaledDotProductAttentionOp": _chunked,
    "ConcatenateHeadsOp": row("ttnn.transformer.concatenate_heads in"),
    "FillCacheOp": _fill_cache,
    "FlashMlaPrefillOp": _latent,
    "NLPConcatHeadsDecodeOp": _concatenate_heads_decode,
    "NLPConcatHeadsOp": row("ttnn.experimental.nlp_concat_heads in"),
    "NLPCreateQKVHeadsDecodeOp": _create_heads_decode,
    "PagedFillCacheOp": _paged_fill_cache,
    "PagedFlashMultiLatentAttentionDecodeOp": _latent_decode,
    "PagedScaledDotProductAttentionDecodeOp": _decode(
        "ttnn.transformer.paged_scaled_dot_product_attention_decode", "page_table"
    ),
    "PagedUpdateCacheOp": _paged_update_cache,
    "RotaryEmbeddingLlamaOp": _rotary_llama,
    "RotaryEmbeddingOp": _rotary,
    "ScaledDotProductAttentionDecodeOp": _decode("ttnn.transformer.scaled_dot_product_attention_decode"),
    "ScaledDotProductAttentionOp": _attention,
    "SplitQueryKeyValueAndSplitHeadsOp": _split_heads,
    "UpdateCacheOp": _update_cache,
}
