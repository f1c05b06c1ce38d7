"""`ttnn.moe` against its reference."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moe as golden

TILES = ttnn.TILE_LAYOUT


def _mask(kept: int, width: int, device: ttnn.MeshDevice) -> ttnn.Tensor:
    values = np.where(np.arange(width) < kept, 0.0, -np.inf).astype(np.float32)
    return ttnn.Tensor(values.reshape(1, 1, 1, width), ttnn.bfloat16, None, TILES).to(device)


@pytest.mark.parametrize("chosen", [2, 32])
@pytest.mark.parametrize("width", [64, 128])
def test_moe_returns_the_share_of_the_first_expert(width: int, chosen: int, device: ttnn.MeshDevice) -> None:
    # Scores that differ, so that the order of equal ones does not count.
    scores = np.stack([np.random.default_rng(row).permutation(width) / 16 for row in range(32)]).astype(np.float32)
    x = ttnn.Tensor(scores.reshape(1, 1, 32, width), ttnn.bfloat16, None, TILES).to(device)
    masks = _mask(8 if chosen == 2 else width, width, device), _mask(chosen, 32, device)
    result = ttnn.moe(x, *masks, 32)
    expected = golden.moe(values_of(x), *map(values_of, masks))
    assert result.shape == [1, 1, 32, 1]
    assert expected.any()
    np.testing.assert_allclose(values_of(result), expected, atol=0.02)
    np.testing.assert_array_equal(values_of(result) == 0, expected == 0)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x, topk_mask = make((1, 1, 32, 64), ttnn.bfloat16, TILES, device), _mask(2, 32, device)
    with pytest.raises(ttnn.ShapeError, match=r"topk_mask_tensor has shape \[1, 1, 32, 64\]"):
        ttnn.moe(x, x, x)
    with pytest.raises(ttnn.ParameterError, match="k is 4"):
        ttnn.moe(x, _mask(64, 64, device), topk_mask, 4)
    with pytest.raises(ttnn.ShapeError, match="power of two"):
        ttnn.moe(make((1, 1, 32, 96), ttnn.bfloat16, TILES, device), _mask(96, 96, device), topk_mask)
