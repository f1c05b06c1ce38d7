"""Largest errors of the gradients against their references, in ULP, over the seeded values of the tests.

Measured by `python tests/ops/gradient_calls.py`; the figures bound the composition, every step of which rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.golden import gradients

LARGEST_ULP: Final[dict[str, tuple[float, float, float]]] = {
    "acos_bw": (1.5, 1.52, 1.12),
    "acosh_bw": (1.86, 1.52, 3.11),
    "addcdiv_bw": (2.28, 1.49, 1.98),
    "addcmul_bw": (0.5, 0, 0.565),
    "asin_bw": (1.76, 1.52, 0.861),
    "asinh_bw": (1.66, 1.38, 1.32),
    "atan2_bw": (4.01, 4.12, 2.88),
    "atan_bw": (2.42, 1.44, 1.29),
    "atanh_bw": (2.17, 1.52, 1.18),
    "bias_gelu_bw": (3.31, 108000, 1.11),
    "celu_bw": (1.59, 1.38, 27.3),
    "cos_bw": (1.29, 1.71, 0.762),
    "cosh_bw": (1.34, 2.29, 0.798),
    "deg2rad_bw": (2.22, 0.585, 0.508),
    "digamma_bw": (1.36, 3.59, 0.938),
    "div_bw": (2.27, 2.01, 1.47),
    "elu_bw": (1.48, 1.35, 4.08),
    "erf_bw": (7.5, 2.49, 1.33),
    "erfc_bw": (7.5, 2.49, 1.84),
    "erfinv_bw": (3.7, 10800, 1.53),
    "exp2_bw": (2.47, 1.99, 1.47),
    "exp_bw": (1.66, 1.35, 0.804),
    "expm1_bw": (1.66, 1.35, 0.804),
    "fmod_bw": (0, 0, 0.267),
    "gelu_bw": (2.9, 38000, 0.738),
    "hardsigmoid_bw": (1.34, 0.667, 0.534),
    "hardswish_bw": (1.96, 1470, 0.909),
    "hypot_bw": (2.57, 2.56, 1.68),
    "i0_bw": (1.34, 3, 0.871),
    "ldexp_bw": (3.01, 2.28, 1.22),
    "leaky_relu_bw": (1.76, 0.5, 0.281),
    "lerp_bw": (1.47, 0.5, 0.799),
    "lgamma_bw": (2.05, 74.4, 0.743),
    "log10_bw": (2.24, 2.19, 1.06),
    "log1p_bw": (1.73, 1.34, 0.959),
    "log2_bw": (2.28, 1.72, 1.04),
    "log_bw": (1.25, 2.01, 1.34),
    "log_sigmoid_bw": (2.6, 2.65, 0.78),
    "logaddexp2_bw": (3.24, 2.14, 0),
    "logaddexp_bw": (3.68, 2.2, 0),
    "logit_bw": (2.2, 1.57, 1.13),
    "logiteps_bw": (2.2, 1.57, 1.75),
    "max_bw": (0, 0, 0.281),
    "min_bw": (0, 0, 0.281),
    "mul_bw": (0.5, 0, 0.608),
    "multigammaln_bw": (1.95, 6.44, 1.74),
    "polygamma_bw": (1.32, 5.17, 0.98),
    "pow_bw": (1.92, 2.27, 0.989),
    "rad2deg_bw": (0.67, 0.663, 0.601),
    "rdiv_bw": (1.76, 1.32, 2.77),
    "reciprocal_bw": (1.76, 1.32, 1.24),
    "remainder_bw": (0, 0, 0.267),
    "repeat_bw": (0.5, 0, 0.443),
    "rpow_bw": (1.56, 1.53, 1.05),
    "rsqrt_bw": (4.15, 4.56, 1.56),
    "selu_bw": (3.18, 51.3, 5.79),
    "sigmoid_bw": (9.87, 18.2, 0.66),
    "silu_bw": (2.27, 2.01, 1.2),
    "sin_bw": (1.25, 1.81, 1.04),
    "sinh_bw": (1.38, 2.17, 0.858),
    "softplus_bw": (2.54, 2.49, 39.1),
    "softsign_bw": (4.41, 1.56, 0.876),
    "sqrt_bw": (1.67, 1.75, 0.989),
    "square_bw": (0.5, 0, 0.608),
    "squared_difference_bw": (1.43, 0.5, 0.794),
    "tan_bw": (2.8, 3.58, 1.21),
    "tanh_bw": (2.17, 73600, 0.654),
    "tanhshrink_bw": (3.24, 5.45, 1.98),
    "xlogy_bw": (2.2, 2.09, 0.825),
}
"""bfloat16, float32; bfloat8_b in steps of the exponent that the largest value has."""

ABSOLUTE: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(("bias_gelu_bw", "gelu_bw", "hardswish_bw", "silu_bw"), gradients.size_of_grad),
    "multigammaln_bw": gradients.sum_of_terms,
}
"""What the figures refer to where terms cancel, instead of the gradient itself."""
