"""Largest errors of the gradients against their references, in ULP, over the seeded values of the tests.

Measured by `python tests/helpers/gradient_calls.py`; the errors bound the composition, every step of which rounds.
Those of float32 are the larger ones over operands of any bits and over operands that bfloat16 holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.golden import backward as gradients

LARGEST_ULP: Final[dict[str, tuple[float, float, float]]] = {
    "acos_bw": (1.64, 1.76, 1.12),
    "acosh_bw": (1.86, 2.14, 3.82),
    "addcdiv_bw": (2.43, 2.31, 2.26),
    "addcmul_bw": (0.5, 0.5, 0.574),
    "asin_bw": (2.03, 1.76, 0.861),
    "asinh_bw": (1.66, 1.75, 1.41),
    "atan2_bw": (4.41, 4.64, 4.7),
    "atan_bw": (2.64, 1.95, 1.29),
    "atanh_bw": (2.2, 2.31, 1.18),
    "bias_gelu_bw": (3.69, 119000, 1.14),
    "celu_bw": (1.59, 1.38, 37.1),
    "cos_bw": (1.35, 1.71, 0.99),
    "cosh_bw": (1.34, 2.44, 1.03),
    "deg2rad_bw": (2.22, 0.627, 0.508),
    "digamma_bw": (1.36, 4.33, 0.938),
    "div_bw": (2.39, 2.33, 1.47),
    "elu_bw": (1.55, 1.38, 11.6),
    "erf_bw": (8.24, 7.04, 1.33),
    "erfc_bw": (8.24, 7.04, 2.94),
    "erfinv_bw": (3.7, 13200, 1.53),
    "exp2_bw": (2.64, 2.19, 1.47),
    "exp_bw": (1.66, 1.51, 0.945),
    "expm1_bw": (1.66, 1.51, 0.945),
    "fmod_bw": (0, 0, 0.267),
    "gelu_bw": (3.45, 87200, 0.738),
    "hardsigmoid_bw": (1.34, 0.667, 0.534),
    "hardswish_bw": (2.01, 1480, 0.974),
    "hypot_bw": (2.59, 2.78, 1.7),
    "i0_bw": (1.34, 3.98, 0.871),
    "ldexp_bw": (3.01, 2.41, 1.39),
    "leaky_relu_bw": (1.76, 0.5, 0.281),
    "lerp_bw": (1.55, 1.43, 0.826),
    "lgamma_bw": (2.37, 2960, 0.743),
    "log10_bw": (2.24, 2.19, 1.06),
    "log1p_bw": (1.81, 2.03, 1.09),
    "log2_bw": (2.28, 1.94, 1.17),
    "log_bw": (1.34, 2.01, 1.34),
    "log_sigmoid_bw": (2.77, 2.68, 1.05),
    "logaddexp2_bw": (3.24, 2.7, 0),
    "logaddexp_bw": (4.59, 4.31, 0),
    "logit_bw": (2.32, 2.32, 1.6),
    "logiteps_bw": (2.32, 2.32, 2.29),
    "max_bw": (0, 0, 20.4),
    "min_bw": (0, 0, 20.4),
    "mul_bw": (0.5, 0.5, 0.608),
    "multigammaln_bw": (1.95, 6.76, 1.74),
    "polygamma_bw": (1.39, 6.49, 0.98),
    "pow_bw": (2.01, 2.27, 1.11),
    "rad2deg_bw": (0.67, 0.695, 0.601),
    "rdiv_bw": (1.78, 2.08, 2.77),
    "reciprocal_bw": (1.78, 2.08, 1.24),
    "remainder_bw": (0, 0, 0.267),
    "repeat_bw": (0.5, 1, 0.427),
    "rpow_bw": (1.56, 1.64, 1.05),
    "rsqrt_bw": (4.38, 4.86, 1.56),
    "selu_bw": (3.3, 51.6, 9.95),
    "sigmoid_bw": (14.3, 37.8, 0.66),
    "silu_bw": (2.27, 3.48, 1.4),
    "sin_bw": (1.35, 2.22, 1.17),
    "sinh_bw": (1.38, 2.17, 0.89),
    "softplus_bw": (2.66, 2.98, 47.8),
    "softsign_bw": (4.63, 3.73, 1.36),
    "sqrt_bw": (1.78, 2.15, 1.29),
    "square_bw": (0.5, 0.5, 0.608),
    "squared_difference_bw": (1.43, 1.43, 0.826),
    "tan_bw": (2.8, 4.15, 2.17),
    "tanh_bw": (2.17, 73600, 0.654),
    "tanhshrink_bw": (3.26, 6, 1.98),
    "xlogy_bw": (2.2, 2.14, 0.991),
}
"""bfloat16, float32; bfloat8_b in steps of the exponent that the largest value has."""

ABSOLUTE: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(("bias_gelu_bw", "gelu_bw", "hardswish_bw", "silu_bw"), gradients.size_of_grad),
    "multigammaln_bw": gradients.sum_of_terms,
    "repeat_bw": gradients.repeated_sizes,
}
"""What the errors refer to where terms cancel, instead of the gradient itself."""
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
