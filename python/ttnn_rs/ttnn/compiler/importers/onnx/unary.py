"""Functions of one tensor, element by element."""

from __future__ import annotations

import math
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of
from ttnn.compiler.importers.builder.steps import refuse
from ttnn.compiler.importers.onnx.scope import Node, Row, Scope
from ttnn.compiler.importers.onnx.types import BOOL
from ttnn.compiler.importers.onnx.values import Value
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "activation"]


def _aten(name: str, **fixed: Any) -> Row:
    """Return the row of an operation of aten."""

    def row(s: Scope, a: Node) -> Any:
        return s.aten(name, a.dtype, a.shape(), self=a[0], **fixed)

    return row


def _slopes(name: str, **attributes: tuple[str, float]) -> Row:
    """Return the row of an operation of aten with numbers."""

    def row(s: Scope, a: Node) -> Any:
        given = {key: float(a.attribute(one, default)) for key, (one, default) in attributes.items()}
        return s.aten(name, a.dtype, a.shape(), self=a[0], **given)

    return row


def _elu(s: Scope, a: Node) -> Any:
    return s.aten("elu", a.dtype, self=a[0], alpha=float(a.attribute("alpha", 1.0)), scale=1, input_scale=1)


def _selu(s: Scope, a: Node) -> Any:
    alpha = float(a.attribute("alpha", 1.67326319217681884765625))
    gamma = float(a.attribute("gamma", 1.05070102214813232421875))
    return s.aten("elu", a.dtype, self=a[0], alpha=alpha, scale=gamma, input_scale=1)


def _hard_sigmoid(s: Scope, a: Node) -> Any:
    alpha, beta = float(a.attribute("alpha", 0.2)), float(a.attribute("beta", 0.5))
    made = s.b.clamp_scalar(s.plus(s.times(s.wide(a[0]), alpha), beta), min=0.0, max=1.0)
    return s.cast(made, element_of(a[0]))


def _softsign(s: Scope, a: Node) -> Any:
    x = s.wide(a[0])
    return s.cast(s.b.div(x, s.plus(s.b.abs(x), 1)), element_of(a[0]))


def _thresholded(s: Scope, a: Node) -> Any:
    x = a[0]
    return s.where(s.b.gt(x, s.number(float(a.attribute("alpha", 1.0)), x)), x, s.splat(0, x))


def _shrink(s: Scope, a: Node) -> Any:
    bias, limit = float(a.attribute("bias", 0.0)), float(a.attribute("lambd", 0.5))
    x, b = s.cast(a[0], element_of(a[0])), s.b
    low, high = b.lt(x, s.number(-limit, x)), b.gt(x, s.number(limit, x))
    inner = b.where(high, s.plus(x, -bias), s.splat(0, x))
    return s.one(b.where(low, s.plus(x, bias), inner))


def _swish(s: Scope, a: Node) -> Any:
    x = s.wide(a[0])
    gate = s.b.sigmoid(s.times(x, float(a.attribute("alpha", 1.0))))
    return s.cast(s.b.multiply(x, gate), element_of(a[0]))


def _softplus(s: Scope, a: Node) -> Any:
    return s.aten("softplus", a.dtype, self=a[0], beta=1, threshold=math.inf)


def _celu(s: Scope, a: Node) -> Any:
    return s.aten("celu", a.dtype, self=a[0], alpha=float(a.attribute("alpha", 1.0)))


def _gelu(s: Scope, a: Node) -> Any:
    return s.aten("gelu", a.dtype, self=a[0], approximate=a.attribute("approximate", "none"))


def _infinite(s: Scope, a: Node) -> Any:
    x, b = a[0], s.b
    signs = [sign for name, sign in (("detect_positive", 1), ("detect_negative", -1)) if a.attribute(name, 1)]
    found = [b.eq(x, s.number(sign * math.inf, x)) for sign in signs]
    if not found:
        return Value(BOOL, s.b.splat(0, a.shape(), element_of(b.eq(x, x))))
    return Value(BOOL, b.logical_or(*found) if len(found) == 2 else found[0])


def _nan(s: Scope, a: Node) -> Any:
    if a.dtype.name in ("float16", "bfloat16"):
        refuse(f"of {a.dtype.name} is lost when the chip reads bfloat16")
    return Value(BOOL, s.aten("isnan", a.dtype, self=a[0]))


def _not(s: Scope, a: Node) -> Any:
    return s.one(s.b.logical_not(a[0]))


def activation(s: Scope, name: str, x: SSAValue, alpha: float | None = None, beta: float | None = None) -> SSAValue:
    """Return an activation of recurrent nodes, by name.

    Args:
        s: The function.
        name: Its name.
        x: A tensor of float32.
        alpha: Its first number; None for the default.
        beta: Its second one.
    """
    from ttnn.compiler.importers.onnx.types import FLOAT

    named = {"sigmoid": "sigmoid", "tanh": "tanh", "relu": "relu"}
    kind = name.lower()
    made: SSAValue
    if kind in named:
        made = s.aten(named[kind], FLOAT, self=x)
    elif kind == "affine":
        made = s.plus(s.times(x, 1.0 if alpha is None else alpha), beta or 0.0)
    elif kind == "leakyrelu":
        made = s.aten("leaky_relu", FLOAT, self=x, negative_slope=0.01 if alpha is None else alpha)
    elif kind == "hardsigmoid":
        scaled = s.plus(s.times(x, 0.2 if alpha is None else alpha), 0.5 if beta is None else beta)
        made = s.b.clamp_scalar(scaled, min=0.0, max=1.0)
    elif kind == "elu":
        made = s.aten("elu", FLOAT, self=x, alpha=1.0 if alpha is None else alpha, scale=1, input_scale=1)
    elif kind == "softsign":
        made = s.b.div(x, s.plus(s.b.abs(x), 1))
    elif kind == "softplus":
        made = s.aten("softplus", FLOAT, self=x, beta=1, threshold=math.inf)
    else:
        refuse(f"has the activation {name}, which has no TTIR operation")
    return made


_NAMED: Final = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan",
    "Atanh": "atanh", "BitwiseNot": "bitwise_not", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf",
    "Exp": "exp", "Floor": "floor", "HardSwish": "hardswish", "Log": "log", "Mish": "mish", "Neg": "neg",
    "Reciprocal": "reciprocal", "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign",
    "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip

ROWS: Final[dict[tuple[str, str], Row]] = {
    **{("", name): _aten(word) for name, word in _NAMED.items()},
    ("", "Celu"): _celu,
    ("", "Elu"): _elu,
    ("", "Gelu"): _gelu,
    ("", "HardSigmoid"): _hard_sigmoid,
    ("", "IsInf"): _infinite,
    ("", "IsNaN"): _nan,
    ("", "LeakyRelu"): _slopes("leaky_relu", negative_slope=("alpha", 0.01)),
    ("", "Not"): _not,
    ("", "Selu"): _selu,
    ("", "Shrink"): _shrink,
    ("", "Softplus"): _softplus,
    ("", "Softsign"): _softsign,
    ("", "Swish"): _swish,
    ("", "ThresholdedRelu"): _thresholded,
    ("com.microsoft", "FastGelu"): lambda s, a: s.aten(
        "gelu", a.dtype, self=s.b.add(a[0], a[1]) if a.value(1) else a[0], approximate="tanh"
    ),
    ("com.microsoft", "Gelu"): _aten("gelu", approximate="none"),
    ("com.microsoft", "BiasGelu"): lambda s, a: s.aten("gelu", a.dtype, self=s.b.add(a[0], a[1]), approximate="none"),
    ("com.microsoft", "QuickGelu"): lambda s, a: s.cast(
        s.b.multiply(s.wide(a[0]), s.b.sigmoid(s.times(s.wide(a[0]), float(a.attribute("alpha", 1.702))))),
        element_of(a[0]),
    ),
}
