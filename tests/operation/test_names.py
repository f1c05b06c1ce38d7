"""Required operators, by the names that programs use."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn

# Category, and the names below `ttnn`.
NAMES: dict[str, str] = {
    "Core": (
        "as_tensor from_torch to_torch to_device from_device to_layout dump_tensor load_tensor deallocate "
        "reallocate to_memory_config"
    ),
    "Tensor Creation": ("arange empty zeros zeros_like ones ones_like full full_like"),
    "Matrix Multiplication": ("matmul linear"),
    "Pointwise Unary": (
        "abs acos acosh asin asinh atan atan2 atanh bitwise_and bitwise_or bitwise_xor bitwise_not "
        "bitwise_left_shift bitwise_right_shift cbrt celu clip clone cos cosh deg2rad digamma elu erf erfc "
        "erfinv exp exp2 expm1 floor ceil geglu gelu glu hardshrink hardsigmoid hardswish hardtanh heaviside "
        "hypot i0 identity isfinite isinf isnan isneginf isposinf leaky_relu lerp lgamma log log10 log1p log2 "
        "log_sigmoid logical_not logit mish multigammaln neg prelu reglu relu relu_max relu_min relu6 remainder "
        "rsqrt rdiv rsub sigmoid sigmoid_accurate sign silu sin sinh softmax softplus softshrink softsign swish "
        "tan tanh signbit polygamma rad2deg reciprocal sqrt square swiglu tril triu tanhshrink threshold"
    ),
    "Pointwise Binary": (
        "add multiply subtract pow ldexp logical_and logical_or logical_xor logaddexp logaddexp2 xlogy "
        "squared_difference gtz ltz gez lez nez eqz gt ge lt le eq ne isclose polyval nextafter maximum minimum "
        "atan2_bw embedding_bw addalpha_bw subalpha_bw xlogy_bw hypot_bw ldexp_bw logaddexp_bw logaddexp2_bw "
        "squared_difference_bw concat_bw rsub_bw min_bw max_bw lerp_bw"
    ),
    "Pointwise Ternary": ("addcdiv addcmul mac where addcmul_bw addcdiv_bw where_bw"),
    "Losses": ("l1_loss mse_loss"),
    "Reduction": ("max mean min std sum var argmax topk"),
    "Data Movement": ("concat pad permute reshape repeat repeat_interleave"),
    "Normalization": ("group_norm layer_norm rms_norm"),
    "Transformer": (
        "transformer.split_query_key_value_and_split_heads transformer.concatenate_heads "
        "transformer.attention_softmax transformer.attention_softmax_ transformer.rotary_embedding"
    ),
    "Embedding": ("embedding"),
    "Pooling": ("global_avg_pool2d MaxPool2d"),
    "Vision": ("upsample"),
    "KV Cache": ("kv_cache.fill_cache_for_user_ kv_cache.update_cache_for_token_"),
}

# Gradients and operators on complex tensors that the official package has, or had, besides.
MORE = (
    "abs_bw acos_bw acosh_bw add_bw angle angle_bw asin_bw asinh_bw assign_bw atan_bw atanh_bw bias_gelu_bw "
    "ceil_bw celu_bw clamp_bw clip_bw complex_tensor conj conj_bw cos_bw cosh_bw deg2rad_bw digamma_bw div_bw "
    "div_no_nan_bw elu_bw erf_bw erfc_bw erfinv_bw exp2_bw exp_bw expm1_bw fill_bw fill_zero_bw floor_bw "
    "fmod_bw frac_bw gelu_bw hardshrink_bw hardsigmoid_bw hardswish_bw hardtanh_bw i0_bw imag imag_bw is_imag "
    "is_real leaky_relu_bw lgamma_bw log10_bw log1p_bw log2_bw log_bw log_sigmoid_bw logit_bw logiteps_bw "
    "mul_bw multigammaln_bw neg_bw polar polar_bw polygamma_bw pow_bw prod_bw rad2deg_bw rdiv_bw real real_bw "
    "reciprocal_bw relu6_bw relu_bw remainder_bw repeat_bw round_bw rpow_bw rsqrt_bw selu_bw sigmoid_bw sign_bw "
    "silu_bw sin_bw sinh_bw softplus_bw softshrink_bw softsign_bw sqrt_bw square_bw sub_bw tan_bw tanh_bw "
    "tanhshrink_bw threshold_bw trunc_bw eq_bw ge_bw gt_bw le_bw lt_bw ne_bw alt_complex_rotate90 "
    "clamped_silu_glu situ_glu softcap"
)

# Names of operators that are not implemented. Whoever builds one takes it off the list.
_LATER = "MaxPool2d"
LATER = frozenset(_LATER.split())
LISTED = [name for names in NAMES.values() for name in names.split()]
ALL = LISTED + MORE.split()


def found(name: str) -> Any:
    """Return what `ttnn` has under a dotted name, or None."""
    where: Any = ttnn
    for part in name.split("."):
        where = getattr(where, part, None)
    return where


def test_list_of_official_names_is_complete() -> None:
    assert len(LISTED) == 196
    assert len(ALL) == len(set(ALL))
    assert set(ALL) >= LATER


@pytest.mark.parametrize("name", ALL)
def test_official_name_exists_or_is_listed_as_later(name: str) -> None:
    """The name exists or is listed missing; callable, with docstring."""
    operator = found(name)
    assert (operator is None) == (name in LATER)
    if operator is not None:
        assert callable(operator)
        assert operator.__doc__
