"""Random numbers: their values are those of the chip's generator."""

from __future__ import annotations

import math
from typing import Final

from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.builder.types import is_float, numpy_dtype
from ttnn.compiler.importers.stablehlo.scope import Scope, refuse
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.xdsl_adapter import Attribute, SSAValue

__all__ = ["ROWS", "uniform"]


def uniform(scope: Scope, type_: Attribute, low: float, high: float, seed: int = 0) -> SSAValue:
    """Return uniform random numbers."""
    made: SSAValue = scope.b.rand(size=list(shape_of(type_)), low=low, high=high, seed=seed, types=[type_])
    return made


def _rng(scope: Scope, view: View) -> SSAValue:
    first, second = (scope.splat_of(one) for one in scope.operands(view)[:2])
    type_ = scope.type(view.types[0])
    if first is None or second is None:
        refuse("with bounds that are no constants has no TTIR operation")
    if not is_float(element_of(type_)):
        refuse("of integers has no TTIR operation")
    if view.word("rng_distribution") != "NORMAL":
        return uniform(scope, type_, float(first), float(second))
    b = scope.b
    # Box and Muller; 1 - u is never zero.
    u, v = uniform(scope, type_, 0.0, 1.0, 1), uniform(scope, type_, 0.0, 1.0, 2)
    radius = b.sqrt(b.multiply(b.log(b.subtract(scope.splat(1, u), u)), scope.splat(-2, u)))
    wave = b.cos(b.multiply(v, scope.splat(2 * math.pi, v)))
    made: SSAValue = b.add(
        b.multiply(b.multiply(radius, wave), scope.splat(float(second), u)), scope.splat(float(first), u)
    )
    return made


def _bits(scope: Scope, view: View) -> list[SSAValue]:
    why = "has no TTIR operation; random bits are a host island"
    shape, element = shape_of(view.types[1]), element_of(view.types[1])
    return scope.island(
        view,
        "random_bits",
        scope.operands(view),
        why,
        algorithm=view.word("rng_algorithm"),
        shape="x".join(map(str, shape)),
        dtype=numpy_dtype(element).name,
    )


ROWS: Final = {"stablehlo.rng": _rng, "stablehlo.rng_bit_generator": _bits}
