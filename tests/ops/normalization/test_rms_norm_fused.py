"""RMS norm with an activation in the same program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn

EPSILON = 1e-5


def _tensor(
    shape: tuple[int, ...],
    device: ttnn.MeshDevice,
    seed: int,
    dtype: ttnn.DataType = ttnn.bfloat16,
    layout: ttnn.Layout = ttnn.TILE_LAYOUT,
) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), layout), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


def _config(dtype: ttnn.DataType) -> ttnn.WormholeComputeKernelConfig:
    # The defaults on Wormhole.
    wide = dtype is ttnn.float32
    fidelity = ttnn.MathFidelity.HiFi3 if wide else ttnn.MathFidelity.HiFi4
    return ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=wide)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize(
    ("activation", "after"),
    [
        (None, lambda x: x),
        ("silu", ttnn.silu),
        ("gelu", ttnn.gelu),
        (ttnn.UnaryOpType.SILU, ttnn.silu),
        (ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), ttnn.relu),
    ],
)
@pytest.mark.parametrize("with_weights", [False, True])
def test_bits_are_those_of_the_norm_and_the_function(
    with_weights: bool, activation: Any, after: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    # The value in Dst is what the norm packs, so that a function of that gives the same bits.
    x = _tensor((2, 40, 96), device, 0, dtype)
    options: dict[str, Any] = {}
    if with_weights:
        options = {"weight": _tensor((1, 96), device, 1, dtype), "bias": _tensor((1, 96), device, 2, dtype)}
        options["residual_input_tensor"] = _tensor((2, 40, 96), device, 3, dtype)
    result = ttnn.experimental.dit_rms_norm_unary_fused(x, activation=activation, **options)
    norm = ttnn.rms_norm(x, epsilon=EPSILON, compute_kernel_config=_config(dtype), **options)
    assert result.dtype is dtype
    np.testing.assert_array_equal(_values(result), _values(after(norm)))


def test_rows_are_taken_and_returned(device: ttnn.MeshDevice) -> None:
    rows = _tensor((3, 64), device, 0, layout=ttnn.ROW_MAJOR_LAYOUT)
    result = ttnn.experimental.dit_rms_norm_unary_fused(rows, activation="silu")
    assert result.layout is ttnn.ROW_MAJOR_LAYOUT
    expected = ttnn.experimental.dit_rms_norm_unary_fused(_tensor((3, 64), device, 0), activation="silu")
    np.testing.assert_array_equal(_values(result), _values(expected))
    with pytest.raises(ttnn.LayoutError, match="multiple of tile width"):
        ttnn.experimental.dit_rms_norm_unary_fused(_tensor((3, 40), device, 0, layout=ttnn.ROW_MAJOR_LAYOUT))


def test_shards_run_the_sharded_program(device: ttnn.MeshDevice) -> None:
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
    place = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.BLOCK_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(grid, [32, 64], ttnn.ShardOrientation.ROW_MAJOR),
    )
    x = ttnn.to_memory_config(_tensor((64, 128), device, 0), place)
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(2, 2), subblock_w=1, block_h=1, block_w=2, inplace=False
    )
    result = ttnn.experimental.dit_rms_norm_unary_fused(x, activation="silu", program_config=config)
    assert result.memory_config() == place
    norm = ttnn.rms_norm(x, epsilon=EPSILON, program_config=config)
    np.testing.assert_array_equal(_values(result), _values(ttnn.silu(norm)))


def test_the_width_of_dst_follows_the_input(device: ttnn.MeshDevice) -> None:
    x = _tensor((32, 64), device, 0, ttnn.float32)
    narrow = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi3, fp32_dest_acc_en=False)
    result = ttnn.experimental.dit_rms_norm_unary_fused(x, compute_kernel_config=narrow)
    np.testing.assert_array_equal(_values(result), _values(ttnn.experimental.dit_rms_norm_unary_fused(x)))


def test_golden_function_agrees(device: ttnn.MeshDevice) -> None:
    x, bias = _tensor((32, 96), device, 0), _tensor((1, 96), device, 1)
    result = ttnn.experimental.dit_rms_norm_unary_fused(x, 1e-3, None, bias, activation="gelu")
    golden = ttnn.get_golden_function(ttnn.experimental.dit_rms_norm_unary_fused)
    reference = golden(_values(x), 1e-3, None, _values(bias), activation="gelu")
    assert np.max(np.abs(_values(result) - reference)) < 0.02 * np.max(np.abs(reference))


def test_unmodelled_options_raise_unsupported_error(device: ttnn.MeshDevice) -> None:
    x = _tensor((32, 64), device, 0)
    with pytest.raises(ttnn.UnsupportedError, match="approximate form of the activation EXP"):
        ttnn.experimental.dit_rms_norm_unary_fused(x, activation="exp")
    exact = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False)
    result = ttnn.experimental.dit_rms_norm_unary_fused(x, activation="exp", compute_kernel_config=exact)
    norm = ttnn.rms_norm(x, epsilon=EPSILON, compute_kernel_config=exact)
    # The name means the fast function.
    np.testing.assert_array_equal(_values(result), _values(ttnn.exp(norm, fast_and_approximate_mode=True)))
    accurate = ttnn.experimental.dit_rms_norm_unary_fused(
        x, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP, 0.0), compute_kernel_config=exact
    )
    np.testing.assert_array_equal(_values(accurate), _values(ttnn.exp(norm)))
    with pytest.raises(ttnn.ArgumentError, match="No activation is called"):
        ttnn.experimental.dit_rms_norm_unary_fused(x, activation="nothing")
