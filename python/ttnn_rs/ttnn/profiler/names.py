"""Official names of device operations: which one an operator runs.

A name follows from the operator, else from the function of the engine that does the work. Both tables are complete: a
function of the engine that neither has raises, and a test runs every operator.

Source: names in the column OP CODE of profiles that tt-perf-report takes.
"""

from __future__ import annotations

from typing import Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.profiler.operand import Operand

BY_OPERATOR: Final[dict[str, str]] = {
    **dict.fromkeys(("softmax", "softmax_in_place", "scale_mask_softmax", "scale_mask_softmax_in_place"), "Softmax"),
    "scale_causal_mask_hw_dims_softmax_in_place": "Softmax",
    "attention_softmax": "Softmax",
    "attention_softmax_": "Softmax",
    "layer_norm": "LayerNorm",
    "rms_norm": "LayerNorm",
    "group_norm": "GroupNorm",
    "batch_norm": "BatchNorm",
    "embedding": "Embeddings",
    "embedding_bw": "EmbeddingBackward",
    "concat": "Concat",
    "slice": "Slice",
    "padded_slice": "PaddedSlice",
    "slice_write": "SliceWrite",
    "split": "Split",
    "pad": "Pad",
    "permute": "Permute",
    "transpose": "Transpose",
    "reshape": "ReshapeView",
    "repeat": "Repeat",
    "repeat_interleave": "Repeat",
    "tilize": "Tilize",
    "tilize_with_val_padding": "TilizeWithValPadding",
    "tilize_with_zero_padding": "TilizeWithValPadding",
    "untilize": "Untilize",
    "untilize_with_unpadding": "UntilizeWithUnpadding",
    "typecast": "Typecast",
    "clone": "CloneOperation",
    "copy": "Copy",
    "move": "Move",
    "reshard": "Reshard",
    "interleaved_to_sharded": "InterleavedToSharded",
    "interleaved_to_sharded_partial": "InterleavedToShardedPartial",
    "sharded_to_interleaved": "ShardedToInterleaved",
    "sharded_to_interleaved_partial": "ShardedToInterleavedPartial",
    "fold": "Fold",
    "halo": "Halo",
    "conv2d": "Conv2d",
    "conv1d": "Conv2d",
    "conv_transpose2d": "Conv2d",
    "conv3d": "Conv3d",
    "max_pool2d": "Pool2D",
    "avg_pool2d": "Pool2D",
    "global_avg_pool2d": "Pool2D",
    "upsample": "UpSample",
    "grid_sample": "GridSample",
    "argmax": "ArgMax",
    "argmin": "ArgMax",
    "topk": "TopK",
    "sort": "Sort",
    "cumsum": "Accumulation",
    "cumprod": "Accumulation",
    "gather": "Gather",
    "scatter": "Scatter",
    "minimal_matmul": "MinimalMatmulOp",
    "nlp_create_qkv_heads": "NlpCreateHeads",
    "nlp_concat_heads": "NLPConcatHeads",
    "concatenate_heads": "NLPConcatHeads",
    "split_query_key_value_and_split_heads": "NlpCreateHeads",
    "rotary_embedding": "RotaryEmbedding",
    "rotary_embedding_llama": "RotaryEmbeddingLlama",
    "scaled_dot_product_attention": "ScaledDotProductAttention",
    "scaled_dot_product_attention_decode": "ScaledDotProductAttentionDecode",
    "paged_scaled_dot_product_attention_decode": "ScaledDotProductAttentionDecode",
    "paged_update_cache": "PagedUpdateCache",
    "fill_cache": "UpdateKVCacheOperation",
    "update_cache": "UpdateKVCacheOperation",
    "fast_reduce_nc": "FastReduceNC",
    "fast_reduce_nc_split": "FastReduceNCSplit",
    "where": "Ternary",
    "mesh_partition": "MeshPartition",
    "moe_expert_token_remap": "MoeExpertTokenRemap",
    "moe_routing_remap": "MoeRoutingRemap",
    "full": "Full",
    "full_like": "Full",
    "fill_implicit_tile_padding": "FillPad",
    "plus_one": "PlusOne",
    "sampling": "Sampling",
    "rand": "Rand",
    "uniform": "Uniform",
    "bernoulli": "Bernoulli",
    "intimg": "IntImg",
    "attn_matmul": "AttnMatmul",
    "attn_matmul_from_cache": "AttnMatmul",
    "bcast": "Bcast",
    "broadcast_to": "BcastToOperation",
    "convert_to_chw": "ConvertToCHW",
    "convert_to_hwc": "ConvertToHWC",
    "create_qkv_heads": "CreateQKVHeads",
    "create_qkv_heads_from_separate_tensors": "CreateQKVHeadsSeparateTensors",
    "deepseek_moe_fast_reduce_nc": "DeepseekMoEFastReduceNC",
    "dropout": "Dropout",
    "fill_ones_rm": "FillRM",
    "fill_rm": "FillRM",
    "gelu_bw": "GeluBackward",
    "group_attn_matmul": "GroupAttnMatmul",
    "hc_sum_reduce": "HCSumReduce",
    "index_fill": "IndexFillOperation",
    "indexed_fill": "IndexedFill",
    "isin": "IsIn",
    "layer_norm_post_all_gather": "LayerNormPostAllGather",
    "layer_norm_pre_all_gather": "LayerNormPreAllGather",
    "minimal_matmul_split": "MinimalMatmulSplit",
    "moreh_abs_pow": "MorehAbsPowOperation",
    "moreh_adam": "MorehAdamOperation",
    "moreh_adamw": "MorehAdamW",
    "moreh_arange": "MorehArangeOperation",
    "moreh_bmm": "MorehMatmulOperation",
    "moreh_dot": "MorehDotOperation",
    "moreh_dot_backward": "MorehDotBackwardOperation",
    "moreh_fold": "MorehFoldOperation",
    "moreh_getitem": "MorehGetItemOperation",
    "moreh_group_norm": "MorehGroupNormOperation",
    "moreh_layer_norm": "MorehLayerNormOperation",
    "moreh_linear": "MorehMatmulOperation",
    "moreh_logsoftmax": "MorehSoftmaxOperation",
    "moreh_logsoftmax_backward": "MorehSoftmaxBackwardOperation",
    "moreh_matmul": "MorehMatmulOperation",
    "moreh_mean": "MorehMeanOperation",
    "moreh_mean_backward": "MorehMeanBackwardOperation",
    "moreh_norm": "MorehNormOperation",
    "moreh_norm_backward": "MorehNormBackwardOperation",
    "moreh_sgd": "MorehSgdOperation",
    "moreh_softmax": "MorehSoftmaxOperation",
    "moreh_softmax_backward": "MorehSoftmaxBackwardOperation",
    "moreh_softmin": "MorehSoftmaxOperation",
    "moreh_softmin_backward": "MorehSoftmaxBackwardOperation",
    "moreh_sum": "MorehSumOperation",
    "moreh_sum_backward": "MorehSumBackwardOperation",
    "nlp_concat_heads_boltz": "NLPConcatHeadsBoltz",
    "nlp_concat_heads_decode": "NLPConcatHeadsDecode",
    "nlp_create_qkv_heads_boltz": "NlpCreateHeadsBoltz",
    "nlp_create_qkv_heads_decode": "NLPCreateQKVHeadsDecode",
    "nlp_create_qkv_heads_falcon7b": "NlpCreateHeadsFalcon7B",
    "nlp_create_qkv_heads_segformer": "NlpCreateHeadsSegformer",
    "nlp_create_qkv_heads_vit": "NlpCreateHeadsVit",
    "nlp_kv_cache_load_slice": "NlpKVCacheLoadSlice",
    "nonzero": "NonZeroIndices",
    "paged_fill_cache": "PagedFillCache",
    "paged_fused_update_cache": "PagedFusedUpdateCache",
    "prefix_scan": "PrefixScan",
    "prod": "ProdNc",
    "repeat_and_interleave_eltwise_mul": "RepeatAndInterleaveEltwiseMul",
    "rms_norm_post_all_gather": "LayerNormPostAllGather",
    "rms_norm_pre_all_gather": "LayerNormPreAllGather",
    "rotary_embedding_llama_fused_qk": "RotaryEmbeddingLlamaFusedQK",
    "rotate": "Rotate",
    "rotate_half": "RotateHalf",
    "scatter_add": "Scatter",
    "sparse_matmul": "SparseMatmul",
    "tosa_gather": "Gather",
    "tosa_scatter": "Scatter",
}
"""By the last part of the operator's name."""

BY_FUNCTION: Final[dict[str, str]] = {
    "unary": "Unary",
    "rotate": "Unary",
    "binary": "BinaryNg",
    "ternary": "Ternary",
    "matmul": "Matmul",
    "reduce": "Reduce",
    "product": "Prod",
    "argmax": "ArgMax",
    "embedding_bw": "EmbeddingBackward",
    "move": "",
    "copy": "",
    "gather": "",
    "scatter": "Scatter",
    "tile rows": "UpdateKVCacheOperation",
    "group_norm": "GroupNorm",
    "pool": "Pool2D",
    "grid_sample": "GridSample",
    "sort": "Sort",
    "nonzero": "NonZeroIndices",
    "plus_one": "PlusOne",
    "isin": "IsIn",
    "fill": "Full",
    "attention": "ScaledDotProductAttention",
    "pipeline": "",
    "uniform": "Uniform",
    "bernoulli": "Bernoulli",
    "experimental.dropout": "Dropout",
    "randn": "Randn",
}
"""Reasons by engine function name; empty: the operator's name."""


_PLACING: Final = ("to_memory_config", "to_layout", "move", "reallocate", "to_device")
"""Operators whose device operation depends on memory configs."""


def placing_name(source: Operand, output: Operand) -> str:
    """Return what changes layout or place of a tensor."""
    padded = source.padded != source.logical or output.padded != output.logical
    if source.tiled != output.tiled:
        if output.tiled:
            return "TilizeWithValPadding" if padded else "Tilize"
        return "UntilizeWithUnpadding" if padded else "Untilize"
    if source.sharded and output.sharded:
        return "Reshard"
    if output.sharded:
        return "InterleavedToSharded"
    return "ShardedToInterleaved" if source.sharded else "Copy"


def _swaps_rows(source: Operand | None, output: Operand | None) -> bool:
    """Return whether a transposition moves whole row-major rows.

    Then it is a permutation.
    """
    if source is None or output is None or source.tiled:
        return False
    return source.logical[3] == output.logical[3] and source.logical[2] != output.logical[2]


def device_operation_name(operator: str, function: str, source: Operand | None, output: Operand | None) -> str:
    """Return the name of the device operation of a call.

    Args:
        operator: Full name, for example "ttnn.add".
        function: The function of the engine that does the work.
        source: The first operand.
        output: The result.

    Raises:
        UnsupportedError: the function is not known.
    """
    last = operator.rpartition(".")[2]
    if last in _PLACING and source is not None and output is not None:
        return f"{placing_name(source, output)}DeviceOperation"
    name = BY_OPERATOR.get(last)
    if last == "transpose" and _swaps_rows(source, output):
        name = "Permute"
    if name is None:
        if function not in BY_FUNCTION:
            raise UnsupportedError(f"{operator}: no device operation is known for {function}", "unimplemented")
        name = BY_FUNCTION[function] or "".join(part.capitalize() for part in last.split("_"))
    return name if name.endswith(("Operation", "Op")) else f"{name}DeviceOperation"
