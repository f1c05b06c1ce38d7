"""Largest errors of the gradients against their references, in ULP, over the seeded values of the tests.

Measured by `python tests/ops/gradient_calls.py`; the figures bound the composition, every step of which rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.golden import gradients

LARGEST_ULP: Final[dict[str, tuple[float, float, float]]] = {
    "acos_bw": (1.64, 1.61, 1.12),
    "acosh_bw": (1.86, 1.52, 3.82),
    "addcdiv_bw": (2.43, 1.49, 2.26),
    "addcmul_bw": (0.5, 0, 0.574),
    "asin_bw": (2.03, 1.61, 0.861),
    "asinh_bw": (1.66, 1.69, 1.41),
    "atan2_bw": (4.41, 4.14, 4.7),
    "atan_bw": (2.64, 1.76, 1.29),
    "atanh_bw": (2.2, 1.63, 1.18),
    "bias_gelu_bw": (3.69, 108000, 1.14),
    "celu_bw": (1.59, 1.38, 37.1),
    "cos_bw": (1.35, 1.71, 0.99),
    "cosh_bw": (1.34, 2.29, 1.03),
    "deg2rad_bw": (2.22, 0.585, 0.508),
    "digamma_bw": (1.36, 4.18, 0.938),
    "div_bw": (2.39, 2.18, 1.47),
    "elu_bw": (1.55, 1.35, 11.6),
    "erf_bw": (8.24, 2.64, 1.33),
    "erfc_bw": (8.24, 2.64, 2.94),
    "erfinv_bw": (3.7, 11000, 1.53),
    "exp2_bw": (2.64, 2.19, 1.47),
    "exp_bw": (1.66, 1.51, 0.945),
    "expm1_bw": (1.66, 1.51, 0.945),
    "fmod_bw": (0, 0, 0.267),
    "gelu_bw": (3.45, 87200, 0.738),
    "hardsigmoid_bw": (1.34, 0.667, 0.534),
    "hardswish_bw": (2.01, 1470, 0.974),
    "hypot_bw": (2.59, 2.71, 1.7),
    "i0_bw": (1.34, 3, 0.871),
    "ldexp_bw": (3.01, 2.39, 1.39),
    "leaky_relu_bw": (1.76, 0.5, 0.281),
    "lerp_bw": (1.55, 0.5, 0.826),
    "lgamma_bw": (2.37, 80.9, 0.743),
    "log10_bw": (2.24, 2.19, 1.06),
    "log1p_bw": (1.81, 1.55, 1.09),
    "log2_bw": (2.28, 1.88, 1.17),
    "log_bw": (1.34, 2.01, 1.34),
    "log_sigmoid_bw": (2.77, 2.66, 1.05),
    "logaddexp2_bw": (3.24, 2.14, 0),
    "logaddexp_bw": (4.59, 2.2, 0),
    "logit_bw": (2.32, 1.57, 1.6),
    "logiteps_bw": (2.32, 1.57, 2.29),
    "max_bw": (0, 0, 20.4),
    "min_bw": (0, 0, 20.4),
    "mul_bw": (0.5, 0, 0.608),
    "multigammaln_bw": (1.95, 6.44, 1.74),
    "polygamma_bw": (1.39, 5.22, 0.98),
    "pow_bw": (2.01, 2.27, 1.11),
    "rad2deg_bw": (0.67, 0.663, 0.601),
    "rdiv_bw": (1.78, 1.44, 2.77),
    "reciprocal_bw": (1.78, 1.44, 1.24),
    "remainder_bw": (0, 0, 0.267),
    "repeat_bw": (0.5, 0, 0.453),
    "rpow_bw": (1.56, 1.64, 1.05),
    "rsqrt_bw": (4.38, 4.86, 1.56),
    "selu_bw": (3.3, 51.6, 9.95),
    "sigmoid_bw": (14.3, 32.3, 0.66),
    "silu_bw": (2.27, 2.69, 1.4),
    "sin_bw": (1.35, 1.81, 1.17),
    "sinh_bw": (1.38, 2.17, 0.89),
    "softplus_bw": (2.66, 2.76, 47.8),
    "softsign_bw": (4.63, 1.59, 1.36),
    "sqrt_bw": (1.78, 1.87, 1.29),
    "square_bw": (0.5, 0, 0.608),
    "squared_difference_bw": (1.43, 0.5, 0.826),
    "tan_bw": (2.8, 3.58, 2.17),
    "tanh_bw": (2.17, 73600, 0.654),
    "tanhshrink_bw": (3.26, 5.56, 1.98),
    "xlogy_bw": (2.2, 2.09, 0.991),
}
"""bfloat16, float32; bfloat8_b in steps of the exponent that the largest value has."""

ABSOLUTE: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(("bias_gelu_bw", "gelu_bw", "hardswish_bw", "silu_bw"), gradients.size_of_grad),
    "multigammaln_bw": gradients.sum_of_terms,
}
"""What the figures refer to where terms cancel, instead of the gradient itself."""
OF_ANY_NUMBER: Final[dict[str, tuple[float, float]]] = {
    "addalpha_bw": (2.5, 1.5),
    "div_no_nan_bw": (2.5, 2),
    "subalpha_bw": (2.5, 1.5),
}
"""Products with any number, bfloat16 and float32: half a unit for the product; as bfloat16 two for the number, which is
cut; as float32 one for its rounding, and half of one for that of its inverse, as not both can be just above 1."""
PASSED_ON: Final = frozenset(
    f"{name}_bw"
    for name in (
        *("abs", "add", "assign", "ceil", "clamp", "clip", "concat", "eq", "fill", "fill_zero", "floor", "frac"),
        *("ge", "gt", "hardshrink", "hardtanh", "le", "lt", "ne", "neg", "relu", "relu6", "round", "rsub", "sign"),
        *("softshrink", "sub", "threshold", "trunc", "where"),
    )
)
"""Gradients that are 0, or the incoming one with a sign: nothing is rounded."""
