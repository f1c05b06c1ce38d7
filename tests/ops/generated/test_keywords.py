"""Every option of every operator changes the result, or raises."""

from __future__ import annotations

import pytest

import ttnn
from testkit.operands import describe
from testkit.signature_calls import GIVEN, Call, calls, first_dtype, other_values
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED, Param, Signature

# Options that change no result of the chip either; "*" is every operator.
_TIME_ONLY = "how many cores work or how they find their datums: time only"
_FAST = "the documentation says: changes nothing here"
NO_EFFECT: dict[tuple[str, str], str] = {
    ("*", "use_multicore"): _TIME_ONLY,
    ("*", "sub_core_grids"): "which cores work: time only; test_sub_core_grids.py has what is refused",
    ("tilize", "use_low_perf"): _TIME_ONLY,
    ("reshape", "reshape_tile_mode"): _TIME_ONLY,
    ("reshape", "skip_padding_fill"): "the padding is filled in any case",
    **{("*", name): "the shapes of these calls have no padding" for name in ("pad_value",)},
    ("clone", "compute_kernel_config"): "a copy computes nothing",
    ("experimental.rotary_embedding", "compute_kernel_config"): "the official program does not look at it",
    ("*", "use_2d_core_grid"): _TIME_ONLY,
    ("*", "strategy"): _TIME_ONLY,
    ("bernoulli", "compute_kernel_config"): "the numbers are compared; test_numbers.py has those that it cuts",
    ("experimental.dropout", "use_per_device_seed"): "devices of a mesh differ by it; one device stays the same",
    **{("manual_seed", name): "seeds change what sampling draws later" for name in ("seeds", "user_ids")},
    ("experimental.fast_reduce_nc", "compute_kernel_config"): "the calls add up single tiles",
    ("experimental.deepseek_moe_fast_reduce_nc", "compute_kernel_config"): "the calls add up single tiles",
    ("experimental.fast_reduce_nc_split", "compute_kernel_config"): "the calls add up single tiles",
    ("experimental.deepseek_prefill.post_combine_reduce", "output_memory_config"): "the calls name L1, the default",
    ("experimental.isin", "assume_unique"): _TIME_ONLY,
    ("ema", "core_grid"): _TIME_ONLY,
    ("moreh_linear_backward", "bias"): "the gradient does not depend on it",
    ("moreh_linear_backward", "bias_grad"): "the calls do not want it",
    **{("moreh_matmul_backward" if name == "memory_config" else "*", name): "the given tensor says where it lies"
       for name in ("memory_config", *(f"{of}_memory_config" for of in (
           *(f"{of}_grad" for of in ("input", "mat2", "weight", "bias", "gamma", "beta")), "mean", "rstd")))},
    ("sharded_to_interleaved_partial", "memory_config"): "the cache says where it lies",
    ("moreh_mean_backward", "keepdim"): "both shapes are taken",
    ("moreh_norm_backward", "keepdim"): "both shapes are taken",
    ("moreh_dot", "dtype"): "the official program does not look at it",
    **{(f"moreh_{name}_backward", "memory_config"): "the given tensors say where they lie"
       for name in ("dot", "layer_norm", "nll_loss", "nll_loss_unreduced")},
    ("moreh_nll_loss", "divisor_tensor"): "an option of the mean",
    ("moreh_nll_loss", "compute_kernel_config"): "the calls negate",
    ("moreh_clip_grad_norm", "error_if_nonfinite"): "the calls have finite norms",
    ("moreh_clip_grad_norm", "compute_kernel_config"): "the kernels are built in one way",
    ("moreh_nll_loss_unreduced_backward", "compute_kernel_config"): "the numbers are made where they are read",
    **{("*", name): "the calls do not want it" for name in ("gamma_grad", "beta_grad")},
    ("moreh_norm", "keepdim"): "the last dimension is kept in any case",
    **{(f"moreh_group_norm{form}", "compute_kernel_config"): "the kernels are built in one way"
       for form in ("", "_backward")},
    **{("moreh_sum_backward", name): "elements are copied, whatever shape they have"
       for name in ("keepdim", "compute_kernel_config")},
    ("topk", "sorted"): "the elements are in order in any case",
    **{("group_norm", name): "the operator knows the channels of a group" for name in ("input_mask", "negative_mask")},
    ("interleaved_to_sharded", "keep_l1_aligned"): "where rows begin in L1: pages have their alignment in any case",
    ("*", "chunk_start_idx_tensor"): "the calls give chunk_start_idx",
    **{("*", name): "the input is freed, or what is behind it moved; the result is the same"
       for name in ("deallocate_input", "reallocate_halo_output", "reallocate_output", "config_tensor_in_dram")},
    ("upsample", "compute_kernel_config"): "the calls repeat pixels",
    **{(f"experimental.{name}", "config"): "bfloat16 results hide the order of a few sums in float32"
       for name in ("minimal_matmul", "minimal_matmul_split", "dit_minimal_matmul_addcmul_fused")},
    ("*", "share_cache"): "the calls have one batch of keys",
    **{(f"transformer.paged_{name}_decode", "program_config"): "16 heads of bfloat16 at most have one exponential"
       for name in ("flash_multi_latent_attention", "scaled_dot_product_attention")},
    ("batch_norm", "momentum"): "the calls have no running statistics",
    **{(name, "compute_kernel_config"): "the SFPU computes with a 32-bit Dst" for name in ("std", "var")},
    **{(name, "compute_kernel_config"): "rows are copied"
       for name in ("experimental.paged_fill_cache", "experimental.paged_update_cache",
                    "experimental.paged_fused_update_cache")},
    **{(f"experimental.{name}", "memory_config"): "the output is sharded in L1, whatever place is named"
       for name in ("nlp_concat_heads_decode", "nlp_kv_cache_load_slice")},
    ("experimental.nlp_create_qkv_heads_decode", "memory_config"): "only the cores of its shards count",
    ("experimental.nlp_create_qkv_heads_decode", "output_tensors"): "the official program does not look at them",
    ("experimental.nlp_create_qkv_heads_decode", "overlap_qk_coregrid"): "an option of sharded inputs",
    **{(name, "memory_config"): "the official program writes to the input"
       for name in ("fill_implicit_tile_padding", "logical_not_", "transformer.attention_softmax_", "uniform")},
    **{(name, "dtype"): "ignored, as in the official operator" for name in ("global_avg_pool2d", "group_norm")},
    **{("fold", name): "an option of transposed shards" for name in ("grid_size", "override_memory_config")},
    **{(f"{name}_bw", "memory_config"): "the gradient is the given tensor" for name in ("assign", "frac")},
    ("embedding", "padding_idx"): "the row is read like any other",
    ("embedding", "embeddings_type"): _TIME_ONLY,
    **{(f"transformer.attention_softmax{form}", "causal_mask"): "the calls have no mask" for form in ("", "_")},
    ("*", "sub_device_id"): _TIME_ONLY,
    ("log1p", "fast_and_approximate_mode"): "the two kernels are one",
    **{(name, "compute_kernel_config"): "the largest and the smallest are selected exactly" for name in ("max", "min")},
    **{(name, "correction"): "an option of the variance" for name in ("max", "mean", "min", "sum")},
    **{(f"{name}{form}", "fast_and_approximate_mode"): _FAST
       for name in ("add", "subtract", "rsub", "multiply") for form in ("", "_")},
}  # fmt: skip
# Kinds of options that these calls have no other value of.
NO_VALUE: dict[str, str] = {
    "ttnn.Op2DSliceConfig": "how much of an image is in L1 at a time: time only",
    "ttnn._ttnn.multi_device.MeshDevice": "there is one device in these calls, and it is the operands'",
    "ttnn.TensorMemoryLayout": "tests/ops/pool has the shards of pools",
    "set[ttnn.MeshCoordinate]": "a mesh has one chip",
    "ttnn.SoftmaxDefaultProgramConfig | ttnn.SoftmaxShardedMultiCoreProgramConfig": _TIME_ONLY,
    **{param.kind.text: "tests/ops/matmul has program configs" for param in ttnn.matmul.entry.signatures[0].params
       if param.name == "program_config"},
}  # fmt: skip


def _dtypes(entry: registry.Op) -> list[ttnn.DataType]:
    first = first_dtype(entry)
    wide = ttnn.float32 if ttnn.float32 in entry.dtypes and first is ttnn.bfloat16 else first
    return list(dict.fromkeys((first, wide)))


def _counts(entry: registry.Op, index: int, param: Param, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> bool:
    """Return True if another option value changes the result, or raises."""

    def fresh() -> Call:
        return list(calls(entry, device, dtype))[index]

    expected = describe(fresh()())
    values = other_values(param, fresh(), device)
    for value in values:
        try:
            changed = fresh()(**{param.name: value})
        except TtnnError:
            return True
        results, given = (of if isinstance(of, list | tuple) else [of] for of in (changed, value))
        if any(result is tensor for result in results for tensor in given) or describe(changed) != expected:
            return True
    # What is not modelled is refused wherever it is given.
    return not param.modelled


def _options(entry: registry.Op, signature: Signature) -> list[Param]:
    """Return the parameters with a default, but those without an effect."""
    found = [p for p in signature.params if p.default is not REQUIRED and (entry.name, p.name) not in GIVEN]
    found = [param for param in found if param.kind.text not in NO_VALUE]
    return [param for param in found if not {(entry.name, param.name), ("*", param.name)} & set(NO_EFFECT)]


WITH_OPTIONS = [entry for entry in registry.entries() if any(_options(entry, s) for s in entry.signatures)]


@pytest.mark.parametrize("entry", WITH_OPTIONS, ids=str)
def test_every_option_counts(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    """In one of its signatures and data types at least."""
    found: dict[str, bool] = {}
    for index, signature in enumerate(entry.signatures):
        for param in _options(entry, signature):
            counts = (_counts(entry, index, param, dtype, device) for dtype in _dtypes(entry))
            found[param.name] = found.get(param.name, False) or any(counts)
    assert [name for name, counts in found.items() if not counts] == []


def test_the_list_of_options_without_effect_is_short() -> None:
    names = {entry.name for entry in registry.entries()}
    assert {name for name, _ in NO_EFFECT} - {"*"} <= names
    assert len(NO_EFFECT) <= 108
    kinds = {param.kind.text for entry in registry.entries() for s in entry.signatures for param in s.params}
    assert set(NO_VALUE) <= kinds
