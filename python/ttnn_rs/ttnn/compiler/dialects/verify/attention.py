"""Rules of attention, rotary embeddings, caches of keys and values, and sampling.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTNN/IR/TTNNOps.cpp` and
`lib/Dialect/TTIR/IR/TTIROps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    element_text,
    is_float,
    is_integer,
    layout_of,
    list_text,
    need,
    need_rank,
    shape_of,
    tuple_text,
)
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ATTENTION"]

_TILE: Final = 32


def _values(op: TableOp, *names: str) -> list[SSAValue]:
    """Return operands that are always there."""
    return [op.group(name)[0] for name in names]


def _chunked(op: TableOp) -> None:
    query, key, value, table, start = _values(op, "query", "key", "value", "page_table", "chunk_start_idx")
    need_rank(query, 4, "Query must be a 4D tensor.")
    need(len(shape_of(key)) == len(shape_of(value)) == 4, "Key and value must be 4D tensors.")
    need_rank(table, 2, "Page table must be a 2D tensor.")
    need_rank(start, 1, "Chunk start index must be a 1D tensor.")
    need(
        shape_of(start)[0] == 1,
        "Chunk start index must have shape [1] (a single prefix offset shared by all users).",
    )
    need(all(map(is_float, (query, key, value))), "Query, key, and value must be float tensors.")
    need(is_integer(table), "Page table must be an integer tensor.")
    need(is_integer(start), "Chunk start index must be an integer tensor.")
    need(key.type == value.type, "Key and value must have the same shape and data type.")
    users, heads, _, size = shape_of(query)
    _, pairs, block, key_size = shape_of(key)
    need(size == key_size, "Query head size must match key/value head size.")
    need(pairs != 0 and heads % pairs == 0, "Query num heads must be divisible by key/value num heads.")
    need(block % _TILE == 0, "Key/value block size must be divisible by 32.")
    need(shape_of(table)[0] == users, "Page table number of users must match query number of users.")
    need(shape_of(op.results[0]) == shape_of(query), "Result shape must match query shape.")


def _paged_latent(op: TableOp) -> None:
    query, key, table = _values(op, "query", "key", "page_table")
    need_rank(query, 4, "Query must be a 4D tensor.")
    need_rank(key, 4, "Key tensor must be a 4D tensor.")
    need_rank(table, 2, "Page table tensor must be a 2D tensor.")
    need(is_float(query), "Query must be a float tensor.")
    need(element_text(query) == element_text(key), "Query and key must have the same element type.")
    need(is_integer(table), "Page table must be an integer tensor.")
    need(shape_of(key)[1] == 1, f"Key num KV heads (nkv) must be 1, got {shape_of(key)[1]}.")
    value = op.operand("value")
    if value is not None:
        need_rank(value, 4, "Value tensor must be a 4D tensor.")
        need(element_text(query) == element_text(value), "Query and value must have the same element type.")
        need(shape_of(value)[1] == 1, f"Value num KV heads (nkv) must be 1, got {shape_of(value)[1]}.")
    need(op.get("head_dim_v") != 0, "head_dim_v must be greater than 0.")


def _mask(op: TableOp, batch: int, heads: int, rows: int, columns: int) -> None:
    mask = op.operand("attention_mask")
    if mask is None:
        return
    need(not op.get("is_causal"), "Attention mask is not allowed when is_causal is true")
    need_rank(mask, 4, "Attention mask must be a 4D tensor")
    shape = shape_of(mask)
    need(shape[0] in (1, batch), "Attention mask batch size must be 1 (broadcast) or match query batch size")
    need(shape[1] in (1, heads), "Attention mask dim 1 must be 1 (broadcast) or match query num heads")
    need(shape[2] == rows, "Attention mask at dim 2 must match query sequence length")
    need(shape[3] == columns, "Attention mask at dim 3 must match key sequence length")


def _latent_prefill(op: TableOp) -> None:
    query, key = _values(op, "query", "key")
    result = op.results[0]
    need_rank(query, 4, "Query must be a 4D tensor")
    need_rank(key, 4, "Key must be a 4D tensor")
    need_rank(result, 4, "Result must be a 4D tensor")
    kind = element_text(query)
    need(kind == element_text(result), "Query and result must have the same element type")
    need(kind == element_text(key), "Query and key must have the same element type")
    batch, heads, length, size = shape_of(query)
    key_batch, key_heads, key_length, key_size = shape_of(key)
    wanted = op.get("head_dim_v")
    need(key_batch == batch, "Key batch size must match query batch size")
    need(key_size == size, "Key head size must match query head size")
    need(key_length == length, "Query and key must have the same sequence length")
    need(key_heads != 0 and heads % key_heads == 0, "Query num heads must be divisible by key num heads (GQA/MQA/MLA)")
    value = op.operand("value")
    if value is not None:
        need_rank(value, 4, "Value must be a 4D tensor")
        need(kind == element_text(value), "Query and value must have the same element type")
        shape = shape_of(value)
        need(shape[0] == batch, "Value batch size must match query batch size")
        need(shape[1] == key_heads, "Value num heads must match key num heads")
        need(shape[2] == length, "Value sequence length must match query/key sequence length")
        need(shape[3] == wanted, "Value head size must equal head_dim_v")
    else:
        need(wanted <= size, "head_dim_v cannot exceed key's head dim when value is not provided")
    need(wanted > 0, "head_dim_v must be greater than 0")
    _mask(op, batch, heads, length, length)
    need(
        shape_of(result) == (batch, heads, length, wanted),
        "Result shape must be [batch, num_query_heads, seq_len, head_dim_v]",
    )


def _indexer_score(op: TableOp) -> None:
    query, key, weights = _values(op, "query", "key", "weights")
    result = op.results[0]
    need_rank(query, 4, "Query must be a 4D tensor [B, Hi, Sq, D]")
    need_rank(key, 4, "Key must be a 4D tensor [B, 1, T, D]")
    need_rank(weights, 4, "Weights must be a 4D tensor [B, Hi, Sq, 1]")
    need_rank(result, 4, "Result must be a 4D tensor [B, 1, Sq, T]")
    batch, heads, length, size = shape_of(query)
    key_batch, key_heads, key_length, key_size = shape_of(key)
    need(batch == 1, f"Query batch size (dim 0) must be 1, got {batch}")
    need(key_batch == batch, "Key batch size must match query batch size")
    need(key_heads == 1, "Key must have a single head (dim 1 must be 1)")
    need(key_size == size, "Key head dim must match query head dim")
    need(
        shape_of(weights) == (batch, heads, length, 1),
        "Weights shape must be [batch, num_heads, query_seq_len, 1]",
    )
    need(
        shape_of(result) == (batch, 1, length, key_length),
        "Result shape must be [batch, 1, query_seq_len, key_seq_len]",
    )
    need(element_text(query) == element_text(key), "Query and key must have the same element type")


def _rotary(op: TableOp) -> None:
    cos, sin = _values(op, "cos_cache", "sin_cache")
    need(element_text(cos) == element_text(sin), "cos and sin tensor dtypes must match.")
    need(shape_of(cos) == shape_of(sin), "cos and sin tensor shapes must match.")
    tensors = (op.inputs[0], cos, sin, op.results[0])
    need(all(len(shape_of(one)) == 4 for one in tensors), "all input and output tensors must be 4D tensors.")


def _rotary_llama(op: TableOp) -> None:
    inputs = _values(op, "input", "cos_cache", "sin_cache", "trans_mat")
    image, cos, sin, matrix = inputs
    layouts = [layout for layout in map(layout_of, inputs) if layout is not None]
    need(all(element_text(one) == "bf16" for one in inputs), "all input tensors must be bfloat16 type.")
    need(all(layout.tiled for layout in layouts), "all input tensors must have tiled layout.")
    need(
        all(layout.space != "system_memory" for layout in layouts),
        "all input tensors must be on device.",
    )
    need(shape_of(cos) == shape_of(sin), "cos and sin tensors must have the same shape.")
    size = shape_of(image)[-1]
    need(size <= 256, f"head dimension must be ≤ 256, got {size}.")
    shape = shape_of(matrix)
    need(len(shape) == 4, "transformation matrix must be at least 4D tensor.")
    want = (1, 1, _TILE, _TILE)
    need(
        shape == want,
        f"transformation matrix must have shape {list_text(want)} but got {list_text(shape)}.",
    )
    if op.get("is_decode_mode"):
        need(
            all(layout.mem_layout == "height_sharded" for layout in layouts),
            "in decode mode, all input tensors must have HeightSharded memory layout.",
        )
    need(shape_of(op.results[0]) == shape_of(image), "output shape must match input shape.")


def _heads_decode(op: TableOp) -> None:
    shape, offset, size = shape_of(op.inputs[0]), op.operand("batch_offset"), op.get("slice_size")
    need(len(shape) == 4, "input tensor must be a 4D tensor")
    for word, value in zip(("query", "key", "value"), op.results, strict=True):
        need_rank(value, 4, f"{word} tensor must be a 4D tensor")
    need((offset is None) == (size is None), "both or neither of batch_offset and slice_size must be set")
    if offset is not None:
        count = shape_of(offset)
        need(math.prod(count) == 1, f"batch_offset must be a scalar, got shape {tuple_text(count)}")
    for i in (0, 1):
        need(shape[i] == 1, f"input tensor dimension {i} must be 1, got {shape[i]}")
    heads = op.get("num_heads")
    pairs = heads if op.get("num_kv_heads") is None else op.get("num_kv_heads")
    need(heads > 0 and pairs > 0, f"numbers of heads must be positive, got {heads} and {pairs}")
    batch, width = shape[2] if size is None else size, shape[3] // (heads + 2 * pairs)
    for word, count, value in zip(("query", "key", "value"), (heads, pairs, pairs), op.results, strict=True):
        want, got = (1, batch, count, width), shape_of(value)
        need(got == want, f"expected {word} shape {tuple_text(want)}, got {tuple_text(got)}")


def _paged_fill(op: TableOp) -> None:
    cache, image, table = _values(op, "cache", "input", "page_table")
    need_rank(cache, 4, "Cache tensor must be a 4D tensor")
    need_rank(image, 4, "Input tensor must be a 4D tensor")
    need_rank(table, 2, "Page table tensor must be a 2D tensor")
    need(element_text(cache) == element_text(image), "Cache and input tensors must have the same dtype")
    need(is_float(cache), "Cache tensor must be a floating point type")
    need(is_integer(table), "Page table tensor must be an integer type")
    batch, heads, _, size = shape_of(image)
    index = op.operand("batch_idx_tensor")
    if index is not None:
        need_rank(index, 1, "Batch index tensor must be a 1D tensor")
        count = shape_of(index)[0]
        need(
            batch < 0 or count in (batch, -1),
            f"Batch index tensor must have dim 0 equal to input batch ({batch}), got {count}",
        )
        need(is_integer(index), "Batch index tensor must be an integer type")
    else:
        got = "dynamic" if batch < 0 else batch
        need(batch == 1, f"Input batch must be statically 1 when no batch_idx_tensor is provided, got {got}")
    _, cache_heads, block, cache_size = shape_of(cache)
    need(block % _TILE == 0, f"Block size must be divisible by 32, got {block}")
    need(heads == cache_heads, "Input must have the same number of heads as the cache.")
    need(size == cache_size, "Input must have same head dimension as cache.")


def _sampling(op: TableOp) -> None:
    values, indices = _values(op, "input_values", "input_indices")
    shape, rank = shape_of(values), len(shape_of(values))
    need(rank in (2, 4), "input_values must be 2D [batch, candidates] or 4D [1, 1, batch, candidates]")
    need_rank(indices, rank, "input_indices rank must match input_values rank")
    need(shape_of(indices) == shape, "input_values and input_indices must have the same shape")
    need(rank == 2 or shape[:2] == (1, 1), "rank-4 input_values leading dims must be [1, 1, batch, candidates]")
    batch, wanted = shape[-2], 1 if rank == 2 else 4
    need(1 <= batch <= 32, f"batch ({batch}) must be in [1, 32] (kernel limit)")
    result = shape_of(op.results[0])
    need(
        len(result) == wanted,
        f"result rank ({len(result)}) must match expected rank ({wanted}) for input_values rank {rank}",
    )
    for name in ("k", "p", "temp"):
        one = shape_of(op.group(name)[0])
        need(len(one) == 1, f"{name} must be 1D [batch]")
        need(one[0] == batch, f"{name} batch dimension ({one[0]}) must match input_values batch ({batch})")
    text = "batch" if wanted == 1 else "1, 1, 1, batch"
    need(result == (*(1,) * (wanted - 1), batch), f"result must be {wanted}D [{text}]")


ATTENTION: Final[dict[str, Rule]] = {
    "chunked_scaled_dot_product_attention": _chunked,
    "paged_flash_multi_latent_attention_decode": _paged_latent,
    "flash_mla_prefill": _latent_prefill,
    "indexer_score_dsa": _indexer_score,
    "rotary_embedding": _rotary,
    "rotary_embedding_llama": _rotary_llama,
    "nlp_create_qkv_heads_decode": _heads_decode,
    "paged_fill_cache": _paged_fill,
    "sampling": _sampling,
}
