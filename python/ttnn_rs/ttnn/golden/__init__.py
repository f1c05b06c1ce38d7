"""Reference functions in float64: what an operator means, without the formats and steps of the chip.

Every function takes numpy arrays and the operator's own options and returns float64 (or integers, for indices). Nothing
here imports the engine. The distance that an operator may keep to these functions is stated in its registry entry.
"""

from __future__ import annotations

from ttnn.golden.creation import arange, full, full_like, ones, ones_like, zeros, zeros_like
from ttnn.golden.elementwise import add, chained, exp, identity, multiply, relu, rsub, subtract
from ttnn.golden.matmul import addmm
from ttnn.golden.movement import pad, permute, reshape, slice_, squeeze, transpose, unsqueeze, unsqueeze_to_4d
from ttnn.golden.reduction import max_, mean, mean_of_magnitudes, min_, prod, sum_, sum_of_magnitudes
from ttnn.golden.rows import argmax, softmax

__all__ = [
    "add",
    "addmm",
    "arange",
    "argmax",
    "chained",
    "exp",
    "full",
    "full_like",
    "identity",
    "max_",
    "mean",
    "mean_of_magnitudes",
    "min_",
    "multiply",
    "ones",
    "ones_like",
    "pad",
    "permute",
    "prod",
    "relu",
    "reshape",
    "rsub",
    "slice_",
    "softmax",
    "squeeze",
    "subtract",
    "sum_",
    "sum_of_magnitudes",
    "transpose",
    "unsqueeze",
    "unsqueeze_to_4d",
    "zeros",
    "zeros_like",
]
