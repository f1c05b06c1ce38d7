"""Calls of attention, caches, heads and rotary embeddings in the later versions.

The programs of attention take bfloat16 in tiles; tensors of another data type are converted around the call.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    Calls,
    Handler,
    compute_config,
    finish,
    half,
    half_type,
    in_rows,
    in_tiles,
    mask,
    operand,
    place,
)
from ttnn.compiler.conversion.ttnn_to_calls.rows import row

__all__ = ["ATTENTION"]

_GRID: Final = 8
"""Cores in a row of the smallest chip."""
_HEAD_TO_A_CORE: Final = New(
    "ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.WIDTH_SHARDED"), Name("ttnn.BufferType.L1"))
)


def _scale(table: dict[str, Any]) -> float | None:
    return float(table["scale"]) if table.get("scale") is not None else None


def _result(calls: Calls, made: Ref, table: dict[str, Any], kind: str, *, tiled: bool = True) -> None:
    want = describe(table["out"])
    place(calls, made, Description(want.shape, kind, tiled, DRAM), table["out"]["global_id"], want)


def _latent(calls: Calls, table: dict[str, Any]) -> None:
    """Attention with values from the keys' first columns, or a tensor."""
    value = half(calls, table.get("value"))
    operands: list[Argument] = [half(calls, table[name]) for name in ("query", "key")]
    made = calls.call(
        "ttnn.transformer.flash_mla_prefill",
        *operands,
        int(table["head_dim_v"]) if value is None else value,
        attn_mask=mask(calls, table),
        is_causal=bool(table["is_causal"]),
        scale=_scale(table),
    )
    _result(calls, made, table, half_type(table["query"]))


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
    tables = [half(calls, table[name]) for name in ("cos_cache", "sin_cache", "trans_mat")]
    kind = half_type(table["input"])
    made = calls.call(
        "ttnn.experimental.rotary_embedding_llama",
        half(calls, table["input"]),
        *tables,
        is_decode_mode=bool(table.get("is_decode_mode")),
        memory_config=have.memory if kind == have.data_type else None,
        compute_kernel_config=compute_config(table),
    )
    want = describe(table["out"])
    place(calls, made, Description(want.shape, kind, True, have.memory), table["out"]["global_id"], want)


def _update_cache(calls: Calls, table: dict[str, Any]) -> None:
    """The row is a number argument, read from its tensor."""
    index = in_rows(calls, table["update_index"], "UInt32")
    row = New("ttnn.Tensor.item", (index,))
    source = in_tiles(calls, table["input"])
    offset = int(table["batch_offset"])
    calls.call("ttnn.update_cache", operand(table["cache"]), source, row, batch_offset=offset)


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


_DECODE: Final = (
    "{} =is_causal:bool attn_mask=:mask =cur_pos_tensor?:rows/Int32 =attention_sink?:tiles/half =scale?:float"
)
_DECODED: Final = " =sliding_window_size?:int =program_config?:attention"
_QUERY_KEY_VALUE: Final = "query:tiles/half key:tiles/half value:tiles/half"

#: What each member of the union `OpType` adds.
ATTENTION: Final[dict[str, Handler]] = {
    "ChunkedScaledDotProductAttentionOp": row(
        f"ttnn.transformer.chunked_scaled_dot_product_attention {_QUERY_KEY_VALUE} page_table:rows/Int32 "
        "chunk_start_idx_tensor=chunk_start_idx:rows/Int32 =scale?:float =program_config?:attention",
        placed=False,
    ),
    "ConcatenateHeadsOp": row("ttnn.transformer.concatenate_heads in"),
    "FillCacheOp": row("ttnn.fill_cache cache input:tiles/@cache batch_offset:int", out=""),
    "FlashMlaPrefillOp": _latent,
    "NLPConcatHeadsDecodeOp": _concatenate_heads_decode,
    "NLPConcatHeadsOp": row("ttnn.experimental.nlp_concat_heads in"),
    "NLPCreateQKVHeadsDecodeOp": row(
        "ttnn.experimental.nlp_create_qkv_heads_decode input =num_heads:int =num_kv_heads?:int "
        "=overlap_qk_coregrid? =batch_offset?:rows/UInt32 =slice_size?:int memory_config=q_out:memory",
        out="q_out k_out v_out",
        tiled=True,
    ),
    "PagedFillCacheOp": row(
        "ttnn.experimental.paged_fill_cache cache input:tiles/@cache page_table:rows/Int32 "
        "=batch_idx_tensor?:rows/UInt32",
        out="",
    ),
    "PagedFlashMultiLatentAttentionDecodeOp": row(
        "ttnn.transformer.paged_flash_multi_latent_attention_decode query:tiles/half key:tiles/half value?:tiles/half "
        + _DECODE.format("head_dim_v:int page_table:rows/Int32"),
        placed=False,
    ),
    "PagedScaledDotProductAttentionDecodeOp": row(
        f"ttnn.transformer.paged_scaled_dot_product_attention_decode {_QUERY_KEY_VALUE} "
        + _DECODE.format("page_table:rows/Int32")
        + _DECODED,
        placed=False,
    ),
    "PagedUpdateCacheOp": _paged_update_cache,
    "RotaryEmbeddingLlamaOp": _rotary_llama,
    "RotaryEmbeddingOp": _rotary,
    "ScaledDotProductAttentionDecodeOp": row(
        f"ttnn.transformer.scaled_dot_product_attention_decode {_DECODE.format(_QUERY_KEY_VALUE)}{_DECODED}",
        placed=False,
    ),
    "ScaledDotProductAttentionOp": row(
        f"ttnn.transformer.scaled_dot_product_attention {_QUERY_KEY_VALUE} attn_mask=:mask =is_causal:bool "
        "=scale?:float =sliding_window_size?:int =attention_sink?:tiles/half",
        placed=False,
    ),
    "SplitQueryKeyValueAndSplitHeadsOp": row(
        "ttnn.transformer.split_query_key_value_and_split_heads in kv_input? =num_heads:int =num_kv_heads?:int "
        "=transpose_key:bool",
        out="q_out k_out v_out",
        tiled=True,
        placed=False,
    ),
    "UpdateCacheOp": _update_cache,
}
