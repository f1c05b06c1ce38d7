"""`ttnn.softmax`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, raw_of, values_of
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


def test_a_causal_mask_repeats_over_heads_below_each_other(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(6)
    scores = rng.standard_normal((2, 1, 128, 64)).astype(np.float32)
    mask = np.where(rng.random((2, 1, 64, 64)) < 0.3, -np.inf, 0).astype(np.float32)
    whole = np.concatenate([mask, mask], 2)
    found = []
    for values in (mask, whole):
        x, m = (ttnn.Tensor(a, ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for a in (scores, values))
        found.append(raw_of(ttnn.scale_mask_softmax_in_place(x, 0.5, m, is_causal_mask=True)))
    np.testing.assert_array_equal(*found)
    x, m = (ttnn.Tensor(a, ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for a in (scores, mask[..., :48, :]))
    with pytest.raises(ttnn.ShapeError, match="or full tiles that repeat to as many"):
        ttnn.scale_mask_softmax_in_place(x, 0.5, m, is_causal_mask=True)
