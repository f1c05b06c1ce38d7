"""`ttnn.grid_sample`: points on pixels give pixels, others are mixed; outside lie zeros."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from operands import make, values_of
from ttnn.golden import pool as golden

ROWS = ttnn.ROW_MAJOR_LAYOUT


def _grid(points: np.ndarray, device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.float32) -> ttnn.Tensor:
    return ttnn.Tensor(points.astype(np.float32), dtype, None, ROWS).to(device)


def test_points_on_pixels(device: ttnn.MeshDevice) -> None:
    x = make((2, 5, 9, 64), ttnn.bfloat16, ROWS, device)
    rows, columns = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 9), indexing="ij")
    points = np.broadcast_to(np.stack([columns, rows], -1), (2, 5, 9, 2))
    result = ttnn.grid_sample(x, _grid(points, device), align_corners=True)
    np.testing.assert_array_equal(values_of(result), values_of(x))
    shifted = ttnn.grid_sample(x, _grid(points + 4, device), align_corners=True)
    assert not values_of(shifted).any()


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
def test_points_between_pixels(dtype: ttnn.DataType, align_corners: bool, device: ttnn.MeshDevice) -> None:
    x = make((2, 6, 7, 32), ttnn.bfloat16, ROWS, device)
    grid = _grid(np.random.default_rng(5).uniform(-1.3, 1.3, (2, 4, 11, 2)), device, dtype)
    result = ttnn.grid_sample(x, grid, align_corners=align_corners)
    expected = golden.grid_sample(values_of(x), values_of(grid), align_corners=align_corners)
    # Four weights are cut to 8 bits each, and the sum is rounded.
    np.testing.assert_allclose(values_of(result), expected, atol=5 * 2**-8 * np.abs(values_of(x)).max())
    assert np.corrcoef(values_of(result).ravel(), expected.ravel())[0, 1] > 0.9999


def test_what_does_not_fit(device: ttnn.MeshDevice) -> None:
    x, grid = make((2, 6, 7, 32), ttnn.bfloat16, ROWS, device), _grid(np.zeros((2, 3, 3, 2)), device)
    with pytest.raises(ttnn.UnsupportedError, match="nearest"):
        ttnn.grid_sample(x, grid, mode="nearest")
    with pytest.raises(ttnn.ParameterError, match="padding_mode"):
        ttnn.grid_sample(x, grid, padding_mode="border")
    with pytest.raises(ttnn.ShapeError, match="2 images"):
        ttnn.grid_sample(x, _grid(np.zeros((1, 3, 3, 2)), device))
    with pytest.raises(ttnn.LayoutError, match="tiled"):
        ttnn.grid_sample(ttnn.to_layout(x, ttnn.TILE_LAYOUT), grid)
