"""Layer norm and RMS norm: values, operands, memory configs, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import values_of
from ttnn.golden import normalization as golden

# Errors are measured in units of the result's largest datum: products of FP32 operands see 11 bits of each.
STEPS = {ttnn.bfloat16: 2**-6, ttnn.float32: 2**-6, ttnn.bfloat8_b: 2**-4}
NORMS: dict[str, Callable[..., Any]] = {"layer_norm": golden.layer_norm, "rms_norm": golden.rms_norm}


def on_device(
    values: np.ndarray,
    dtype: ttnn.DataType,
    device: ttnn.MeshDevice,
    layout: ttnn.Layout = ttnn.TILE_LAYOUT,
) -> ttnn.Tensor:
    return ttnn.Tensor(np.asarray(values, np.float32), dtype, device=device, layout=layout)


@pytest.mark.parametrize("dtype", STEPS)
@pytest.mark.parametrize("shape", [(32, 64), (2, 3, 40, 100), (1, 1, 1, 33), (96,)])
@pytest.mark.parametrize("name", NORMS)
def test_rows_are_normalized(name: str, shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(1)
    x = on_device(random.normal(0.3, 2, shape), dtype, device)
    row = (1, shape[-1])
    weight, bias = (on_device(random.normal(1, 0.5, row), ttnn.bfloat16, device) for _ in range(2))
    result = getattr(ttnn, name)(x, epsilon=1e-5, weight=weight, bias=bias)
    assert (tuple(result.shape), result.dtype, result.layout) == (shape, dtype, ttnn.TILE_LAYOUT)
    expected = NORMS[name](values_of(x), epsilon=1e-5, weight=values_of(weight), bias=values_of(bias))
    assert np.abs(values_of(result) - expected).max() <= STEPS[dtype] * np.abs(expected).max()


@pytest.mark.parametrize("name", NORMS)
def test_a_residual_is_added_first(name: str, device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(2)
    x, residual = (on_device(random.integers(-8, 8, (64, 96)), ttnn.bfloat16, device) for _ in range(2))
    # Sums of small integers are exact.
    total = ttnn.add(x, residual)
    normalize = getattr(ttnn, name)
    result = normalize(x, residual_input_tensor=residual)
    assert np.array_equal(values_of(result), values_of(normalize(total)))


def test_weights_in_rows_of_32_are_the_same_row(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(3)
    x = on_device(random.normal(size=(32, 96)), ttnn.bfloat16, device)
    values = random.normal(size=96)
    tiled = on_device(values.reshape(1, 96), ttnn.bfloat16, device)
    rows = on_device(values.reshape(1, 1, 3, 32), ttnn.bfloat16, device, layout=ttnn.ROW_MAJOR_LAYOUT)
    assert np.array_equal(values_of(ttnn.rms_norm(x, weight=tiled)), values_of(ttnn.rms_norm(x, weight=rows)))


def test_a_row_major_input_gives_a_row_major_layer_norm(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(4).normal(size=(5, 64))
    rows = ttnn.layer_norm(on_device(values, ttnn.bfloat16, device, layout=ttnn.ROW_MAJOR_LAYOUT))
    assert rows.layout == ttnn.ROW_MAJOR_LAYOUT
    assert np.array_equal(values_of(rows), values_of(ttnn.layer_norm(on_device(values, ttnn.bfloat16, device))))


def test_cores_that_share_a_row_change_the_order_of_sums_only(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(5).normal(size=(1, 1, 32, 256))
    x = on_device(values, ttnn.bfloat16, device)
    expected = values_of(ttnn.layer_norm(x))
    differing = 0
    for columns, rows in ((1, 1), (4, 1), (4, 2)):
        placed = ttnn.create_sharded_memory_config(
            (1, 1, 32, 256), ttnn.CoreGrid(x=columns, y=rows), ttnn.ShardStrategy.WIDTH
        )
        result = ttnn.layer_norm(ttnn.to_memory_config(x, placed))
        assert result.memory_config() == placed
        assert np.abs(values_of(result) - expected).max() <= 2**-6 * np.abs(expected).max()
        differing += not np.array_equal(values_of(result), expected)
    assert differing > 0


def test_statistics_of_two_halves_give_the_norm_of_the_whole(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(6).normal(size=(1, 1, 32, 128))
    halves = [on_device(half, ttnn.bfloat16, device) for half in np.split(values, 2, axis=-1)]
    for kind, each in (("layer_norm", 64), ("rms_norm", 32)):
        parts = [getattr(ttnn, f"{kind}_pre_all_gather")(half) for half in halves]
        assert [tuple(part.shape) for part in parts] == [(1, 1, 32, each)] * 2
        stats = on_device(np.concatenate([values_of(part) for part in parts], -1), ttnn.bfloat16, device)
        post = getattr(ttnn, f"{kind}_post_all_gather")
        result = np.concatenate([values_of(post(half, stats)) for half in halves], -1)
        expected = NORMS[kind](np.concatenate([values_of(half) for half in halves], -1))
        assert np.abs(result - expected).max() <= 2**-5 * np.abs(expected).max()


def test_unsupported_arguments_of_a_norm_raise_errors(device: ttnn.MeshDevice) -> None:
    x = on_device(np.ones((32, 64)), ttnn.bfloat16, device)
    integers = ttnn.Tensor(np.ones((32, 64), np.int32), ttnn.int32, device=device, layout=ttnn.TILE_LAYOUT)
    with pytest.raises(ttnn.DTypeError, match="input_tensor is INT32"):
        ttnn.layer_norm(integers)
    with pytest.raises(ttnn.ShapeError, match="weight has shape"):
        ttnn.rms_norm(x, weight=on_device(np.ones((1, 32)), ttnn.bfloat16, device))
    with pytest.raises(ttnn.ShapeError, match="residual_input_tensor has shape"):
        ttnn.rms_norm(x, residual_input_tensor=on_device(np.ones((32, 32)), ttnn.bfloat16, device))
    with pytest.raises(ttnn.LayoutError, match="row-major"):
        ttnn.rms_norm(on_device(np.ones((32, 64)), ttnn.bfloat16, device, layout=ttnn.ROW_MAJOR_LAYOUT))
    with pytest.raises(ttnn.DTypeError, match="32-bit Dst"):
        ttnn.rms_norm_pre_all_gather(ttnn.typecast(x, ttnn.float32))


@pytest.mark.parametrize("operator", [ttnn.layer_norm, ttnn.rms_norm], ids=["layer", "rms"])
def test_shards_that_are_not_named_are_those_of_the_input(operator: Any, device: ttnn.MeshDevice) -> None:
    place = ttnn.create_sharded_memory_config((64, 128), ttnn.CoreGrid(y=2, x=2), ttnn.ShardStrategy.BLOCK)
    x = ttnn.Tensor(
        np.random.default_rng(1).standard_normal((64, 128)).astype(np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT
    )
    x = ttnn.to_memory_config(x, place)
    result = operator(x, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    assert result.memory_config() == place
    np.testing.assert_array_equal(values_of(result), values_of(operator(x)))
