"""Random numbers: generator bits, distribution, refusals.

The seeds are fixed, so a test passes or fails for good. The bounds are five standard deviations: with another generator
each would fail by chance once in 1.7 million times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import (
    ArgumentError,
    DTypeError,
    LayoutError,
    ParameterError,
    StorageError,
    UnsupportedError,
)
from ttnn.golden import random as golden

SHAPES = [(), (7,), (3, 5), (33, 70), (2, 3, 40, 96), (40 * 64, 64)]
"""The last has more tiles than cores: generators continue."""
LARGE = (1024, 1024)
SIGMAS = 5.0


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


def _tiles(values: np.ndarray, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values.astype(np.float32), dtype, None, ttnn.TILE_LAYOUT).to(device)


def _assert_moments(values: np.ndarray, mean: float, variance: float, fourth: float) -> None:
    """Compare mean and variance.

    `fourth` is the fourth central moment, which tells how far a variance scatters.
    """
    count = values.size
    assert abs(values.mean() - mean) < SIGMAS * math.sqrt(variance / count)
    assert abs(((values - mean) ** 2).mean() - variance) < SIGMAS * math.sqrt((fourth - variance**2) / count)


def _assert_independent(values: np.ndarray, mean: float, variance: float) -> None:
    """Compare neighbour products: by row, column, and tile."""
    centred = (values - mean) / math.sqrt(variance)
    for axis in (0, 1):
        for step in (1, 2, 32):
            end = centred.shape[axis]
            first, second = np.take(centred, range(end - step), axis), np.take(centred, range(step, end), axis)
            assert abs((first * second).mean()) < SIGMAS / math.sqrt(first.size)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rand_follows_the_generator(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    for low, high in ((0.0, 1.0), (-3.0, 5.0)):
        made = _values(ttnn.rand(shape, device, dtype=ttnn.float32, low=low, high=high, seed=11))
        expected = golden.rand(shape, low=low, high=high, seed=11)
        assert made.shape == shape
        assert np.abs(made - expected).max() <= (high - low) * 2.0**-22


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bernoulli_and_dropout_follow_the_generator(shape: tuple[int, ...], device: ttnn.MeshDevice) -> None:
    given = np.random.default_rng(3).uniform(size=shape)
    for dtype in (ttnn.bfloat16, ttnn.float32):
        x = _tiles(given, dtype, device)
        for out in (ttnn.bfloat16, ttnn.float32):
            made = ttnn.bernoulli(x, 5, dtype=out)
            assert made.dtype is out
            assert np.array_equal(_values(made), golden.bernoulli(_values(x), 5))
    x = _tiles(given, ttnn.bfloat16, device)
    assert np.array_equal(_values(ttnn.experimental.dropout(x, 0.3, 2.0, 77)), golden.dropout(_values(x), 0.3, 2.0, 77))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32], ids=str)
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-2.0, 3.0), (-1.0, 0.0), (10.0, 11.0), (-8.0, -7.0)], ids=str)
def test_numbers_stay_in_range(bounds: tuple[float, float], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    low, high = bounds
    for seed in range(1, 9):
        values = _values(ttnn.rand((256, 256), device, dtype=dtype, low=low, high=high, seed=seed))
        assert values.min() >= low
        assert values.max() < high


def test_numbers_are_distributed_evenly(device: ttnn.MeshDevice) -> None:
    values = _values(ttnn.rand(LARGE, device, dtype=ttnn.float32, low=-1.0, high=1.0, seed=1))
    _assert_moments(values, 0.0, 1 / 3, 1 / 5)
    _assert_independent(values, 0.0, 1 / 3)
    counts = np.histogram(values, 64, (-1.0, 1.0))[0]
    expected = values.size / 64
    # Chi-squared with 63 degrees of freedom has a variance of 126.
    assert abs(((counts - expected) ** 2 / expected).sum() - 63) < SIGMAS * math.sqrt(126)


def test_normal_numbers_are_distributed_normally(device: ttnn.MeshDevice) -> None:
    values = _values(ttnn.randn(LARGE, device, dtype=ttnn.float32, seed=4))
    _assert_moments(values, 0.0, 1.0, 3.0)
    _assert_independent(values, 0.0, 1.0)
    for limit in (0.5, 1.0, 2.0, 3.0, 4.0):
        share = math.erfc(limit / math.sqrt(2))
        assert abs((np.abs(values) > limit).mean() - share) < SIGMAS * math.sqrt(share / values.size)


def test_normal_numbers_are_those_of_the_transform(device: ttnn.MeshDevice) -> None:
    made = _values(ttnn.randn((96, 40), device, dtype=ttnn.float32, seed=8))
    assert np.abs(made - golden.randn((96, 40), seed=8)).max() < 1e-5


def test_bernoulli_has_the_probabilities_of_the_input(device: ttnn.MeshDevice) -> None:
    for probability in (0.0, 0.25, 0.75, 1.0):
        values = _values(ttnn.bernoulli(_tiles(np.full(LARGE, probability), ttnn.float32, device), 9))
        bound = SIGMAS * math.sqrt(probability * (1 - probability) / values.size)
        assert abs(values.mean() - probability) <= bound


def test_dropout_drops_in_groups(device: ttnn.MeshDevice) -> None:
    x = _tiles(np.ones((256, 256)), ttnn.bfloat16, device)
    values = _values(ttnn.experimental.dropout(x, 0.4, 1.5, 3))
    assert set(np.unique(values)) == {0.0, 1.5}
    groups = values.reshape(64, 4, 16, 8, 2).transpose(0, 2, 4, 1, 3).reshape(-1, 32)
    assert (groups == groups[:, :1]).all()
    # One tile on each of 64 cores, which drop alike: 32 groups decide.
    assert abs((groups[:, 0] == 0).mean() - 0.4) < SIGMAS * math.sqrt(0.24 / 32)
    assert (_values(ttnn.experimental.dropout(x, 0.0, 1.0, 3))[values != 0] == 1).all()


def test_the_same_seed_makes_the_same_numbers(device: ttnn.MeshDevice) -> None:
    x = _tiles(np.full((64, 96), 0.5), ttnn.bfloat16, device)
    makers: list[Callable[[int], ttnn.Tensor]] = [
        lambda seed: ttnn.rand((64, 96), device, seed=seed),
        lambda seed: ttnn.randn((64, 96), device, seed=seed),
        lambda seed: ttnn.bernoulli(x, seed),
        lambda seed: ttnn.uniform(ttnn.clone(x), 0.0, 1.0, seed),
    ]
    for make in makers:
        first, again, other = _values(make(5)), _values(make(5)), _values(make(6))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert not np.array_equal(_values(make(0)), _values(make(0)))


def test_uniform_writes_to_its_input(device: ttnn.MeshDevice) -> None:
    for dtype in (ttnn.bfloat16, ttnn.float32):
        x = _tiles(np.zeros((3, 40, 50)), dtype, device)
        assert ttnn.uniform(x, 2.0, 4.0, 8) is x
        same = ttnn.rand((3, 40, 50), device, dtype=dtype, low=2.0, high=4.0, seed=8)
        assert np.array_equal(_values(x), _values(same))
    words: dict[str, Any] = {"from": 5.0, "to": 6.0}
    assert ttnn.uniform(x, **words) is x
    assert _values(x).min() >= 5


def test_other_data_types_and_layouts(device: ttnn.MeshDevice) -> None:
    for dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.int32, ttnn.uint32, ttnn.uint16):
        values = ttnn.rand((64, 96), device, dtype=dtype, low=0.0, high=50.0, seed=2)
        assert values.dtype is dtype
        assert 20 < _values(values).mean() < 30
    rows = ttnn.rand((5, 7), device, layout=ttnn.ROW_MAJOR_LAYOUT, seed=2)
    assert rows.layout is ttnn.ROW_MAJOR_LAYOUT
    assert np.array_equal(_values(rows), _values(ttnn.rand((5, 7), device, seed=2)))
    placed = ttnn.randn((64, 64), device, memory_config=ttnn.L1_MEMORY_CONFIG, layout=ttnn.ROW_MAJOR_LAYOUT)
    assert placed.memory_config() == ttnn.L1_MEMORY_CONFIG
    for shape in ((), (0, 3), (2, 0, 5)):
        assert tuple(ttnn.rand(shape, device).shape) == shape


def test_a_16_bit_register_cuts_the_numbers(device: ttnn.MeshDevice) -> None:
    config = ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=False)
    x = _tiles(np.zeros((64, 64)), ttnn.float32, device)
    ttnn.uniform(x, 0.0, 1.0, 8, compute_kernel_config=config)
    wide = np.asarray(ttnn.rand((64, 64), device, dtype=ttnn.float32, seed=8).to_numpy())
    assert np.array_equal(np.asarray(x.to_numpy()).view(np.uint32), wide.view(np.uint32) & 0xFFFF0000)


def test_dropout_in_place(device: ttnn.MeshDevice) -> None:
    x = _tiles(np.ones((64, 64)), ttnn.bfloat16, device)
    expected = _values(ttnn.experimental.dropout(x, 0.5, 2.0, 12345))
    assert ttnn.experimental.dropout(x, 0.5, 2.0, 12345, output_tensor=x) is x
    assert np.array_equal(_values(x), expected)
    assert np.array_equal(_values(ttnn.bernoulli(x, 3, output=x)), golden.bernoulli(expected, 3))


def test_seeds_share_a_program(device: ttnn.MeshDevice) -> None:
    device.disable_and_clear_program_cache()
    device.enable_program_cache()
    x = _tiles(np.ones((64, 64)), ttnn.bfloat16, device)
    before = device.num_program_cache_entries()
    for seed in range(1, 4):
        ttnn.bernoulli(x, seed)
    assert device.num_program_cache_entries() == before + 1
    for low in (0.0, 5.0):
        ttnn.rand((64, 64), device, low=low, high=10.0)
    assert device.num_program_cache_entries() == before + 2


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    for low, high in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(ParameterError):
            ttnn.rand((3, 3), device, low=low, high=high)
    with pytest.raises(UnsupportedError):
        ttnn.rand((3, 3), device, dtype=ttnn.int8)
    with pytest.raises(DTypeError):
        ttnn.rand((3, 3), device, dtype=ttnn.uint8)
    with pytest.raises(DTypeError):
        ttnn.randn((3, 3), device, dtype=ttnn.int32)
    refused: list[Any] = [5, [2, -1]]
    for wrong in refused:
        with pytest.raises(TypeError):
            ttnn.rand(wrong, device)
    with pytest.raises(ArgumentError):
        ttnn.rand((3, 3), device, seed=-1)
    rows = ttnn.zeros((32, 32), device=device)
    whole = ttnn.zeros((32, 32), dtype=ttnn.int32, layout=ttnn.TILE_LAYOUT, device=device)
    for function in (ttnn.uniform, ttnn.bernoulli):
        with pytest.raises(LayoutError, match="Input tensor must be tilized"):
            function(rows)
        with pytest.raises(DTypeError, match="Input tensor must be Float32 or Bfloat16"):
            function(whole)
        with pytest.raises(StorageError):
            function(ttnn.zeros((32, 32), layout=ttnn.TILE_LAYOUT))
    x = _tiles(np.ones((32, 32)), ttnn.bfloat16, device)
    with pytest.raises(LayoutError):
        ttnn.experimental.dropout(rows, 0.5, 2.0, 1)
    with pytest.raises(ParameterError):
        ttnn.experimental.dropout(x, 1.5, 2.0, 1)
    with pytest.raises(DTypeError):
        ttnn.experimental.dropout(whole, 0.5, 2.0, 1)
