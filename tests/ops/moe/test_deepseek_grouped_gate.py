"""`ttnn.experimental.deepseek_grouped_gate` against its reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moe as golden

TILES = ttnn.TILE_LAYOUT
ROUNDINGS = 12
"""Roundings in bfloat16: sigmoid, sum, packing, inverse, matmul phases.

There are four phases of each of two products.
"""


def _apart(shape: tuple[int, ...], device: ttnn.MeshDevice) -> Any:
    """Return a bias whose elements differ by more than what bfloat16 loses."""
    rows = np.prod(shape[:-1], dtype=int)
    steps = np.stack([np.random.default_rng(row).permutation(256) / 16 for row in range(rows)])
    return ttnn.Tensor(steps.astype(np.float32).reshape(shape), ttnn.bfloat16, None, TILES).to(device)


@pytest.mark.parametrize("shape", [(1, 1, 32, 256), (2, 3, 5, 256), (40, 256)])
def test_grouped_gate_returns_experts_and_shares(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    scores = ttnn.multiply(make(shape, ttnn.bfloat16, TILES, device), 0.01)
    bias = _apart(shape, device)
    shares, experts = ttnn.experimental.deepseek_grouped_gate(scores, bias, route_scale=2.5)
    assert (shares.dtype, experts.dtype) == (ttnn.bfloat16, ttnn.uint16)
    assert tuple(shares.shape) == tuple(experts.shape) == (*shape[:-1], 8)
    expected, numbers = golden.deepseek_grouped_gate(values_of(scores), values_of(bias), route_scale=2.5)
    # Sums of two may be equal, and then groups are exchanged.
    same = (np.sort(values_of(experts)) == np.sort(numbers)).all(axis=-1)
    assert same.mean() > 0.8
    np.testing.assert_allclose(values_of(shares)[same], expected[same], rtol=ROUNDINGS * 2**-8)
    # Shares add up to the factor.
    np.testing.assert_allclose(values_of(shares).sum(axis=-1), 2.5, rtol=ROUNDINGS * 2**-8)
    # Experts come from four groups, and none comes twice.
    for row in values_of(experts).reshape(-1, 8):
        assert len(set(row // 32)) <= 4
        assert len(set(row)) == 8


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    gate = ttnn.experimental.deepseek_grouped_gate
    x = make((1, 1, 32, 256), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.ParameterError, match="topk_groups must be 4 at the moment"):
        gate(x, x, topk_groups=2)
    with pytest.raises(ttnn.ShapeError, match="Experts must be 256"):
        gate(*[make((1, 1, 32, 128), ttnn.bfloat16, TILES, device)] * 2)
    with pytest.raises(ttnn.ShapeError, match="must have the same shape"):
        gate(x, make((1, 1, 64, 256), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.DTypeError, match="Bias tensor must be BFLOAT16"):
        gate(x, make((1, 1, 32, 256), ttnn.float32, TILES, device))
