"""`ttnn.glu` and related operators: products of two halves."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of

SHAPE = (1, 2, 64, 128)
FLOATS = [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32]


def _tensor(device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16, seed: int = 0) -> ttnn.Tensor:
    return make(SHAPE, dtype, ttnn.TILE_LAYOUT, device, seed)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gated_units_are_products_of_their_halves(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = _tensor(device, dtype)
    a, b = x[:, :, :, :64], x[:, :, :, 64:]
    tanh = ttnn.GeluVariant.Tanh
    for result, gate in (
        (ttnn.glu(x), ttnn.sigmoid(b)),
        (ttnn.reglu(x, 3), ttnn.relu(b)),
        (ttnn.swiglu(x), ttnn.silu(b)),
        (ttnn.geglu(x), ttnn.gelu(b)),
        (ttnn.geglu(x, variant=tanh), ttnn.gelu(b, variant=tanh)),
    ):
        np.testing.assert_array_equal(raw_of(result), raw_of(ttnn.multiply(a, gate)))


def test_padding_belongs_to_the_halves(device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 64, 40), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    result = ttnn.reglu(x)
    assert result.shape == [1, 1, 64, 32]
    second = np.zeros((1, 1, 64, 32))
    second[..., :8] = values_of(x)[..., 32:]
    product = values_of(x)[..., :32] * np.maximum(second, 0)
    np.testing.assert_allclose(values_of(result), product, rtol=2**-8)
