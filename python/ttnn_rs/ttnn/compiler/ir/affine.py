"""Affine expressions, simplified at construction, in MLIR's printed form.

Printed with the parentheses that MLIR prints.

Source: MLIR language reference, "Affine Expressions" and the builtin dialect, "Affine Map".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import gcd

from ttnn.compiler.ir.xdsl_adapter import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

__all__ = [
    "add",
    "affine_expression",
    "affine_text",
    "ceildiv",
    "constant",
    "dim",
    "floordiv",
    "mod",
    "mul",
    "set_text",
    "symbol",
]

_Kind = AffineBinaryOpKind
_TOKENS = {_Kind.Add: "+", _Kind.Mul: "*", _Kind.Mod: "mod", _Kind.FloorDiv: "floordiv", _Kind.CeilDiv: "ceildiv"}


def constant(value: int) -> AffineExpr:
    """Return a constant."""
    return AffineConstantExpr(value)


def dim(position: int) -> AffineExpr:
    """Return dimension d`position`."""
    return AffineDimExpr(position)


def symbol(position: int) -> AffineExpr:
    """Return symbol s`position`."""
    return AffineSymExpr(position)


def _symbolic(expression: AffineExpr) -> bool:
    """Return whether only constants and symbols occur."""
    if isinstance(expression, AffineBinaryOpExpr):
        return _symbolic(expression.lhs) and _symbolic(expression.rhs)
    return not isinstance(expression, AffineDimExpr)


def _divisor(expression: AffineExpr) -> int:
    """Return an expression's largest known divisor; 0 for constant 0."""
    if isinstance(expression, AffineConstantExpr):
        return abs(expression.value)
    if isinstance(expression, AffineBinaryOpExpr):
        left, right = _divisor(expression.lhs), _divisor(expression.rhs)
        if expression.kind is _Kind.Mul:
            return left * right
        if expression.kind in (_Kind.Add, _Kind.Mod):
            return gcd(left, right)
        if isinstance(expression.rhs, AffineConstantExpr) and expression.rhs.value > 0 and left % right == 0:
            return left // right
    return 1


def _split(expression: AffineExpr) -> tuple[AffineExpr, int]:
    """Return the factor and the coefficient of a term."""
    if (
        isinstance(expression, AffineBinaryOpExpr)
        and expression.kind is _Kind.Mul
        and isinstance(expression.rhs, AffineConstantExpr)
    ):
        return expression.lhs, expression.rhs.value
    return expression, 1


def add(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return left + right; constants go to the right, equal terms are joined."""
    if isinstance(left, AffineConstantExpr) and isinstance(right, AffineConstantExpr):
        return constant(left.value + right.value)
    if isinstance(left, AffineConstantExpr) or (_symbolic(left) and not _symbolic(right)):
        left, right = right, left
    if isinstance(right, AffineConstantExpr):
        if right.value == 0:
            return left
        if isinstance(left, AffineBinaryOpExpr) and left.kind is _Kind.Add and isinstance(left.rhs, AffineConstantExpr):
            return add(left.lhs, constant(left.rhs.value + right.value))
    (left_factor, left_by), (right_factor, right_by) = _split(left), _split(right)
    if left_factor == right_factor:
        return mul(left_factor, constant(left_by + right_by))
    if isinstance(left, AffineBinaryOpExpr) and left.kind is _Kind.Add and isinstance(left.rhs, AffineConstantExpr):
        return add(add(left.lhs, right), left.rhs)
    return AffineBinaryOpExpr(_Kind.Add, left, right)


def mul(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return left * right; one of them is symbolic."""
    if isinstance(left, AffineConstantExpr) and isinstance(right, AffineConstantExpr):
        return constant(left.value * right.value)
    if isinstance(left, AffineConstantExpr) or (_symbolic(left) and not _symbolic(right)):
        left, right = right, left
    if isinstance(right, AffineConstantExpr):
        if right.value == 1:
            return left
        if right.value == 0:
            return right
        if isinstance(left, AffineBinaryOpExpr) and left.kind is _Kind.Mul and isinstance(left.rhs, AffineConstantExpr):
            return mul(left.lhs, constant(left.rhs.value * right.value))
    return AffineBinaryOpExpr(_Kind.Mul, left, right)


def floordiv(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return left divided by right, rounded towards minus infinity."""
    if isinstance(right, AffineConstantExpr) and right.value > 0:
        by = right.value
        if isinstance(left, AffineConstantExpr):
            return constant(left.value // by)
        if by == 1:
            return left
        factor, coefficient = _split(left)
        if coefficient != 1 and coefficient % by == 0:
            return mul(factor, constant(coefficient // by))
        if (
            isinstance(left, AffineBinaryOpExpr)
            and left.kind is _Kind.Add
            and (_divisor(left.lhs) % by == 0 or _divisor(left.rhs) % by == 0)
        ):
            return add(floordiv(left.lhs, right), floordiv(left.rhs, right))
    return AffineBinaryOpExpr(_Kind.FloorDiv, left, right)


def ceildiv(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return left divided by right, rounded towards plus infinity."""
    if isinstance(right, AffineConstantExpr) and right.value > 0:
        if isinstance(left, AffineConstantExpr):
            return constant(-(-left.value // right.value))
        if right.value == 1:
            return left
        factor, coefficient = _split(left)
        if coefficient != 1 and coefficient % right.value == 0:
            return mul(factor, constant(coefficient // right.value))
    return AffineBinaryOpExpr(_Kind.CeilDiv, left, right)


def mod(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Return the remainder of the floor division of left by right."""
    if isinstance(right, AffineConstantExpr) and right.value > 0:
        by = right.value
        if isinstance(left, AffineConstantExpr):
            return constant(left.value % by)
        if _divisor(left) % by == 0:
            return constant(0)
        if isinstance(left, AffineBinaryOpExpr):
            if left.kind is _Kind.Add:
                if _divisor(left.lhs) % by == 0:
                    return mod(left.rhs, right)
                if _divisor(left.rhs) % by == 0:
                    return mod(left.lhs, right)
            if left.kind is _Kind.Mod and isinstance(left.rhs, AffineConstantExpr) and left.rhs.value % by == 0:
                return mod(left.lhs, right)
    return AffineBinaryOpExpr(_Kind.Mod, left, right)


def affine_expression(expression: AffineExpr, *, inner: bool = False) -> str:
    """Return an expression's text.

    `inner`: in parentheses if it has an operator.
    """
    if isinstance(expression, AffineConstantExpr):
        return str(expression.value)
    if isinstance(expression, AffineDimExpr):
        return f"d{expression.position}"
    if isinstance(expression, AffineSymExpr):
        return f"s{expression.position}"
    assert isinstance(expression, AffineBinaryOpExpr)
    left, right = expression.lhs, expression.rhs
    if expression.kind is not _Kind.Add:
        negated = expression.kind is _Kind.Mul and isinstance(right, AffineConstantExpr) and right.value == -1
        if negated:
            text = f"-{affine_expression(left, inner=True)}"
        else:
            operator = _TOKENS[expression.kind]
            text = f"{affine_expression(left, inner=True)} {operator} {affine_expression(right, inner=True)}"
    else:
        text = _sum(left, right)
    return f"({text})" if inner else text


def _sum(left: AffineExpr, right: AffineExpr) -> str:
    """Return the text of a sum; negative terms are subtracted."""
    if isinstance(right, AffineBinaryOpExpr) and right.kind is _Kind.Mul:
        factor = right.rhs
        if isinstance(factor, AffineConstantExpr) and factor.value == -1:
            grouped = isinstance(right.lhs, AffineBinaryOpExpr) and right.lhs.kind is _Kind.Add
            return f"{affine_expression(left)} - {affine_expression(right.lhs, inner=grouped)}"
        if isinstance(factor, AffineConstantExpr) and factor.value < -1:
            return f"{affine_expression(left)} - {affine_expression(right.lhs, inner=True)} * {-factor.value}"
    if isinstance(right, AffineConstantExpr) and right.value < 0:
        return f"{affine_expression(left)} - {-right.value}"
    return f"{affine_expression(left)} + {affine_expression(right)}"


def _space(dims: int, symbols: int) -> str:
    text = "(" + ", ".join(f"d{i}" for i in range(dims)) + ")"
    return text + ("[" + ", ".join(f"s{i}" for i in range(symbols)) + "]" if symbols else "")


@lru_cache(maxsize=4096)
def affine_text(map: AffineMap) -> str:
    """Return the text of a map, for example `(d0, d1) -> (d0 * 64 + d1)`."""
    results = ", ".join(affine_expression(result) for result in map.results)
    return f"{_space(map.num_dims, map.num_symbols)} -> ({results})"


def set_text(integer_set: AffineSet) -> str:
    """Return the text of an integer set, for example `(d0) : (d0 - 10 >= 0)`."""
    constraints: Iterable[str] = (
        f"{affine_expression(one.lhs)} {one.kind.value} {affine_expression(one.rhs)}" for one in integer_set.constraints
    )
    return f"{_space(integer_set.num_dims, integer_set.num_symbols)} : ({', '.join(constraints)})"
