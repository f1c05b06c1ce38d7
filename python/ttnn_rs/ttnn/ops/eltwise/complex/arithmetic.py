"""Arithmetic on complex tensors, as steps on their parts.

Sums, differences, products, quotients and reciprocals.

The order of the steps is that of the official composition; every step rounds.
"""

from __future__ import annotations

from ttnn.ops.backward.forward import Forward
from ttnn.ops.eltwise.complex.tensor import ComplexTensor


def add(do: Forward, a: ComplexTensor, b: ComplexTensor) -> ComplexTensor:
    """Return a + b."""
    return ComplexTensor((do.add(a.real, b.real), do.add(a.imag, b.imag)))


def subtract(do: Forward, a: ComplexTensor, b: ComplexTensor) -> ComplexTensor:
    """Return a - b."""
    return ComplexTensor((do.subtract(a.real, b.real), do.subtract(a.imag, b.imag)))


def multiply(do: Forward, a: ComplexTensor, b: ComplexTensor) -> ComplexTensor:
    """Return a b."""
    real = do.subtract(do.multiply(a.real, b.real), do.multiply(a.imag, b.imag))
    imag = do.add(do.multiply(a.real, b.imag), do.multiply(a.imag, b.real))
    return ComplexTensor((real, imag))


def reciprocal(do: Forward, x: ComplexTensor) -> ComplexTensor:
    """Return 1 / x, the conjugate over the squared magnitude."""
    inverse = do.reciprocal(do.add(do.square(x.real), do.square(x.imag)))
    return ComplexTensor((do.multiply(x.real, inverse), do.multiply(do.neg(x.imag), inverse)))


def divide(do: Forward, a: ComplexTensor, b: ComplexTensor) -> ComplexTensor:
    """Return a / b."""
    return multiply(do, a, reciprocal(do, b))


def conj(do: Forward, x: ComplexTensor) -> ComplexTensor:
    """Return the conjugate."""
    return ComplexTensor((do.passed_on(x.real), do.neg(x.imag)))


def negative(do: Forward, x: ComplexTensor) -> ComplexTensor:
    """Return -x."""
    return ComplexTensor((do.neg(x.real), do.neg(x.imag)))


def scaled(do: Forward, x: ComplexTensor, factor: float) -> ComplexTensor:
    """Return x times a real number."""
    return ComplexTensor((do.multiply(x.real, factor), do.multiply(x.imag, factor)))


def polar(do: Forward, x: ComplexTensor) -> ComplexTensor:
    """Return the number of a magnitude and an angle.

    They are the real and the imaginary part of `x`.
    """
    return ComplexTensor((do.multiply(x.real, do.cos(x.imag)), do.multiply(x.real, do.sin(x.imag))))
