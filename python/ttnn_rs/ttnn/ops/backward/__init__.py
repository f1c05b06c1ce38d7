"""Gradients, one file per subject: every operator `*_bw` is a composition of forward operators, written as such."""

from __future__ import annotations

from ttnn.ops.backward import binary as _binary
from ttnn.ops.backward import constants as _constants
from ttnn.ops.backward import unary_activations as _activations
from ttnn.ops.backward import unary_inverse as _inverse
from ttnn.ops.backward import unary_math as _math
from ttnn.ops.backward import unary_scalars as _scalars
from ttnn.ops.backward.arithmetic import (
    add_bw,
    addalpha_bw,
    assign_bw,
    div_bw,
    eq_bw,
    ge_bw,
    gt_bw,
    le_bw,
    lt_bw,
    mul_bw,
    ne_bw,
    rsub_bw,
    sub_bw,
    subalpha_bw,
)
from ttnn.ops.backward.embedding import embedding_bw
from ttnn.ops.backward.fused import bias_gelu_bw, gelu_bw, sigmoid_bw, tanh_bw
from ttnn.ops.backward.product import prod_bw
from ttnn.ops.backward.structure import concat_bw, repeat_bw
from ttnn.ops.backward.ternary import addcdiv_bw, addcmul_bw, lerp_bw, where_bw

atan2_bw = _binary.OPERATORS["atan2_bw"]
xlogy_bw = _binary.OPERATORS["xlogy_bw"]
hypot_bw = _binary.OPERATORS["hypot_bw"]
ldexp_bw = _binary.OPERATORS["ldexp_bw"]
logaddexp_bw = _binary.OPERATORS["logaddexp_bw"]
logaddexp2_bw = _binary.OPERATORS["logaddexp2_bw"]
squared_difference_bw = _binary.OPERATORS["squared_difference_bw"]
max_bw = _binary.OPERATORS["max_bw"]
min_bw = _binary.OPERATORS["min_bw"]
remainder_bw = _binary.OPERATORS["remainder_bw"]
fmod_bw = _binary.OPERATORS["fmod_bw"]
ceil_bw = _constants.OPERATORS["ceil_bw"]
floor_bw = _constants.OPERATORS["floor_bw"]
round_bw = _constants.OPERATORS["round_bw"]
trunc_bw = _constants.OPERATORS["trunc_bw"]
sign_bw = _constants.OPERATORS["sign_bw"]
fill_zero_bw = _constants.OPERATORS["fill_zero_bw"]
frac_bw = _constants.OPERATORS["frac_bw"]
neg_bw = _constants.OPERATORS["neg_bw"]
deg2rad_bw = _constants.OPERATORS["deg2rad_bw"]
rad2deg_bw = _constants.OPERATORS["rad2deg_bw"]
square_bw = _constants.OPERATORS["square_bw"]
abs_bw = _constants.OPERATORS["abs_bw"]
fill_bw = _constants.OPERATORS["fill_bw"]
relu_bw = _activations.OPERATORS["relu_bw"]
relu6_bw = _activations.OPERATORS["relu6_bw"]
leaky_relu_bw = _activations.OPERATORS["leaky_relu_bw"]
elu_bw = _activations.OPERATORS["elu_bw"]
celu_bw = _activations.OPERATORS["celu_bw"]
selu_bw = _activations.OPERATORS["selu_bw"]
silu_bw = _activations.OPERATORS["silu_bw"]
hardsigmoid_bw = _activations.OPERATORS["hardsigmoid_bw"]
hardswish_bw = _activations.OPERATORS["hardswish_bw"]
hardtanh_bw = _activations.OPERATORS["hardtanh_bw"]
hardshrink_bw = _activations.OPERATORS["hardshrink_bw"]
softshrink_bw = _activations.OPERATORS["softshrink_bw"]
softplus_bw = _activations.OPERATORS["softplus_bw"]
softsign_bw = _activations.OPERATORS["softsign_bw"]
tanhshrink_bw = _activations.OPERATORS["tanhshrink_bw"]
log_sigmoid_bw = _activations.OPERATORS["log_sigmoid_bw"]
threshold_bw = _activations.OPERATORS["threshold_bw"]
asin_bw = _inverse.OPERATORS["asin_bw"]
acos_bw = _inverse.OPERATORS["acos_bw"]
atan_bw = _inverse.OPERATORS["atan_bw"]
asinh_bw = _inverse.OPERATORS["asinh_bw"]
acosh_bw = _inverse.OPERATORS["acosh_bw"]
atanh_bw = _inverse.OPERATORS["atanh_bw"]
logit_bw = _inverse.OPERATORS["logit_bw"]
logiteps_bw = _inverse.OPERATORS["logiteps_bw"]
exp_bw = _math.OPERATORS["exp_bw"]
exp2_bw = _math.OPERATORS["exp2_bw"]
expm1_bw = _math.OPERATORS["expm1_bw"]
log_bw = _math.OPERATORS["log_bw"]
log2_bw = _math.OPERATORS["log2_bw"]
log10_bw = _math.OPERATORS["log10_bw"]
log1p_bw = _math.OPERATORS["log1p_bw"]
sqrt_bw = _math.OPERATORS["sqrt_bw"]
rsqrt_bw = _math.OPERATORS["rsqrt_bw"]
reciprocal_bw = _math.OPERATORS["reciprocal_bw"]
sin_bw = _math.OPERATORS["sin_bw"]
cos_bw = _math.OPERATORS["cos_bw"]
tan_bw = _math.OPERATORS["tan_bw"]
sinh_bw = _math.OPERATORS["sinh_bw"]
cosh_bw = _math.OPERATORS["cosh_bw"]
erf_bw = _math.OPERATORS["erf_bw"]
erfc_bw = _math.OPERATORS["erfc_bw"]
erfinv_bw = _math.OPERATORS["erfinv_bw"]
i0_bw = _math.OPERATORS["i0_bw"]
digamma_bw = _math.OPERATORS["digamma_bw"]
lgamma_bw = _math.OPERATORS["lgamma_bw"]
multigammaln_bw = _math.OPERATORS["multigammaln_bw"]
polygamma_bw = _scalars.OPERATORS["polygamma_bw"]
pow_bw = _scalars.OPERATORS["pow_bw"]
rpow_bw = _scalars.OPERATORS["rpow_bw"]
rdiv_bw = _scalars.OPERATORS["rdiv_bw"]
div_no_nan_bw = _scalars.OPERATORS["div_no_nan_bw"]
clamp_bw = _scalars.OPERATORS["clamp_bw"]
clip_bw = _scalars.OPERATORS["clip_bw"]

__all__ = [
    "abs_bw",
    "acos_bw",
    "acosh_bw",
    "add_bw",
    "addalpha_bw",
    "addcdiv_bw",
    "addcmul_bw",
    "asin_bw",
    "asinh_bw",
    "assign_bw",
    "atan2_bw",
    "atan_bw",
    "atanh_bw",
    "bias_gelu_bw",
    "ceil_bw",
    "celu_bw",
    "clamp_bw",
    "clip_bw",
    "concat_bw",
    "cos_bw",
    "cosh_bw",
    "deg2rad_bw",
    "digamma_bw",
    "div_bw",
    "div_no_nan_bw",
    "elu_bw",
    "embedding_bw",
    "eq_bw",
    "erf_bw",
    "erfc_bw",
    "erfinv_bw",
    "exp2_bw",
    "exp_bw",
    "expm1_bw",
    "fill_bw",
    "fill_zero_bw",
    "floor_bw",
    "fmod_bw",
    "frac_bw",
    "ge_bw",
    "gelu_bw",
    "gt_bw",
    "hardshrink_bw",
    "hardsigmoid_bw",
    "hardswish_bw",
    "hardtanh_bw",
    "hypot_bw",
    "i0_bw",
    "ldexp_bw",
    "le_bw",
    "leaky_relu_bw",
    "lerp_bw",
    "lgamma_bw",
    "log1p_bw",
    "log2_bw",
    "log10_bw",
    "log_bw",
    "log_sigmoid_bw",
    "logaddexp2_bw",
    "logaddexp_bw",
    "logit_bw",
    "logiteps_bw",
    "lt_bw",
    "max_bw",
    "min_bw",
    "mul_bw",
    "multigammaln_bw",
    "ne_bw",
    "neg_bw",
    "polygamma_bw",
    "pow_bw",
    "prod_bw",
    "rad2deg_bw",
    "rdiv_bw",
    "reciprocal_bw",
    "relu6_bw",
    "relu_bw",
    "remainder_bw",
    "repeat_bw",
    "round_bw",
    "rpow_bw",
    "rsqrt_bw",
    "rsub_bw",
    "selu_bw",
    "sigmoid_bw",
    "sign_bw",
    "silu_bw",
    "sin_bw",
    "sinh_bw",
    "softplus_bw",
    "softshrink_bw",
    "softsign_bw",
    "sqrt_bw",
    "square_bw",
    "squared_difference_bw",
    "sub_bw",
    "subalpha_bw",
    "tan_bw",
    "tanh_bw",
    "tanhshrink_bw",
    "threshold_bw",
    "trunc_bw",
    "where_bw",
    "xlogy_bw",
]
