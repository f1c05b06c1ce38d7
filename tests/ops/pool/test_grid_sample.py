"""`ttnn.grid_sample`: points on pixels return pixels, others are interpolated; zeros outside."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
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


@pytest.mark.parametrize("prepared", [False, True])
def test_float32_pixels_have_the_upper_bits_that_dst_keeps(prepared: bool, device: ttnn.MeshDevice) -> None:
    x = make((2, 6, 7, 32), ttnn.float32, ROWS, device)
    upper = (values_of(x).astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    cut = ttnn.Tensor(upper, ttnn.bfloat16, None, ROWS).to(device)
    points = np.random.default_rng(5).uniform(-1.3, 1.3, (2, 4, 11, 2))
    grid = _prepared(points, False, "bilinear").to(device) if prepared else _grid(points, device)
    result = ttnn.grid_sample(x, grid, use_precomputed_grid=prepared)
    assert result.dtype == ttnn.float32
    expected = ttnn.grid_sample(cut, grid, use_precomputed_grid=prepared)
    np.testing.assert_array_equal(values_of(result), values_of(expected))
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    wide = ttnn.grid_sample(x, grid, use_precomputed_grid=prepared, compute_kernel_config=config)
    points = points if prepared else values_of(grid)
    reference = golden.grid_sample(values_of(x), points, align_corners=False)
    difference = (np.abs(values_of(one) - reference).mean() for one in (wide, result))
    assert next(difference) < next(difference)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x, grid = make((2, 6, 7, 32), ttnn.bfloat16, ROWS, device), _grid(np.zeros((2, 3, 3, 2)), device)
    with pytest.raises(ttnn.ParameterError, match="use_precomputed_grid"):
        ttnn.grid_sample(x, grid, mode="nearest")
    with pytest.raises(ttnn.ParameterError, match="several points"):
        ttnn.grid_sample(x, grid, batch_output_channels=True)
    with pytest.raises(ttnn.DTypeError, match="prepared grid is bfloat16"):
        ttnn.grid_sample(x, grid, use_precomputed_grid=True)
    prepared = _grid(np.zeros((2, 3, 3, 4)), device, ttnn.bfloat16)
    with pytest.raises(ttnn.ShapeError, match="each point has 6"):
        ttnn.grid_sample(x, prepared, use_precomputed_grid=True)
    with pytest.raises(ttnn.ParameterError, match="padding_mode"):
        ttnn.grid_sample(x, grid, padding_mode="border")
    with pytest.raises(ttnn.ShapeError, match="2 images"):
        ttnn.grid_sample(x, _grid(np.zeros((1, 3, 3, 2)), device))
    with pytest.raises(ttnn.LayoutError, match="tiled"):
        ttnn.grid_sample(ttnn.to_layout(x, ttnn.TILE_LAYOUT), grid)


@pytest.mark.parametrize("channels", [False, True])
def test_grid_sample_of_several_points_per_row(channels: bool, device: ttnn.MeshDevice) -> None:
    x = make((2, 6, 7, 32), ttnn.bfloat16, ROWS, device)
    points = np.random.default_rng(5).uniform(-1.3, 1.3, (2, 4, 6, 2))
    expected = values_of(ttnn.grid_sample(x, _grid(points, device)))
    result = ttnn.grid_sample(x, _grid(points.reshape(2, 4, 2, 6), device), batch_output_channels=channels)
    assert tuple(result.shape) == ((2, 4, 2, 96) if channels else (2, 4, 6, 32))
    np.testing.assert_array_equal(values_of(result).reshape(expected.shape), expected)


def _prepared(points: np.ndarray, align_corners: bool, mode: str) -> ttnn.Tensor:
    grid = ttnn.Tensor(points.astype(np.float32), ttnn.float32, None, ROWS)
    return ttnn.prepare_grid_sample_grid(grid, [2, 6, 7, 32], mode=mode, align_corners=align_corners)


@pytest.mark.parametrize("align_corners", [False, True])
def test_prepared_weights(align_corners: bool, device: ttnn.MeshDevice) -> None:
    x = make((2, 6, 7, 32), ttnn.bfloat16, ROWS, device)
    points = np.random.default_rng(5).uniform(-1.3, 1.3, (2, 4, 11, 2))
    grid = _prepared(points, align_corners, "bilinear").to(device)
    assert tuple(grid.shape) == (2, 4, 11, 6)
    result = ttnn.grid_sample(x, grid, use_precomputed_grid=True)
    expected = golden.grid_sample(values_of(x), points, align_corners=align_corners)
    # Four weights are rounded to 8 bits each, and so is the sum.
    np.testing.assert_allclose(values_of(result), expected, atol=5 * 2**-8 * np.abs(values_of(x)).max())
    assert np.corrcoef(values_of(result).ravel(), expected.ravel())[0, 1] > 0.9999


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("align_corners", [False, True])
def test_nearest_grid_sample_with_precomputed_grid(
    align_corners: bool, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    x = make((2, 6, 7, 32), dtype, ROWS, device)
    points = np.random.default_rng(5).uniform(-1.3, 1.3, (2, 4, 10, 2))
    result = ttnn.grid_sample(
        x, _prepared(points, align_corners, "nearest").to(device), mode="nearest", use_precomputed_grid=True
    )
    values, expected = values_of(x), np.zeros((2, 4, 10, 32))
    for place in np.ndindex(2, 4, 10):
        half = [(size - 1) / 2 if align_corners else size / 2 for size in (6, 7)]
        row, column = (
            int(np.floor((points[place][axis] + 1) * scale + (0.5 if align_corners else 0.0)))
            for axis, scale in ((1, half[0]), (0, half[1]))
        )
        if 0 <= row < 6 and 0 <= column < 7:
            expected[place] = values[place[0], row, column]
    np.testing.assert_array_equal(values_of(result), expected)
    assert result.memory_config().memory_layout is ttnn.TensorMemoryLayout.HEIGHT_SHARDED


def test_shards_of_the_grid(device: ttnn.MeshDevice) -> None:
    x = make((1, 6, 7, 32), ttnn.bfloat16, ROWS, device)
    grid = _grid(np.random.default_rng(5).uniform(-1.3, 1.3, (1, 4, 8, 4)), device)
    place = ttnn.create_sharded_memory_config((1, 1, 32, 4), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.HEIGHT)
    result = ttnn.grid_sample(x, ttnn.to_memory_config(grid, place))
    np.testing.assert_array_equal(values_of(result), values_of(ttnn.grid_sample(x, grid)))
    assert result.memory_config().shard_spec.shape == [16, 32]
    assert result.memory_config().shard_spec.grid == place.shard_spec.grid


def test_wrong_grids_raise_errors_when_prepared(device: ttnn.MeshDevice) -> None:
    grid = ttnn.Tensor(np.zeros((1, 2, 3, 2), np.float32), ttnn.float32, None, ROWS)
    prepare = ttnn.prepare_grid_sample_grid
    with pytest.raises(ttnn.StorageError, match="must be on host"):
        prepare(grid.to(device), [1, 6, 7, 32])
    with pytest.raises(ttnn.ShapeError, match="4 dimensions"):
        prepare(grid, [6, 7, 32])
    with pytest.raises(ttnn.ShapeError, match="last dimension must be 2"):
        prepare(ttnn.Tensor(np.zeros((1, 2, 3, 3), np.float32), ttnn.float32, None, ROWS), [1, 6, 7, 32])
    with pytest.raises(ttnn.ParameterError, match="mode"):
        prepare(grid, [1, 6, 7, 32], mode="bicubic")
    with pytest.raises(ttnn.ParameterError, match="zeros"):
        prepare(grid, [1, 6, 7, 32], padding_mode="border")
    with pytest.raises(ttnn.DTypeError, match="BFLOAT16"):
        prepare(grid, [1, 6, 7, 32], output_dtype=ttnn.float32)
    with pytest.raises(ttnn.DTypeError, match="float32"):
        prepare(ttnn.Tensor(np.zeros((1, 2, 3, 2), np.float32), ttnn.bfloat16, None, ROWS), [1, 6, 7, 32])
