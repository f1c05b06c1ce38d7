"""`ttnn.softmax`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of
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


def test_a_mask_repeats_down_a_part_of_the_heads(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(7)
    scores = rng.standard_normal((1, 1, 160, 64)).astype(np.float32)
    mask = np.where(rng.random((1, 1, 64, 64)) < 0.3, -1e5, 0).astype(np.float32)
    whole = np.concatenate([mask, mask, mask[..., :32, :]], 2)
    softmax_ = ttnn.scale_causal_mask_hw_dims_softmax_in_place
    found = []
    for dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b):
        for values in (mask, whole):
            x = ttnn.Tensor(scores, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
            m = ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)
            with (
                ttnn.manage_config("enable_comparison_mode", True),
                ttnn.manage_config("comparison_mode_should_raise_exception", True),
                ttnn.manage_config("comparison_mode_pcc", 0.999),
            ):
                found.append(raw_of(softmax_(x, 0.5, m)))
        np.testing.assert_array_equal(found[-1], found[-2])
    # The largest of a face row keeps its bits: 0 and -1e5 are as exact in block floats, up to the scale of the latter.
    np.testing.assert_array_equal(found[0] > 0, found[-1] > 0)
