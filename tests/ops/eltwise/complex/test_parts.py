"""Products of complex numbers whose parts are separate tensors."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn

MULTIPLY = ttnn.experimental.complex_mul


def _parts(shape: tuple[int, ...], device: ttnn.MeshDevice, dtype: ttnn.DataType, seed: int) -> list[ttnn.Tensor]:
    values = np.random.default_rng(seed).normal(size=(2, *shape)).astype(np.float32)
    return [ttnn.from_torch(part, dtype, layout=ttnn.TILE_LAYOUT, device=device) for part in values]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
@pytest.mark.parametrize("shape", [(), (31,), (33, 31), (2, 1, 32, 64)])
def test_bits_are_those_of_the_steps(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = _parts(shape, device, dtype, 1), _parts(shape, device, dtype, 2)
    expected = (
        ttnn.subtract(ttnn.multiply(a[0], b[0]), ttnn.multiply(a[1], b[1])),
        ttnn.add(ttnn.multiply(a[0], b[1]), ttnn.multiply(a[1], b[0])),
    )
    for found, part in zip(MULTIPLY(*a, *b), expected, strict=True):
        np.testing.assert_array_equal(ttnn.to_numpy(found), ttnn.to_numpy(part))


def test_complex_multiply_is_near_numpy(device: ttnn.MeshDevice) -> None:
    a, b = _parts((64, 96), device, ttnn.float32, 1), _parts((1, 96), device, ttnn.float32, 2)
    a_values, b_values = (ttnn.to_numpy(x[0]) + 1j * ttnn.to_numpy(x[1]) for x in (a, b))
    real, imag = (ttnn.to_numpy(part) for part in MULTIPLY(*a, *b))
    bound = 2.0**-8 * np.abs(a_values) * np.abs(b_values)
    assert np.all(np.abs(real + 1j * imag - a_values * b_values) <= bound)


def test_parts_of_different_shapes(device: ttnn.MeshDevice) -> None:
    a, b = _parts((32, 32), device, ttnn.bfloat16, 1), _parts((32, 64), device, ttnn.bfloat16, 2)
    with pytest.raises(ttnn.ShapeError, match="real part"):
        MULTIPLY(a[0], b[0], *a)
