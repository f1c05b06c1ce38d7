"""Complex tensors: two real tensors of one shape, and operators made of those on real tensors."""

from __future__ import annotations

from ttnn.ops.eltwise.complex.backward import angle_bw, conj_bw, imag_bw, polar_bw, real_bw
from ttnn.ops.eltwise.complex.tensor import ComplexTensor, complex_tensor
from ttnn.ops.eltwise.complex.unary import angle, conj, imag, is_imag, is_real, polar, real

__all__ = [
    "ComplexTensor",
    "angle",
    "angle_bw",
    "complex_tensor",
    "conj",
    "conj_bw",
    "imag",
    "imag_bw",
    "is_imag",
    "is_real",
    "polar",
    "polar_bw",
    "real",
    "real_bw",
]
