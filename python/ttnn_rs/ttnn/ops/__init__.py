"""Operators, one file per family. Importing this package registers all of them."""

from __future__ import annotations

from ttnn.ops.creation.functions import arange, empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like
from ttnn.ops.data_movement.functions import pad, permute, slice, transpose
from ttnn.ops.data_movement.layout import (
    tilize,
    tilize_with_val_padding,
    tilize_with_zero_padding,
    to_layout,
    untilize,
    untilize_with_unpadding,
)
from ttnn.ops.data_movement.placement import (
    assign,
    clone,
    copy,
    interleaved_to_sharded,
    move,
    reshard,
    sharded_to_interleaved,
    to_memory_config,
)
from ttnn.ops.data_movement.reshape import reshape, squeeze, unsqueeze, unsqueeze_to_4D, view
from ttnn.ops.eltwise.binary import add, add_, mul, mul_, multiply, multiply_, rsub, sub, sub_, subtract, subtract_
from ttnn.ops.eltwise.unary.chain import exp, identity, relu
from ttnn.ops.eltwise.unary.typecast import typecast
from ttnn.ops.matmul.addmm import addmm
from ttnn.ops.matmul.operator import linear, matmul
from ttnn.ops.normalization.softmax import softmax
from ttnn.ops.reduction.argmax import argmax
from ttnn.ops.reduction.functions import max, mean, min, sum
from ttnn.ops.reduction.prod import prod

__all__ = [
    "add",
    "add_",
    "addmm",
    "arange",
    "argmax",
    "assign",
    "clone",
    "copy",
    "empty",
    "empty_like",
    "exp",
    "full",
    "full_like",
    "identity",
    "interleaved_to_sharded",
    "linear",
    "matmul",
    "max",
    "mean",
    "min",
    "move",
    "mul",
    "mul_",
    "multiply",
    "multiply_",
    "ones",
    "ones_like",
    "pad",
    "permute",
    "prod",
    "relu",
    "reshape",
    "reshard",
    "rsub",
    "sharded_to_interleaved",
    "slice",
    "softmax",
    "squeeze",
    "sub",
    "sub_",
    "subtract",
    "subtract_",
    "sum",
    "tilize",
    "tilize_with_val_padding",
    "tilize_with_zero_padding",
    "to_layout",
    "to_memory_config",
    "transpose",
    "typecast",
    "unsqueeze",
    "unsqueeze_to_4D",
    "untilize",
    "untilize_with_unpadding",
    "view",
    "zeros",
    "zeros_like",
]
