"""Sums over a leading dimension, cut between columns."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn

REDUCE = ttnn.experimental.deepseek_moe_fast_reduce_nc
NARROW = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)


def _tensor(shape: tuple[int, ...], device: ttnn.MeshDevice, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _read(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


@pytest.mark.parametrize("dim", [0, 1, -4])
@pytest.mark.parametrize("split", [32, 64, 128])
def test_sums_of_a_wide_dst_are_those_of_float32(split: int, dim: int, device: ttnn.MeshDevice) -> None:
    x = _tensor((8, 3, 64, 128), device)
    parts = REDUCE(x, dim, split_size=split)
    total = np.zeros_like(_read(x).take([0], dim).astype(np.float32))
    for index in range(x.shape[dim]):
        # Bfloat16 numbers of a normal distribution add up exactly in float32, but for the last bits of small ones.
        total = total + _read(x).take([index], dim).astype(np.float32)
    assert [tuple(part.shape) for part in parts] == [(*total.shape[:-1], split)] * (128 // split)
    found = np.concatenate([_read(part) for part in parts], axis=-1)
    assert np.all(np.abs(found - total) <= 2.0**-8 * np.abs(total) + 2.0**-20)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_parts_are_those_of_fast_reduce_nc(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = _tensor((4, 2, 32, 96), device, dtype)
    whole = _read(ttnn.experimental.fast_reduce_nc(x, dims=[1], compute_kernel_config=NARROW))
    parts = REDUCE(x, 1, split_size=32, compute_kernel_config=NARROW)
    for part, expected in zip(parts, np.split(whole, 3, axis=-1), strict=True):
        np.testing.assert_array_equal(_read(part), expected)


def test_the_last_part_of_an_uneven_width_is_not_shorter(device: ttnn.MeshDevice) -> None:
    # Two parts fit into 128 columns by 48, and the program makes both equal.
    parts = REDUCE(_tensor((2, 1, 32, 128), device), 0, split_size=48)
    assert [tuple(part.shape) for part in parts] == [(1, 1, 32, 64)] * 2


def test_padding_is_part_of_the_result(device: ttnn.MeshDevice) -> None:
    (part,) = REDUCE(_tensor((2, 1, 20, 30), device), 0, split_size=32)
    assert tuple(part.shape) == (1, 1, 32, 32)


def test_the_memory_configuration_is_that_of_the_parts(device: ttnn.MeshDevice) -> None:
    parts = REDUCE(_tensor((2, 1, 32, 64), device), 0, split_size=32, output_memory_config=ttnn.L1_MEMORY_CONFIG)
    assert all(part.memory_config() == ttnn.L1_MEMORY_CONFIG for part in parts)


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    x = _tensor((2, 1, 32, 64), device)
    for dim in (2, -1):
        with pytest.raises(ttnn.ShapeError, match="reduction dim must be between 0 and 1"):
            REDUCE(x, dim, split_size=32)
    for size in (128, 0, 20):
        with pytest.raises(ttnn.ShapeError, match="must be divisible by"):
            REDUCE(x, 0, split_size=size)
    with pytest.raises(ttnn.ShapeError, match="rank must be greater than 2"):
        REDUCE(_tensor((32, 32), device), 0, split_size=32)
    with pytest.raises(ttnn.DTypeError, match="BFLOAT16 or BFLOAT8_B"):
        REDUCE(_tensor((2, 1, 32, 64), device, ttnn.float32), 0, split_size=32)
    with pytest.raises(ttnn.LayoutError, match="must be tiled"):
        REDUCE(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), 0, split_size=32)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_two_parts_are_the_columns_of_fast_reduce_nc(dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = _tensor((4, 2, 32, 160), device, dtype)
    whole = _read(ttnn.experimental.fast_reduce_nc(x, dims=[0]))
    first, second = ttnn.experimental.fast_reduce_nc_split(x, dim=0, split_output_width=96)
    np.testing.assert_array_equal(_read(first), whole[..., :96])
    np.testing.assert_array_equal(_read(second), whole[..., 96:])


@pytest.mark.parametrize("width", [0, -32, 20, 64, 96])
def test_columns_that_cannot_be_two_parts(width: int, device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.ShapeError, match=f"split_output_width={width} of 64 columns"):
        ttnn.experimental.fast_reduce_nc_split(_tensor((2, 1, 32, 64), device), dim=0, split_output_width=width)
