"""Largest errors of the chip's algorithms over all 65,536 bfloat16 values, in ULP.

Measured by `python -m ttnn sweep` with default parameters: as bfloat16 through a 16-bit Dst, and as float32 through a
32-bit Dst. The figures are data: a test fails when an operator exceeds its figure.
"""

from __future__ import annotations

from typing import Final

LARGEST_ULP: Final[dict[str, tuple[float, float]]] = {
    "acos": (0.4999, 1.0663),
    "acosh": (1.4057, 1.21),
    "asin": (128, 1.5134),
    "asinh": (1.3216, 1.0172),
    "atan": (128, 1.7306),
    "atanh": (128, 2.0001),
    "cbrt": (0.507, 1.7166),
    "celu": (0.4998, 1.027),
    "cos": (0.5516, 42839.8),
    "cosh": (0.4998, 0.9637),
    "deg2rad": (0.9981, 0.5847),
    "digamma": (557299, 1.12042e11),
    "elu": (0.4998, 1.027),
    "erf": (1.0562, 3.9865),
    "erfc": (3.1877e28, 2.09919e33),
    "erfinv": (255.2334, 16727000),
    "exp2": (0.9395, 0.8387),
    "expm1": (0.4998, 0.8628),
    "gelu": (254.9337, 23872500),
    "hardmish": (1, 0.9981),
    "hardsigmoid": (1, 74.6667),
    "hardswish": (2.1421, 111.6667),
    "i0": (255.0465, 16777300),
    "i1": (246.3125, 16210300),
    "lgamma": (323.9023, 11510300),
    "log": (0.7804, 0.7508),
    "log10": (0.7847, 1.7934),
    "log1p": (0.9311, 0.8252),
    "log2": (0.7661, 1.25),
    "log_sigmoid": (6.3883, 425575),
    "logical_not": (0, 8388610),
    "logit": (64.0007, 12.0475),
    "mish": (244.8823, 16048700),
    "multigammaln": (1.6895, 46722.2),
    "rad2deg": (0.9921, 0.6625),
    "reciprocal": (0.4981, 0.6583),
    "round": (0, 0),
    "rsqrt": (0.4994, 15582800),
    "selu": (0.4996, 1.8489),
    "sigmoid": (0.8569, 2.1102),
    "sigmoid_accurate": (0.8569, 2.1102),
    "signbit": (0, 0),
    "silu": (244.8823, 16048700),
    "sin": (0.5517, 8192.5759),
    "sinh": (0.4998, 1.6632),
    "softplus": (255.8401, 7314.929),
    "softshrink": (1, 0.5),
    "softsign": (128, 8388610),
    "sqrt": (0.4996, 0.7513),
    "square": (0.5, 0),
    "swish": (244.8823, 16048700),
    "tan": (0.5513, 10550.2),
    "tanh": (128, 1.9558),
    "tanhshrink": (1.3399, 7.3595),
    "xielu": (0.5, 304.7647),
}

LARGEST_OPERAND: Final[dict[str, float]] = {
    "cos": 2.0**20,
    "lgamma": 2.0**20,
    "sin": 2.0**20,
    "softplus": 2.0**20,
    "tan": 2.0**20,
}
"""Where the figures of functions end that lose the argument's fraction beyond, or overflow on the way."""

LOWEST_OPERAND: Final[dict[str, float]] = {"multigammaln": 1.6015625}
"""Where the domain of functions begins."""
