"""Convolutions: reference, equivalent forms, and refusals."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.comparison_mode import agrees_with_golden
from testkit.operands import values_of


def _numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _host(values: np.ndarray, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype)


def _call(device: ttnn.MeshDevice, image: tuple[int, ...], out: int, kernel: tuple[int, int], **options: Any) -> Any:
    batch, height, width, channels = image
    given = options.pop("input_tensor", None)
    weight = options.pop("weight_tensor", None)
    groups = options.get("groups", 1)
    return ttnn.conv2d(
        input_tensor=_host(_numbers((1, 1, batch * height * width, channels), 0)) if given is None else given,
        weight_tensor=_host(_numbers((out, channels // groups, *kernel), 1)) if weight is None else weight,
        device=device,
        in_channels=channels,
        out_channels=out,
        batch_size=batch,
        input_height=height,
        input_width=width,
        kernel_size=kernel,
        **options,
    )


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


CASES = [
    ((1, 8, 8, 32), 32, (3, 3), {"padding": (1, 1)}),
    ((2, 9, 7, 16), 24, (3, 3), {"padding": (1, 1), "stride": (2, 2)}),
    ((1, 16, 16, 3), 32, (7, 7), {"padding": (3, 3), "stride": (2, 2)}),
    ((1, 8, 8, 64), 128, (1, 1), {}),
    ((1, 10, 12, 32), 32, (3, 2), {"padding": (2, 0, 1, 3), "dilation": (2, 1)}),
    ((1, 8, 8, 32), 32, (3, 3), {"padding": (1, 1), "groups": 32}),
    ((1, 8, 8, 64), 32, (3, 3), {"groups": 4}),
]


@pytest.mark.parametrize(("image", "out", "kernel", "options"), CASES)
def test_result_is_near_the_golden_function(
    image: tuple[int, ...], out: int, kernel: tuple[int, int], options: dict[str, Any], device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    result, size = _call(device, image, out, kernel, return_output_dim=True, **options)
    x = _values(_host(_numbers((image[0], image[1], image[2], image[3]), 0)))
    weight = _values(_host(_numbers((out, image[3] // options.get("groups", 1), *kernel), 1)))
    sides = options.get("padding", (0, 0))
    top, bottom, left, right = sides if len(sides) == 4 else (sides[0], sides[0], sides[1], sides[1])
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0))).transpose(0, 3, 1, 2)
    reference = torch.nn.functional.conv2d(
        torch.from_numpy(padded),
        torch.from_numpy(weight),
        stride=options.get("stride", 1),
        dilation=options.get("dilation", 1),
        groups=options.get("groups", 1),
    ).numpy()
    assert size == reference.shape[2:]
    expected = reference.transpose(0, 2, 3, 1).reshape(1, 1, -1, out)
    assert np.corrcoef(expected.ravel(), _values(result).ravel())[0, 1] > 0.9995


def test_a_window_of_one_pixel_is_a_product(device: ttnn.MeshDevice) -> None:
    result = _call(device, (1, 8, 8, 64), 32, (1, 1))
    x = ttnn.to_device(ttnn.to_layout(_host(_numbers((1, 1, 64, 64), 0)), ttnn.TILE_LAYOUT), device)
    weight = _numbers((32, 64, 1, 1), 1).reshape(32, 64).T[None, None].copy()
    w = ttnn.to_device(ttnn.to_layout(_host(weight), ttnn.TILE_LAYOUT), device)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False)
    np.testing.assert_array_equal(_values(result), _values(ttnn.matmul(x, w, compute_kernel_config=config)))


def test_forms_of_the_same_image_and_weights_change_no_bit(device: ttnn.MeshDevice) -> None:
    image, kernel = (1, 8, 8, 32), (3, 3)
    options: dict[str, Any] = {"padding": (1, 1), "bias_tensor": _host(_numbers((1, 1, 1, 64), 2))}
    # Other shards of the channels depend on the layout.
    heights = ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    options["conv_config"] = heights
    plain, (weights, bias) = _call(device, image, 64, kernel, return_weights_and_bias=True, **options)
    assert weights.shape == (1, 1, 288, 64)
    tiled = ttnn.to_device(ttnn.to_layout(_host(_numbers((1, 1, 64, 32), 0)), ttnn.TILE_LAYOUT), device)
    forms = [
        {"weight_tensor": weights, "bias_tensor": bias},
        {"input_tensor": tiled},
        {"input_tensor": ttnn.to_layout(tiled, ttnn.ROW_MAJOR_LAYOUT)},
        {"input_tensor": _host(_numbers((1, 1, 64, 32), 0).reshape(1, 8, 8, 32))},
        {"conv_config": replace(heights, output_layout=ttnn.ROW_MAJOR_LAYOUT)},
        {"conv_config": replace(heights, act_block_h_override=32, enable_act_double_buffer=True)},
    ]
    for form in forms:
        np.testing.assert_array_equal(_values(_call(device, image, 64, kernel, **options | form)), _values(plain))


@pytest.mark.parametrize(
    ("image", "config", "channels"),
    [
        ((1, 16, 16, 32), {}, 8),
        ((1, 16, 16, 64), {"full_inner_dim": True}, 8),
        ((1, 8, 8, 32), {"shard_layout": ttnn.TensorMemoryLayout.BLOCK_SHARDED}, 8),
        ((1, 8, 8, 64), {"shard_layout": ttnn.TensorMemoryLayout.WIDTH_SHARDED}, 32),
    ],
)
def test_shards_of_channels_are_added_one_after_the_other(
    image: tuple[int, ...], config: dict[str, Any], channels: int, device: ttnn.MeshDevice
) -> None:
    """Blocks have the channels of a shard: a kernel row, or all."""
    _, height, width, depth = image
    result = _call(device, image, 32, (3, 3), padding=(1, 1), conv_config=ttnn.Conv2dConfig(**config))
    x = np.pad(_numbers((1, 1, height * width, depth), 0).reshape(height, width, depth), ((1, 1), (1, 1), (0, 0)))
    weight = _numbers((32, depth, 3, 3), 1)
    whole = config.get("full_inner_dim") or "WIDTH" in str(config.get("shard_layout"))
    shards = [slice(first, first + channels) for first in range(0, depth, channels)]
    rows = [range(3)] if whole else [[0], [1], [2]]
    left, right = [], []
    for high, shard in itertools.product(rows, shards):
        pixels = [(i, j) for i in high for j in range(3)]
        block = np.concatenate([x[i : i + height, j : j + width, shard].reshape(-1, channels) for i, j in pixels], 1)
        factors = np.concatenate([weight[:, shard, i, j].T for i, j in pixels])
        more = -block.shape[1] % 32
        left.append(np.pad(block, ((0, 0), (0, more))))
        right.append(np.pad(factors, ((0, more), (0, 0))))
    tiles = left[0].shape[1] // 32
    a, b = (np.concatenate(parts, axis)[None, None] for parts, axis in ((left, 1), (right, 0)))
    product = ttnn.matmul(
        *(ttnn.to_device(ttnn.to_layout(_host(values), ttnn.TILE_LAYOUT), device) for values in (a, b)),
        program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(1, 1),
            in0_block_w=tiles,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=height * width // 32,
            per_core_N=1,
            fuse_batch=True,
            mcast_in0=False,
        ),
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4),
    )
    np.testing.assert_array_equal(_values(result), _values(product))


def test_weights_are_prepared_for_the_shards_of_a_call(device: ttnn.MeshDevice) -> None:
    image = (1, 16, 16, 32)
    plain, (returned, _) = _call(device, image, 32, (3, 3), padding=(1, 1), return_weights_and_bias=True)
    prepared = ttnn.prepare_conv_weights(
        weight_tensor=_host(_numbers((32, 32, 3, 3), 1)),
        input_memory_config=ttnn.DRAM_MEMORY_CONFIG,
        input_layout=ttnn.ROW_MAJOR_LAYOUT,
        in_channels=32,
        out_channels=32,
        batch_size=1,
        input_height=16,
        input_width=16,
        kernel_size=(3, 3),
        stride=(1, 1),
        padding=(1, 1),
        dilation=(1, 1),
        has_bias=False,
        groups=1,
        device=device,
        input_dtype=ttnn.bfloat16,
    )
    assert prepared.shape == returned.shape == (1, 1, 384, 32)
    np.testing.assert_array_equal(_values(prepared), _values(returned))
    again = _call(device, image, 32, (3, 3), padding=(1, 1), weight_tensor=prepared)
    np.testing.assert_array_equal(_values(again), _values(plain))


def test_an_activation_is_fused(device: ttnn.MeshDevice) -> None:
    image, kernel = (1, 8, 8, 32), (3, 3)
    plain = _call(device, image, 32, kernel, padding=(1, 1))
    relu = ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))
    clipped = _call(device, image, 32, kernel, padding=(1, 1), conv_config=relu)
    np.testing.assert_array_equal(_values(clipped), np.maximum(_values(plain), 0))


def test_a_row_is_an_image_of_height_one(device: ttnn.MeshDevice) -> None:
    x, weight = _host(_numbers((1, 1, 40, 32), 0)), _numbers((32, 32, 3), 1)
    row, length = ttnn.conv1d(
        input_tensor=x,
        weight_tensor=_host(weight),
        device=device,
        in_channels=32,
        out_channels=32,
        batch_size=1,
        input_length=40,
        kernel_size=3,
        padding=1,
        stride=2,
        return_output_dim=True,
    )
    image = _call(
        device,
        (1, 1, 40, 32),
        32,
        (1, 3),
        weight_tensor=_host(weight[:, :, None]),
        padding=(0, 1),
        stride=(1, 2),
    )
    assert length == 20
    np.testing.assert_array_equal(_values(row), _values(image))


def test_operands_that_do_not_fit_raise_errors(device: ttnn.MeshDevice) -> None:
    image, kernel = (1, 8, 8, 32), (3, 3)
    with pytest.raises(ttnn.ShapeError, match="weight_tensor has shape"):
        _call(device, image, 32, kernel, weight_tensor=_host(_numbers((32, 16, 3, 3), 1)))
    with pytest.raises(ttnn.ShapeError, match="input_tensor has shape"):
        _call(device, image, 32, kernel, input_tensor=_host(_numbers((1, 1, 60, 32), 1)))
    with pytest.raises(ttnn.ParameterError, match="groups=3"):
        _call(device, image, 32, kernel, groups=3)
    with pytest.raises(ttnn.ParameterError, match="does not fit"):
        _call(device, image, 32, (9, 9))
    with pytest.raises(ttnn.ParameterError, match="stride"):
        _call(device, image, 32, kernel, stride=(0, 1))
    assert _call(device, image, 32, kernel).shape == (1, 1, 36, 32)


def test_rows_without_a_height(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(6)
    x = ttnn.Tensor(rng.normal(size=(2, 16, 32)).astype(np.float32), ttnn.bfloat16, device=device)
    weight = ttnn.Tensor(rng.normal(size=(64, 32, 3)).astype(np.float32), ttnn.bfloat16)
    options = {"in_channels": 32, "out_channels": 64, "batch_size": 2, "input_length": 16, "kernel_size": 3}
    options |= {"device": device, "weight_tensor": weight, "padding": 1}
    flat = ttnn.conv1d(input_tensor=ttnn.reshape(x, (1, 1, 32, 32)), **options)
    np.testing.assert_array_equal(values_of(ttnn.conv1d(input_tensor=x, **options)), values_of(flat))


def test_activations_in_dram_stay(device: ttnn.MeshDevice) -> None:
    weight = ttnn.Tensor(np.ones((32, 32, 1, 1), np.float32), ttnn.bfloat16)
    options = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 4, "input_width": 8}
    options |= {"device": device, "weight_tensor": weight, "kernel_size": [1, 1]}
    config = ttnn.Conv2dConfig(deallocate_activation=True)
    for place, stays in ((ttnn.DRAM_MEMORY_CONFIG, True), (ttnn.L1_MEMORY_CONFIG, False)):
        x = ttnn.ones((1, 1, 32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device, place)
        ttnn.conv2d(input_tensor=x, conv_config=config, **options)
        assert x.is_allocated() is stays


def test_comparison_mode_applies_the_fused_activation(device: ttnn.MeshDevice) -> None:
    rng = np.random.default_rng(4)
    x = ttnn.Tensor(rng.standard_normal((1, 1, 64, 32)), ttnn.bfloat16, device, ttnn.ROW_MAJOR_LAYOUT)
    weight = ttnn.Tensor(rng.standard_normal((32, 32, 3, 3)), ttnn.bfloat16)
    relu = ttnn.Conv2dConfig(activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))
    agrees_with_golden(
        lambda: ttnn.conv2d(
            input_tensor=x,
            weight_tensor=weight,
            device=device,
            in_channels=32,
            out_channels=32,
            batch_size=1,
            input_height=8,
            input_width=8,
            kernel_size=(3, 3),
            padding=(1, 1),
            conv_config=relu,
        )
    )
