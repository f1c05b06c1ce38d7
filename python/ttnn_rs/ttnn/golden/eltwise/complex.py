"""Operators on complex tensors, and their gradients, in complex128.

Gradients follow PyTorch: that of a function f at z is grad times the conjugate of the derivative for analytic f.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


def _z(x: ArrayLike) -> Complex:
    return np.asarray(x, np.complex128)


def complex_tensor(real: ArrayLike, imag: ArrayLike) -> Complex:
    """Return real + i imag."""
    return np.asarray(real, np.float64) + 1j * np.asarray(imag, np.float64)


def complex_mul(a_real: ArrayLike, a_imag: ArrayLike, b_real: ArrayLike, b_imag: ArrayLike) -> tuple[Array, Array]:
    """Return a product's parts from its factors' parts."""
    product = complex_tensor(a_real, a_imag) * complex_tensor(b_real, b_imag)
    return product.real, product.imag


def real(x: ArrayLike, **_: Any) -> Array:
    """Return the real part."""
    part: Array = _z(x).real
    return part


def imag(x: ArrayLike, **_: Any) -> Array:
    """Return the imaginary part."""
    part: Array = _z(x).imag
    return part


def angle(x: ArrayLike, **_: Any) -> Array:
    """Return the angle to the positive real axis."""
    return np.asarray(np.angle(_z(x)), np.float64)


def is_real(x: ArrayLike, **_: Any) -> Array:
    """Return where the imaginary part is 0."""
    return np.equal(imag(x), 0.0).astype(np.float64)


def is_imag(x: ArrayLike, **_: Any) -> Array:
    """Return where the real part is 0."""
    return np.equal(real(x), 0.0).astype(np.float64)


def conj(x: ArrayLike, **_: Any) -> Complex:
    """Return the conjugate."""
    conjugate: Complex = np.conj(_z(x))
    return conjugate


def polar(x: ArrayLike, **_: Any) -> Complex:
    """Return magnitude (the real part) times e^(i angle) (the imaginary part)."""
    z = _z(x)
    product: Complex = z.real * np.exp(1j * z.imag)
    return product


def magnitude_times_the_angle_or_1(x: ArrayLike, **_: Any) -> Array:
    """Return the real part times the larger of imaginary part and 1.

    They are magnitude and angle.
    """
    z = _z(x)
    return np.abs(z.real) * np.maximum(np.abs(z.imag), 1.0)


def abs_(x: ArrayLike, **_: Any) -> Array:
    """Return the magnitude."""
    return np.asarray(np.abs(_z(x)), np.float64)


def reciprocal(x: ArrayLike, **_: Any) -> Complex:
    """Return 1 / x."""
    return 1.0 / _z(x)


def real_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return grad + 0i."""
    return [_z(grad)]


def imag_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return i grad."""
    return [1j * _z(grad)]


def conj_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return the conjugate of grad."""
    return [np.conj(_z(grad))]


def angle_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return i grad / conj(x)."""
    return [1j * _z(grad) / np.conj(_z(x))]


def polar_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return the gradients of magnitude and angle as one complex number."""
    z, g = _z(x), _z(grad)
    unit = np.exp(1j * z.imag)
    return [(np.conj(g) * unit * np.sign(z.real)).real + 1j * (np.conj(g) * 1j * z.real * unit).real]


def size_of_terms(grad: ArrayLike, x: ArrayLike, **_: Any) -> Complex:
    """Return both polar gradients' term sizes as a complex number.

    With the angle's growth.
    """
    z = _z(x)
    size = np.abs(_z(grad)) * np.maximum(np.abs(z.imag), 1.0)
    return np.asarray(size + 1j * size * np.abs(z.real), np.complex128)


def abs_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return grad x / |x|."""
    return [_z(grad) * _z(x) / np.abs(_z(x))]


def reciprocal_bw(grad: ArrayLike, x: ArrayLike, **_: Any) -> list[Complex]:
    """Return -grad conj(1 / x^2)."""
    return [-_z(grad) * np.conj(1.0 / _z(x) ** 2)]


def add_bw(grad: ArrayLike, a: ArrayLike, b: ArrayLike, alpha: float = 1.0, **_: Any) -> list[Complex]:
    """Gradients of a + alpha b."""
    return [_z(grad), alpha * _z(grad)]


def sub_bw(grad: ArrayLike, a: ArrayLike, b: ArrayLike, alpha: float = 1.0, **_: Any) -> list[Complex]:
    """Gradients of a - alpha b."""
    return [_z(grad), -alpha * _z(grad)]


def mul_bw(grad: ArrayLike, a: ArrayLike, b: ArrayLike, **_: Any) -> list[Complex]:
    """Gradients of a b."""
    return [_z(grad) * np.conj(_z(b)), _z(grad) * np.conj(_z(a))]


def div_bw(grad: ArrayLike, a: ArrayLike, b: ArrayLike, **_: Any) -> list[Complex]:
    """Gradients of a / b."""
    g, x, y = _z(grad), _z(a), _z(b)
    return [g / np.conj(y), -g * np.conj(x / y**2)]
