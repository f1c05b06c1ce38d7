"""Names of device operations: what the official trace calls the program that an operator runs.

Source: tt-metal, the classes of device operations below `ttnn/cpp/ttnn/operations`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.enums import Layout
from ttnn.tensor.tensor import Tensor

_BY_FAMILY: Final = {
    "unary": "UnaryDeviceOperation",
    "binary": "BinaryNgDeviceOperation",
    "ternary": "TernaryDeviceOperation",
}

_OPERATORS: Final = {
    "AccumulationDeviceOperation": "cumsum cumprod",
    "ArgMaxDeviceOperation": "argmax",
    "AttnMatmulDeviceOperation": "experimental.attn_matmul experimental.attn_matmul_from_cache",
    "BatchNormOperation": "batch_norm",
    "BcastDeviceOperation": "bcast",
    "BcastToOperation": "experimental.broadcast_to",
    "BernoulliDeviceOperation": "bernoulli",
    "CloneOperation": "clone",
    "ConcatDeviceOperation": "concat",
    "ConcatenateHeadsDeviceOperation": "experimental.concatenate_heads",
    "Conv2dDeviceOperation": "conv1d conv2d conv_transpose2d",
    "Conv3dDeviceOperation": "experimental.conv3d",
    "ConvertToCHWDeviceOperation": "experimental.convert_to_chw",
    "ConvertToHWCDeviceOperation": "experimental.convert_to_hwc",
    "CopyDeviceOperation": "assign copy to_memory_config",
    "CreateQKVHeadsDeviceOperation": "experimental.create_qkv_heads",
    "CreateQKVHeadsSeparateTensorsDeviceOperation": "experimental.create_qkv_heads_from_separate_tensors",
    "DeepseekMoEFastReduceNCDeviceOperation": "experimental.deepseek_moe_fast_reduce_nc",
    "DropoutDeviceOperation": "experimental.dropout",
    "EmbeddingBackwardDeviceOperation": "embedding_bw",
    "EmbeddingsDeviceOperation": "embedding",
    "FastReduceNCDeviceOperation": "experimental.fast_reduce_nc",
    "FillRMDeviceOperation": "fill_rm fill_ones_rm",
    "FullDeviceOperation": "full full_like ones ones_like zeros zeros_like moreh_full moreh_full_like",
    "GatherDeviceOperation": "gather tosa_gather",
    "GeluBackwardDeviceOperation": "gelu_bw",
    "GridSampleOperation": "grid_sample",
    "GroupAttnMatmulDeviceOperation": "experimental.group_attn_matmul",
    "GroupNormDeviceOperation": "group_norm",
    "HCSumReduceDeviceOperation": "experimental.hc_sum_reduce",
    "IndexFillOperation": "index_fill",
    "IndexedFillDeviceOperation": "indexed_fill",
    "IntImgDeviceOperation": "experimental.intimg",
    "InterleavedToShardedDeviceOperation": "interleaved_to_sharded",
    "InterleavedToShardedPartialDeviceOperation": "interleaved_to_sharded_partial",
    "IsInDeviceOperation": "experimental.isin",
    "LayerNormDeviceOperation": "layer_norm rms_norm",
    "LayerNormPostAllGatherDeviceOperation": "layer_norm_post_all_gather rms_norm_post_all_gather",
    "LayerNormPreAllGatherDeviceOperation": "layer_norm_pre_all_gather rms_norm_pre_all_gather",
    "MatmulDeviceOperation": "matmul linear addmm",
    "MinimalMatmulDeviceOperation": "experimental.minimal_matmul",
    "MinimalMatmulSplitDeviceOperation": "experimental.minimal_matmul_split",
    "MorehAbsPowOperation": "moreh_abs_pow",
    "MorehAdamOperation": "moreh_adam",
    "MorehAdamWDeviceOperation": "moreh_adamw",
    "MorehArangeOperation": "moreh_arange",
    "MorehDotBackwardOperation": "moreh_dot_backward",
    "MorehDotOperation": "moreh_dot",
    "MorehFoldOperation": "moreh_fold",
    "MorehGetItemOperation": "moreh_getitem",
    "MorehGroupNormOperation": "moreh_group_norm",
    "MorehLayerNormOperation": "moreh_layer_norm",
    "MorehMatmulOperation": "moreh_bmm moreh_matmul moreh_linear",
    "MorehMeanBackwardOperation": "moreh_mean_backward",
    "MorehMeanOperation": "moreh_mean",
    "MorehNormBackwardOperation": "moreh_norm_backward",
    "MorehNormOperation": "moreh_norm",
    "MorehSgdOperation": "moreh_sgd",
    "MorehSoftmaxBackwardOperation": "moreh_softmax_backward moreh_softmin_backward moreh_logsoftmax_backward",
    "MorehSoftmaxOperation": "moreh_softmax moreh_softmin moreh_logsoftmax",
    "MorehSumBackwardOperation": "moreh_sum_backward",
    "MorehSumOperation": "moreh_sum",
    "MoveDeviceOperation": "move",
    "NLPConcatHeadsBoltzDeviceOperation": "experimental.nlp_concat_heads_boltz",
    "NLPConcatHeadsDecodeDeviceOperation": "experimental.nlp_concat_heads_decode",
    "NLPConcatHeadsDeviceOperation": "experimental.nlp_concat_heads transformer.concatenate_heads",
    "NLPCreateQKVHeadsDecodeDeviceOperation": "experimental.nlp_create_qkv_heads_decode",
    "NlpCreateHeadsBoltzDeviceOperation": "experimental.nlp_create_qkv_heads_boltz",
    "NlpCreateHeadsDeviceOperation": "experimental.nlp_create_qkv_heads",
    "NlpCreateHeadsFalcon7BDeviceOperation": "experimental.nlp_create_qkv_heads_falcon7b",
    "NlpCreateHeadsSegformerDeviceOperation": "experimental.nlp_create_qkv_heads_segformer",
    "NlpCreateHeadsVitDeviceOperation": "experimental.nlp_create_qkv_heads_vit",
    "NlpKVCacheLoadSliceDeviceOperation": "experimental.nlp_kv_cache_load_slice",
    "NonZeroIndicesDeviceOperation": "nonzero",
    "PadDeviceOperation": "pad",
    "PaddedSliceDeviceOperation": "experimental.padded_slice",
    "PagedFillCacheDeviceOperation": "experimental.paged_fill_cache",
    "PagedFusedUpdateCacheDeviceOperation": "experimental.paged_fused_update_cache",
    "PagedUpdateCacheDeviceOperation": "experimental.paged_update_cache",
    "PermuteDeviceOperation": "permute",
    "PlusOneDeviceOperation": "plus_one",
    "Pool2D": "avg_pool2d max_pool2d adaptive_avg_pool2d adaptive_max_pool2d",
    "PrefixScanDeviceOperation": "experimental.prefix_scan",
    "ProdNcDeviceOperation": "prod",
    "RandDeviceOperation": "rand",
    "ReduceDeviceOperation": "sum mean max min std var",
    "RepeatAndInterleaveEltwiseMulDeviceOperation": "experimental.repeat_and_interleave_eltwise_mul",
    "RepeatDeviceOperation": "repeat expand",
    "ReshapeViewDeviceOperation": "reshape",
    "ReshardDeviceOperation": "reshard",
    "RotaryEmbeddingDeviceOperation": "experimental.rotary_embedding",
    "RotaryEmbeddingLlamaDeviceOperation": "experimental.rotary_embedding_llama",
    "RotaryEmbeddingLlamaFusedQKDeviceOperation": "experimental.rotary_embedding_llama_fused_qk",
    "RotateDeviceOperation": "rotate",
    "RotateHalfDeviceOperation": "experimental.rotate_half",
    "SDPAOperation": (
        "transformer.scaled_dot_product_attention transformer.chunked_scaled_dot_product_attention "
        "transformer.flash_mla_prefill transformer.chunked_flash_mla_prefill"
    ),
    "SamplingDeviceOperation": "sampling",
    "ScatterDeviceOperation": "scatter scatter_add tosa_scatter",
    "SdpaDecodeDeviceOperation": (
        "transformer.scaled_dot_product_attention_decode transformer.paged_scaled_dot_product_attention_decode "
        "transformer.flash_multi_latent_attention_decode transformer.paged_flash_multi_latent_attention_decode"
    ),
    "ShardedToInterleavedDeviceOperation": "sharded_to_interleaved",
    "ShardedToInterleavedPartialDeviceOperation": "sharded_to_interleaved_partial",
    "SliceDeviceOperation": "slice",
    "SliceWriteDeviceOperation": "experimental.slice_write",
    "SoftmaxDeviceOperation": (
        "softmax softmax_in_place scale_mask_softmax scale_mask_softmax_in_place "
        "scale_causal_mask_hw_dims_softmax_in_place transformer.attention_softmax transformer.attention_softmax_"
    ),
    "SortDeviceOperation": "sort",
    "SparseMatmulDeviceOperation": "sparse_matmul",
    "SplitFusedQKVAndSplitHeadsDeviceOperation": "experimental.split_query_key_value_and_split_heads",
    "TilizeDeviceOperation": "tilize",
    "TilizeWithValPaddingDeviceOperation": "tilize_with_val_padding tilize_with_zero_padding",
    "TopKDeviceOperation": "topk",
    "TransposeDeviceOperation": "transpose",
    "TypecastDeviceOperation": "typecast experimental.typecast",
    "UniformDeviceOperation": "uniform",
    "UntilizeDeviceOperation": "untilize",
    "UntilizeWithUnpaddingDeviceOperation": "untilize_with_unpadding",
    "UpdateKVCacheOperation": (
        "fill_cache update_cache kv_cache.fill_cache_for_user_ kv_cache.update_cache_for_token_"
    ),
    "UpsampleOperation": "upsample",
}

WITHOUT_TENSORS: Final = frozenset({"FullDeviceOperation"})
"""Device operations that take no tensors, though the operators above them may: these only say what comes out."""

_NAMES: Final = {operator: name for name, operators in _OPERATORS.items() for operator in operators.split()}


def device_operation(operation: Any, args: tuple[Any, ...]) -> str:
    """Return the name of the program that an operator runs.

    An operator whose official class is not listed has the name that such a class would have.

    Args:
        operation: The operator.
        args: The arguments of its call: to_layout and transpose choose by the layout.
    """
    name = operation.__name__.removeprefix("ttnn.").removeprefix("experimental.quasar.")
    first = args[0] if args and isinstance(args[0], Tensor) else None
    if name == "to_layout" and first is not None:
        return "TilizeDeviceOperation" if first.layout is Layout.ROW_MAJOR else "UntilizeDeviceOperation"
    if name == "transpose" and first is not None and first.layout is Layout.ROW_MAJOR:
        return _NAMES["permute"]
    entry = operation.entry
    found = _NAMES.get(name.removesuffix("_")) or _BY_FAMILY.get("" if entry is None else entry.family)
    if found is not None:
        return found
    words = name.rpartition(".")[2].split("_")
    return f"{''.join(word.capitalize() for word in words)}DeviceOperation"
