"""The elementwise operations of `ttir`, by the number of their inputs."""

from __future__ import annotations

__all__ = ["BINARY", "BROADCASTABLE", "TERNARY", "UNARY"]

UNARY = frozenset({
    "abs", "acos", "asin", "asinh", "atan", "bitcast_convert", "bitwise_not", "cbrt", "ceil", "cos", "erf",
    "erfc", "exp", "exp2", "expm1", "floor", "frac", "gelu", "hardsigmoid", "isfinite", "leaky_relu", "log",
    "log1p", "logical_not", "mish", "neg", "reciprocal", "relu", "relu6", "rsqrt", "sigmoid", "sign",
    "signbit", "silu", "sin", "softsign", "sqrt", "square", "tan", "tanh", "trunc", "typecast",
})  # fmt: skip
BINARY = frozenset({
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "ge", "gelu_bw", "gt", "le",
    "logical_and", "logical_left_shift", "logical_or", "logical_right_shift", "logical_xor", "lt", "maximum",
    "minimum", "multiply", "ne", "pow", "remainder", "right_shift", "subtract",
})  # fmt: skip
TERNARY = frozenset(["where"])

BROADCASTABLE = UNARY | BINARY | TERNARY
"""Operations whose inputs repeat themselves along dimensions of size one."""
