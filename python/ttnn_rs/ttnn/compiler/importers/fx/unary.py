"""Functions of one tensor, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.importers.builder import element_of, scalar
from ttnn.compiler.importers.builder.types import is_bool, is_float
from ttnn.compiler.importers.fx.scope import Arguments, Row, Scope
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "formula", "sigmoid", "softplus"]


def _named(name: str) -> Row:
    """Return the row of an operation that TTIR has.

    Integers become floats where PyTorch makes them so.
    """

    def row(s: Scope, a: Arguments) -> SSAValue:
        made: SSAValue = s.b.op(name, s.cast(a.self, a.element))
        return made

    return row


def formula(function: Callable[..., SSAValue], *names: str) -> Row:
    """Return the row of a formula of floats, computed in float32.

    `names` are further arguments.
    """

    def row(s: Scope, a: Arguments) -> SSAValue:
        made = function(s, s.wide(a.self), *(getattr(a, one) for one in names))
        return s.cast(made, a.element)

    return row


def _exact(name: str, integer: Callable[[Scope, SSAValue], SSAValue]) -> Row:
    """Return the row of a function whose integers go another way."""

    def row(s: Scope, a: Arguments) -> SSAValue:
        value = s.cast(a.self, a.element)
        if not is_float(element_of(value)):
            return s.wrapped(integer(s, value), a.dtype)
        made: SSAValue = s.b.op(name, value)
        return made

    return row


def _same(s: Scope, x: SSAValue) -> SSAValue:
    del s
    return x


def _absolute(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.maximum(x, s.b.subtract(s.number(0, x), x))
    return made


def _sign(s: Scope, x: SSAValue) -> SSAValue:
    if is_bool(element_of(x)):
        return x
    zero, element = s.number(0, x), element_of(x)
    made: SSAValue = s.b.subtract(s.cast(s.b.gt(x, zero), element), s.cast(s.b.lt(x, zero), element))
    return made


def _negative(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.subtract(s.number(0, x), x)
    return made


def _relu(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.maximum(x, s.number(0, x))
    return made


def _square(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.multiply(x, x)
    return made


def sigmoid(s: Scope, x: SSAValue) -> SSAValue:
    """Return the logistic function."""
    made: SSAValue = s.b.sigmoid(x)
    return made


def _log_base(base: float) -> Callable[[Scope, SSAValue], SSAValue]:
    return lambda s, x: s.times(s.b.log(x), 1 / math.log(base))


def _sinh(s: Scope, x: SSAValue) -> SSAValue:
    grown = s.b.expm1(x)
    made: SSAValue = s.times(s.b.add(grown, s.b.div(grown, s.plus(grown, 1))), 0.5)
    return made


def _cosh(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.times(s.b.add(s.b.exp(x), s.b.exp(s.b.neg(x))), 0.5)
    return made


def _acosh(s: Scope, x: SSAValue) -> SSAValue:
    root = s.b.multiply(s.b.sqrt(s.plus(x, -1)), s.b.sqrt(s.plus(x, 1)))
    made: SSAValue = s.b.log(s.b.add(x, root))
    return made


def _atanh(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.times(s.b.subtract(s.b.log1p(x), s.b.log1p(s.b.neg(x))), 0.5)
    return made


def _elu(s: Scope, x: SSAValue, alpha: float, scale: float, input_scale: float) -> SSAValue:
    low = s.times(s.b.expm1(s.times(s.b.minimum(x, s.number(0, x)), input_scale)), alpha * scale)
    made: SSAValue = s.b.where(s.b.gt(x, s.number(0, x)), s.times(x, scale), low)
    return made


def _celu(s: Scope, x: SSAValue, alpha: float) -> SSAValue:
    return _elu(s, x, alpha, 1, 1 / alpha)


def _selu(s: Scope, x: SSAValue) -> SSAValue:
    return _elu(s, x, 1.6732632423543772, 1.0507009873554805, 1)


def softplus(s: Scope, x: SSAValue, beta: float = 1, threshold: float = 20) -> SSAValue:
    """Return log(1 + exp(beta x)) / beta, and x above the threshold."""
    z = s.times(x, beta)
    size = s.b.abs(z)
    soft = s.b.add(_relu(s, z), s.b.log1p(s.b.exp(s.b.neg(size))))
    made: SSAValue = s.b.where(s.b.gt(z, s.number(threshold, z)), x, s.times(soft, 1 / beta))
    return made


def _log_sigmoid(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.neg(softplus(s, s.b.neg(x), 1, math.inf))
    return made


def _log_sigmoid_forward(s: Scope, a: Arguments) -> list[SSAValue | None]:
    made = s.cast(_log_sigmoid(s, s.wide(a.self)), a.element)
    return [made, None if 1 not in a.used else s.splat(0, made, a.results[1].shape)]


def _hardswish(s: Scope, x: SSAValue) -> SSAValue:
    gate = s.b.clamp_scalar(s.plus(x, 3), min=0.0, max=6.0)
    made: SSAValue = s.times(s.b.multiply(x, gate), 1 / 6)
    return made


def _hardsigmoid(s: Scope, x: SSAValue) -> SSAValue:
    return s.times(s.b.clamp_scalar(s.plus(x, 3), min=0.0, max=6.0), 1 / 6)


def _hardtanh(s: Scope, x: SSAValue, low: float, high: float) -> SSAValue:
    made: SSAValue = s.b.minimum(s.b.maximum(x, s.number(low, x)), s.number(high, x))
    return made


def _leaky_relu(s: Scope, x: SSAValue, slope: float) -> SSAValue:
    made: SSAValue = s.b.where(s.b.gt(x, s.number(0, x)), x, s.times(x, slope))
    return made


def _mish(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.multiply(x, tanh(s, softplus(s, x)))
    return made


def _gelu(s: Scope, a: Arguments) -> SSAValue:
    if a.approximate != "tanh":
        made: SSAValue = s.b.gelu(a.self)
        return made
    x = s.wide(a.self)
    cube = s.b.multiply(x, s.b.multiply(x, x))
    inner = s.times(s.b.add(x, s.times(cube, 0.044715)), math.sqrt(2 / math.pi))
    made = s.times(s.b.multiply(x, s.plus(tanh(s, inner), 1)), 0.5)
    return s.cast(made, a.element)


def _erfc(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.erfc(x)
    return made


def _exp2(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.exp(s.times(x, math.log(2)))
    return made


def _fraction(s: Scope, x: SSAValue) -> SSAValue:
    made: SSAValue = s.b.subtract(x, s.truncated(x))
    return made


def _truncate(s: Scope, a: Arguments) -> SSAValue:
    return s.truncated(a.self) if is_float(a.element) else _same(s, a.self)


def tanh(s: Scope, x: SSAValue) -> SSAValue:
    """Return the hyperbolic tangent; of float32.

    As 1 - 2 / (exp(2x) + 1), as the chip's has 8 bits.
    """
    if element_of(x) != scalar("f32"):
        made: SSAValue = s.b.tanh(x)
        return made
    grown = s.plus(s.b.exp(s.times(x, 2)), 1)
    return s.one(s.b.subtract(s.number(1, x), s.b.div(s.number(2, x), grown)))


def _tanh(s: Scope, a: Arguments) -> SSAValue:
    return tanh(s, s.cast(a.self, a.element))


def _round(s: Scope, a: Arguments) -> SSAValue:
    """Import rounding to even.

    floor(x), one more above a half, and at a half if floor(x) is odd.
    """
    if not is_float(a.element):
        made: SSAValue = a.self
        return made
    b = s.b
    scale = 10.0 ** int(a.decimals or 0)
    x = s.times(s.wide(a.self), scale)
    low = b.floor(x)
    rest, half = b.subtract(x, low), s.times(low, 0.5)
    odd = b.ne(b.floor(half), half)
    middle = s.number(0.5, x)
    up = b.logical_or(b.gt(rest, middle), b.logical_and(b.eq(rest, middle), odd))
    return s.cast(s.times(b.where(up, s.plus(low, 1), low), 1 / scale), a.element)


def nan(s: Scope, x: SSAValue) -> SSAValue:
    """Return which elements are no numbers: neither finite nor infinite."""
    infinite = s.b.eq(s.b.abs(x), s.number(math.inf, x))
    made: SSAValue = s.b.logical_not(s.b.logical_or(s.b.isfinite(x), infinite))
    return made


def _isnan(s: Scope, a: Arguments) -> SSAValue:
    if not is_float(element_of(a.self)):
        made: SSAValue = s.splat(0, s.truth(a.self))
        return made
    return nan(s, a.self)


def _isinf(s: Scope, a: Arguments) -> SSAValue:
    if not is_float(element_of(a.self)):
        return s.splat(0, s.truth(a.self))
    made: SSAValue = s.b.eq(s.b.abs(a.self), s.number(math.inf, a.self))
    return made


def _isfinite(s: Scope, a: Arguments) -> SSAValue:
    if not is_float(element_of(a.self)):
        return s.splat(1, s.truth(a.self))
    made: SSAValue = s.b.isfinite(a.self)
    return made


def _logical_not(s: Scope, a: Arguments) -> SSAValue:
    made: SSAValue = s.b.logical_not(s.truth(a.self))
    return made


def _bitwise_not(s: Scope, a: Arguments) -> SSAValue:
    if is_bool(element_of(a.self)):
        return _logical_not(s, a)
    return s.wrapped(s.b.bitwise_not(a.self), a.dtype)


def _nan_to_num(s: Scope, a: Arguments) -> SSAValue:
    if not is_float(a.element):
        found: SSAValue = a.self
        return found
    import torch

    limits = torch.finfo(a.dtype)
    x, b = a.self, s.b
    limit = torch.finfo(torch.float32) if a.dtype == torch.float64 else limits
    high = limit.max if a.posinf is None else a.posinf
    low = limit.min if a.neginf is None else a.neginf
    made: SSAValue = b.where(b.eq(x, s.number(math.inf, x)), s.splat(high, x), x)
    made = b.where(b.eq(x, s.number(-math.inf, x)), s.splat(low, x), made)
    return s.one(b.where(nan(s, x), s.splat(a.nan or 0.0, x), made))


def _cast(s: Scope, a: Arguments) -> SSAValue:
    return s.to(a.self, a.dtype)


def _dropout(s: Scope, a: Arguments) -> SSAValue:
    from ttnn.compiler.importers.builder.steps import refuse

    del s
    if a.train and a.p:
        refuse("in training takes random numbers")
    made: SSAValue = a.input
    return made


def _sigmoid(s: Scope, a: Arguments) -> SSAValue:
    return sigmoid(s, s.cast(a.self, a.element))


_NAMED: Final = (
    "acos", "asin", "asinh", "atan", "cos", "erf", "erfc", "exp", "expm1", "log", "log1p", "reciprocal",
    "rsqrt", "silu", "sin", "sqrt", "tan",
)  # fmt: skip

_FORMULAS: Final[dict[str, Row]] = {
    "acosh": formula(_acosh),
    "atanh": formula(_atanh),
    "celu": formula(_celu, "alpha"),
    "cosh": formula(_cosh),
    "elu": formula(_elu, "alpha", "scale", "input_scale"),
    "hardsigmoid": formula(_hardsigmoid),
    "hardswish": formula(_hardswish),
    "leaky_relu": formula(_leaky_relu, "negative_slope"),
    "log10": formula(_log_base(10)),
    "log2": formula(_log_base(2)),
    "log_sigmoid": formula(_log_sigmoid),
    "mish": formula(_mish),
    "selu": formula(_selu),
    "sinh": formula(_sinh),
    "softplus": formula(softplus, "beta", "threshold"),
}


def _range(s: Scope, a: Arguments) -> SSAValue:
    low, high = (a.min_val, a.max_val) if "hardtanh" in str(a.operation) else (0, 6)
    return _hardtanh(s, a.self, low, high)


def _any_cast() -> dict[str, Any]:
    names = ("_to_copy", "to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as", "float", "double", "half")
    return {f"aten.{one}": _cast for one in names}


ROWS: Final[dict[str, Row]] = {
    **{f"aten.{name}": _named(name) for name in _NAMED},
    **{f"aten.{name}": row for name, row in _FORMULAS.items()},
    **{f"aten.{name}": _exact(name, _same) for name in ("ceil", "floor")},
    **_any_cast(),
    "aten.exp2": formula(_exp2),
    "aten.fix": _truncate,
    "aten.frac": formula(_fraction),
    "aten.tanh": _tanh,
    "aten.trunc": _truncate,
    "aten.abs": _exact("abs", _absolute),
    "aten.bitwise_not": _bitwise_not,
    "aten.dropout": _dropout,
    "aten.feature_dropout": _dropout,
    "aten.alpha_dropout": _dropout,
    "aten.gelu": _gelu,
    "aten.hardtanh": _range,
    "aten.isfinite": _isfinite,
    "aten.isinf": _isinf,
    "aten.isnan": _isnan,
    "aten.log_sigmoid_forward": _log_sigmoid_forward,
    "aten.logical_not": _logical_not,
    "aten.nan_to_num": _nan_to_num,
    "aten.neg": _exact("neg", _negative),
    "aten.positive": lambda s, a: _same(s, a.self),
    "aten.relu": _exact("relu", _relu),
    "aten.relu6": _range,
    "aten.round": _round,
    "aten.sigmoid": _sigmoid,
    "aten.sgn": _exact("sign", _sign),
    "aten.sign": _exact("sign", _sign),
    "aten.square": lambda s, a: s.wrapped(_square(s, a.self), a.dtype),
}
