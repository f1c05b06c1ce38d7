"""Complex numbers as pairs of float32.

The last dimension of a value has the real and the imaginary part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttnn.compiler.importers.builder import shape_of
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["ROWS", "compare", "elementwise", "pair", "parts"]


def parts(scope: Scope, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the real and the imaginary part of a pair."""
    shape = shape_of(value)
    found = []
    for i in range(2):
        begins, ends = [0] * len(shape), list(shape)
        begins[-1], ends[-1] = i, i + 1
        found.append(scope.reshape(scope.slice(value, begins, ends), shape[:-1]))
    return found[0], found[1]


def pair(scope: Scope, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """Return two parts as a pair."""
    shape = (*shape_of(real), 1)
    return scope.concat([scope.reshape(real, shape), scope.reshape(imaginary, shape)], len(shape) - 1)


def _multiply(scope: Scope, a: SSAValue, c: SSAValue) -> SSAValue:
    b = scope.b
    (ar, ai), (cr, ci) = parts(scope, a), parts(scope, c)
    real = b.subtract(b.multiply(ar, cr), b.multiply(ai, ci))
    return pair(scope, real, b.add(b.multiply(ar, ci), b.multiply(ai, cr)))


def _divide(scope: Scope, a: SSAValue, c: SSAValue) -> SSAValue:
    b = scope.b
    cr, ci = parts(scope, c)
    size = b.add(b.multiply(cr, cr), b.multiply(ci, ci))
    top = parts(scope, _multiply(scope, a, pair(scope, cr, b.neg(ci))))
    return pair(scope, b.div(top[0], size), b.div(top[1], size))


def _abs(scope: Scope, a: SSAValue) -> SSAValue:
    b = scope.b
    real, imaginary = (b.abs(one) for one in parts(scope, a))
    # Scaled by the larger part: squares of large numbers would overflow.
    large, small = b.maximum(real, imaginary), b.minimum(real, imaginary)
    zero = b.eq(large, scope.splat(0, large))
    share = b.div(small, b.where(zero, scope.splat(1, large), large))
    made: SSAValue = b.multiply(large, b.sqrt(b.add(b.multiply(share, share), scope.splat(1, share))))
    return made


def _exp(scope: Scope, a: SSAValue) -> SSAValue:
    b = scope.b
    real, imaginary = parts(scope, a)
    size = b.exp(real)
    return pair(scope, b.multiply(size, b.cos(imaginary)), b.multiply(size, b.sin(imaginary)))


def _conj(scope: Scope, a: SSAValue) -> SSAValue:
    real, imaginary = parts(scope, a)
    return pair(scope, real, scope.b.neg(imaginary))


_STEPS: Final[dict[str, Any]] = {
    "add": lambda scope, a, c: scope.b.add(a, c),
    "subtract": lambda scope, a, c: scope.b.subtract(a, c),
    "negate": lambda scope, a: scope.b.neg(a),
    "multiply": _multiply,
    "divide": _divide,
    "abs": _abs,
    "exponential": _exp,
    "conj": _conj,
}


def elementwise(scope: Scope, view: View, values: Sequence[SSAValue]) -> SSAValue:
    """Return the result of an elementwise operation on pairs."""
    step = _STEPS.get(view.name.partition(".")[2])
    if step is None:
        refuse("of complex numbers has no TTIR operation")
    made: SSAValue = step(scope, *values)
    return made


def compare(scope: Scope, word: str, values: Sequence[SSAValue]) -> SSAValue:
    """Return whether pairs are equal, or differ."""
    first, second = (parts(scope, one) for one in values)
    real, imaginary = (scope.b.op(word, a, c) for a, c in zip(first, second, strict=True))
    made: SSAValue = (scope.b.logical_and if word == "eq" else scope.b.logical_or)(real, imaginary)
    return made


def _part(index: int) -> Any:
    def row(scope: Scope, view: View) -> SSAValue:
        (value,) = scope.operands(view)
        if len(shape_of(value)) == len(shape_of(scope.type(view.types[0]))):
            # The operand is real already.
            return value if index == 0 else scope.splat(0, value)
        return parts(scope, value)[index]

    return row


def _complex(scope: Scope, view: View) -> SSAValue:
    return pair(scope, *scope.operands(view))


ROWS: Final = {
    "stablehlo.complex": _complex,
    "stablehlo.real": _part(0),
    "stablehlo.imag": _part(1),
}
