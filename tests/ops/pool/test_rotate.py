"""`ttnn.rotate` against rotation formulas and, for permutations, numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import pool as golden

RM = ttnn.ROW_MAJOR_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("turns", [0, 1, 2, 3, -1])
def test_right_angles_only_move_pixels(turns: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = make((2, 8, 8, 16), dtype, RM, device)
    result = ttnn.rotate(x, 90.0 * turns)
    assert (result.shape, result.dtype, result.layout) == (x.shape, dtype, RM)
    np.testing.assert_array_equal(values_of(result), np.rot90(values_of(x), turns, axes=(1, 2)))


@pytest.mark.parametrize("options", [{}, {"center": (3.0, 5.0)}, {"fill": 1.5}])
@pytest.mark.parametrize("angle", [15.0, -37.5, 400.0])
def test_nearest_pixels(angle: float, options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    """Except pixels near a midpoint, which 16 fractional bits distinguish."""
    x = make((1, 12, 20, 16), ttnn.bfloat16, RM, device)
    result = values_of(ttnn.rotate(x, angle, **options))
    expected = golden.rotate(values_of(x), angle, **options)
    assert (result == expected).all(axis=-1).mean() > 0.99


@pytest.mark.parametrize("options", [{}, {"center": (3.0, 5.0)}, {"fill": 1.5}])
@pytest.mark.parametrize("angle", [15.0, -37.5, 90.0])
def test_weighted_pixels(angle: float, options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    x = make((2, 12, 20, 48), ttnn.bfloat16, RM, device)
    result = values_of(ttnn.rotate(x, angle, interpolation_mode="bilinear", **options))
    expected = golden.rotate(values_of(x), angle, interpolation_mode="bilinear", **options)
    # Four weights are cut to bfloat16, and the sum is rounded in Dst and by the packer.
    assert np.abs(result - expected).max() <= 6 * 2**-8 * np.abs(values_of(x)).max()


def test_rotate_keeps_shards_and_obeys_memory_config(device: ttnn.MeshDevice) -> None:
    shards = ttnn.create_sharded_memory_config((1, 8, 8, 32), ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy.HEIGHT)
    x = make((1, 8, 8, 32), ttnn.bfloat16, RM, device, memory_config=shards)
    result = ttnn.rotate(x, 180.0)
    assert result.memory_config() == shards
    np.testing.assert_array_equal(values_of(result), values_of(x)[:, ::-1, ::-1])
    assert ttnn.rotate(x, 10.0, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == ttnn.L1_MEMORY_CONFIG


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((1, 8, 8, 32), ttnn.bfloat16, RM, device)
    with pytest.raises(ttnn.ParameterError, match="expand=True is not supported"):
        ttnn.rotate(x, 10.0, expand=True)
    with pytest.raises(ttnn.ParameterError, match="got 'cubic'"):
        ttnn.rotate(x, 10.0, interpolation_mode="cubic")
    for angle in (math.nan, math.inf, 1e300):
        with pytest.raises(ttnn.ParameterError, match="a finite number of degrees"):
            ttnn.rotate(x, angle)
    for place in (math.nan, -math.inf, 32768.0):
        with pytest.raises(ttnn.ParameterError, match="below 32768 pixels"):
            ttnn.rotate(x, 10.0, center=(1.0, place))
    with pytest.raises(ttnn.LayoutError, match="must be in ROW_MAJOR layout"):
        ttnn.rotate(make((1, 8, 32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device), 10.0)
    with pytest.raises(ttnn.ShapeError, match="got rank 3"):
        ttnn.rotate(make((8, 8, 32), ttnn.bfloat16, RM, device), 10.0)
    with pytest.raises(ttnn.ShapeError, match="there may be 256"):
        ttnn.rotate(make((1, 4, 4, 288), ttnn.bfloat16, RM, device), 10.0, interpolation_mode="bilinear")
    wide = make((1, 8, 8, 32), ttnn.float32, RM, device)
    for options in ({"fill": 1.0}, {"interpolation_mode": "bilinear"}):
        with pytest.raises(ttnn.UnsupportedError, match="input_tensor is FLOAT32"):
            ttnn.rotate(wide, 10.0, **options)
