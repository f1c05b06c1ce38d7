"""`ttnn.softmax`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, values_of
from ttnn.golden.normalization import softmax


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b])
def test_softmax_of_rows(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    x = make((2, 3, 33, 70), dtype, ttnn.TILE_LAYOUT, device)
    y = ttnn.softmax(x, dim=-1)
    np.testing.assert_allclose(values_of(y).sum(-1), 1.0, rtol=0.06)
    assert y.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True
    )
    exact = values_of(ttnn.softmax(x, compute_kernel_config=config, memory_config=ttnn.L1_MEMORY_CONFIG))
    reference = softmax(values_of(x))
    assert np.abs(exact - reference).max() <= np.abs(values_of(y) - reference).max()
