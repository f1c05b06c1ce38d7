"""Operators on complex tensors, their references, operands and comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import ttnn
from testkit.operands import MANTISSA_BITS, make, values_of
from ttnn.golden.eltwise import complex as golden

ONE: dict[str, tuple[Callable[..., Any], bool]] = {
    "real": (golden.real, True),
    "imag": (golden.imag, True),
    "angle": (golden.angle, False),
    "is_real": (golden.is_real, True),
    "is_imag": (golden.is_imag, True),
    "conj": (golden.conj, True),
    "polar": (golden.polar, False),
    "abs": (golden.abs_, False),
    "reciprocal": (golden.reciprocal, False),
}
"""Operators on one complex tensor, their references, and whether they are exact."""

GRADIENTS: dict[str, tuple[Callable[..., Any], bool]] = {
    "real_bw": (golden.real_bw, False),
    "imag_bw": (golden.imag_bw, False),
    "angle_bw": (golden.angle_bw, False),
    "abs_bw": (golden.abs_bw, False),
    "conj_bw": (golden.conj_bw, True),
    "polar_bw": (golden.polar_bw, True),
    "reciprocal_bw": (golden.reciprocal_bw, True),
}
"""Their gradients, references, and whether the result's gradient is complex."""

TWO: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "add_bw": (golden.add_bw, (0.5,)),
    "sub_bw": (golden.sub_bw, (0.5,)),
    "mul_bw": (golden.mul_bw, ()),
    "div_bw": (golden.div_bw, ()),
}

LARGEST_STEPS = 1.5
"""Every result is within few ULP of the largest magnitude.

Measured, div_bw has 1.497.
"""


def away_from_zero(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values of magnitude 1/2 to 2 that bfloat16 holds."""
    held = np.sign(values) * np.clip(np.abs(values), 0.5, 2.0)
    words = np.ascontiguousarray(held, np.float32).view(np.uint32)
    return (words & np.uint32(0xFFFF0000)).view(np.float32)


def part(
    shape: tuple[int, ...],
    seed: int,
    device: ttnn.MeshDevice,
    dtype: ttnn.DataType = ttnn.bfloat16,
    memory_config: ttnn.MemoryConfig | None = None,
) -> ttnn.Tensor:
    return make(shape, dtype, ttnn.TILE_LAYOUT, device, seed, memory_config, away_from_zero)


def number(
    shape: tuple[int, ...],
    seed: int,
    device: ttnn.MeshDevice,
    dtype: ttnn.DataType = ttnn.bfloat16,
    memory_config: ttnn.MemoryConfig | None = None,
) -> ttnn.ComplexTensor:
    return ttnn.complex_tensor(
        part(shape, seed, device, dtype, memory_config), part(shape, seed + 100, device, dtype, memory_config)
    )


def value_of(x: ttnn.Tensor | ttnn.ComplexTensor) -> Any:
    return values_of(x) if isinstance(x, ttnn.Tensor) else values_of(x.real) + 1j * values_of(x.imag)


def close(result: ttnn.Tensor | ttnn.ComplexTensor, reference: Any, dtype: ttnn.DataType, exact: bool = False) -> None:
    got = value_of(result)
    assert got.shape == np.shape(reference)
    assert isinstance(result, ttnn.ComplexTensor) == np.iscomplexobj(reference)
    if exact:
        np.testing.assert_array_equal(got, reference)
        return
    unit = float(np.max(np.abs(reference), initial=0.0)) * 2.0 ** -MANTISSA_BITS[dtype]
    assert np.max(np.abs(got - reference), initial=0.0) <= LARGEST_STEPS * unit
