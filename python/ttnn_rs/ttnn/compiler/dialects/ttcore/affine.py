"""Affine maps on whole grids of points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr, AffineMap

__all__ = ["AffineExpr", "AffineMap", "constant", "dimensions", "evaluate", "floordiv", "mod", "strides", "times"]


def dimensions(rank: int) -> list[AffineExpr]:
    """Return d0, d1, ... of a map with `rank` dimensions."""
    return [AffineExpr.dimension(position) for position in range(rank)]


def constant(value: int) -> AffineExpr:
    """Return a constant expression."""
    return AffineExpr.constant(value)


def floordiv(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return a quotient, rounded down, whose divisor may be a symbol."""
    return AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, left, right)


def mod(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return a remainder, whose divisor may be a symbol."""
    return AffineBinaryOpExpr(AffineBinaryOpKind.Mod, left, right)


def times(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return a product, whose factors may both be symbols."""
    return AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, right)


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the row-major strides of a shape, in elements."""
    steps: list[int] = []
    step = 1
    for size in reversed(shape):
        steps.insert(0, step)
        step *= size
    return tuple(steps)


def evaluate(linear: AffineMap, shape: Sequence[int]) -> NDArray[np.int64]:
    """Return a map's results at all points of a shape.

    [*shape, number of results].
    """
    points = np.indices(tuple(shape), dtype=np.int64).reshape(len(shape), -1).T
    values = [linear.eval([int(value) for value in point], ()) for point in points]
    return np.array(values, dtype=np.int64).reshape(*shape, len(linear.results))
