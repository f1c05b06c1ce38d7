"""`ttnn.logit`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of, values_of


def test_logit_holds_its_operand(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.linspace(-1, 2, 4096).reshape(64, 64).astype(np.float32), ttnn.float32, device, ttnn.TILE_LAYOUT)
    held = ttnn.clamp(x, 0.125, 0.875)
    np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=0.125)), raw_of(ttnn.logit(held)))
    np.testing.assert_array_equal(raw_of(ttnn.logit(x, eps=-1.0)), raw_of(ttnn.logit(x)))


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("eps", [0.625, 0.875, 1.0])
def test_limits_that_have_changed_places(dtype: ttnn.DataType, eps: float, device: ttnn.MeshDevice) -> None:
    """All operands are clamped, with logits of opposite signs.

    Those below eps to eps, the others to 1 - eps.
    """
    x = ttnn.Tensor(np.linspace(-1, 2, 4096).reshape(64, 64).astype(np.float32), dtype, device, ttnn.TILE_LAYOUT)
    above = values_of(ttnn.logit(ttnn.full_like(x, 1.0), eps=eps))[0, 0]
    assert above == -np.inf if eps == 1.0 else above == pytest.approx(np.log((1 - eps) / eps), rel=2**-6)
    expected = np.where(values_of(x) < eps, -above, above)
    np.testing.assert_array_equal(values_of(ttnn.logit(x, eps=eps)), expected)
    into = ttnn.empty_like(x)
    assert ttnn.logit(x, eps=eps, output_tensor=into) is into
    np.testing.assert_array_equal(values_of(into), expected)
