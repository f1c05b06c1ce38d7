"""Convolutions of volumes: windows as rows, blocks of channels, and prepared weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.golden import conv as golden

HIFI2 = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)
FINE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)

TOO_WIDE = ttnn.Conv3dConfig(compute_with_storage_grid_size=ttnn.CoreCoord(20, 1))


def _values(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _tensor(
    values: Any,
    device: ttnn.MeshDevice | None = None,
    layout: ttnn.Layout = ttnn.ROW_MAJOR_LAYOUT,
    dtype: ttnn.DataType = ttnn.bfloat16,
) -> ttnn.Tensor:
    tensor = ttnn.to_layout(ttnn.Tensor(np.asarray(values, np.float32), dtype), layout)
    return tensor if device is None else ttnn.to_device(tensor, device)


def _read(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


def _config(block: int = 0, **more: Any) -> ttnn.Conv3dConfig:
    return ttnn.Conv3dConfig(C_in_block=block, compute_with_storage_grid_size=ttnn.CoreCoord(8, 7), **more)


def _windows(x: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Return [positions, kernel positions, channels] by the definition of the window."""
    kernel = options["kernel_size"]
    stride, padding, dilation = (options.get(name, start) for name, start in
                                 (("stride", [1] * 3), ("padding", [0] * 3), ("dilation", [1] * 3)))  # fmt: skip
    mode = "edge" if options.get("padding_mode") == "replicate" else "constant"
    volume = np.pad(x, ((0, 0), *((pad, pad) for pad in padding), (0, 0)), mode=mode)
    counts = [
        (volume.shape[axis + 1] - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis] + 1 for axis in range(3)
    ]
    rows = []
    for batch, *place in np.ndindex(x.shape[0], *counts):
        starts = [position * step for position, step in zip(place, stride, strict=True)]
        parts = [
            volume[(batch, *(start + by * at for start, by, at in zip(starts, dilation, offset, strict=True)))]
            for offset in np.ndindex(*kernel)
        ]
        rows.append(parts)
    return np.asarray(rows)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": [3, 3, 3], "padding": [0, 1, 1]},
        {"kernel_size": [1, 1, 1]},
        {"kernel_size": [2, 3, 1], "stride": [1, 2, 2], "padding": [1, 1, 0]},
        {"kernel_size": [2, 3, 2], "padding": [1, 2, 1], "padding_mode": "replicate"},
        {"kernel_size": [2, 2, 2], "dilation": [2, 1, 3]},
    ],
)
@pytest.mark.parametrize("block", [0, 32])
def test_bits_are_those_of_products_and_sums(block: int, options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    x = _tensor(_values(0, 2, 3, 4, 5, 64), device)
    weight, bias = _tensor(_values(1, 40, 64, *options["kernel_size"])), _values(2, 1, 40)
    result = ttnn.experimental.conv3d(
        input_tensor=x,
        weight_tensor=weight,
        device=device,
        bias_tensor=_tensor(bias, device, ttnn.TILE_LAYOUT),
        config=_config(block),
        dtype=ttnn.bfloat16,
        output_channels=40,
        **options,
    )
    windows = _windows(_read(x), options)
    matrix = _read(weight).transpose(2, 3, 4, 1, 0).reshape(-1, 64, 40)
    total = None
    for first in range(0, 64, block or 64):
        part = slice(first, first + (block or 64))
        rows = windows[:, :, part].reshape(1, 1, len(windows), -1)
        inner = rows.shape[-1]
        program = ttnn.MatmulMultiCoreReuseProgramConfig(
            compute_with_storage_grid_size=(8, 7),
            in0_block_w=-(-inner // 32),
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=-(-len(windows) // 32),
            per_core_N=2,
        )
        product = ttnn.matmul(
            _tensor(rows, device, ttnn.TILE_LAYOUT),
            _tensor(matrix[:, part].reshape(1, 1, inner, 40), device, ttnn.TILE_LAYOUT),
            program_config=program,
            compute_kernel_config=HIFI2,
        )
        total = product if total is None else ttnn.add(total, product)
    expected = ttnn.add(total, _tensor(bias.reshape(1, 1, 1, 40), device, ttnn.TILE_LAYOUT))
    assert result.layout is ttnn.ROW_MAJOR_LAYOUT
    np.testing.assert_array_equal(_read(result).reshape(-1, 40), _read(expected).reshape(-1, 40))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("groups", [1, 2])
def test_golden_function_agrees(groups: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    x = _tensor(_values(0, 1, 3, 5, 4, 32), device, dtype=dtype)
    weight = _tensor(_values(1, 32, 32 // groups, 3, 2, 2), dtype=dtype)
    options: dict[str, Any] = {"kernel_size": [3, 2, 2], "padding": [0, 1, 1], "stride": [1, 2, 1], "groups": groups}
    result = ttnn.experimental.conv3d(
        input_tensor=x,
        weight_tensor=weight,
        device=device,
        dtype=dtype,
        output_channels=32,
        compute_kernel_config=FINE,
        **options,
    )
    reference = golden.conv3d(_read(x), _read(weight), **options)
    assert tuple(result.shape) == reference.shape
    assert np.max(np.abs(_read(result) - reference)) < 0.01 * np.max(np.abs(reference))
    if dtype is ttnn.float32:
        # Rows are made of tiles that come back through SrcA.
        words = np.asarray(result.to_numpy(), np.float32).view(np.uint32)
        assert not np.any(words & 0x1FFF)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((32, 32, 3, 3, 3), {}),
        ((40, 32, 1, 2, 3), {"C_in_block": 16}),
        ((64, 16, 2, 2, 2), {"groups": 4, "C_in_block": 32}),
        ((8, 20, 1, 1, 2), {}),
        ((8, 20, 1, 1, 2), {"alignment": 16, "C_in_block": 16}),
    ],
)
def test_prepared_weights(shape: tuple[int, ...], options: dict[str, int], device: ttnn.MeshDevice) -> None:
    for dtype in (ttnn.bfloat16, ttnn.float32):
        weight = _tensor(_values(0, *shape), dtype=dtype)
        result = ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight, device=device, **options)
        expected = golden.prepare_conv3d_weights(_read(weight), **options)
        assert result.dtype is dtype
        np.testing.assert_array_equal(_read(result), expected)


def test_prepared_weights_give_the_bits_of_raw_ones(device: ttnn.MeshDevice) -> None:
    x, weight = _tensor(_values(0, 1, 2, 4, 4, 64), device), _tensor(_values(1, 32, 64, 2, 2, 2))
    options = {"config": _config(32), "dtype": ttnn.bfloat16, "output_channels": 32, "kernel_size": [2, 2, 2]}
    raw = ttnn.experimental.conv3d(input_tensor=x, weight_tensor=weight, device=device, **options)
    prepared = ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight, C_in_block=32, device=device)
    for given in (prepared, ttnn.to_layout(prepared, ttnn.TILE_LAYOUT)):
        result = ttnn.experimental.conv3d(input_tensor=x, weight_tensor=given, **options)
        np.testing.assert_array_equal(_read(result), _read(raw))
    whole = ttnn.experimental.conv3d(
        input_tensor=x, weight_tensor=weight, device=device, **options | {"config": _config()}
    )
    assert np.any(_read(whole) != _read(raw))


def test_dilation_of_the_configuration_counts(device: ttnn.MeshDevice) -> None:
    x, weight = _tensor(_values(0, 1, 3, 4, 4, 32), device), _tensor(_values(1, 32, 32, 2, 2, 2))
    options = {"device": device, "dtype": ttnn.bfloat16, "output_channels": 32, "kernel_size": [2, 2, 2]}
    given = ttnn.experimental.conv3d(input_tensor=x, weight_tensor=weight, dilation=[2, 1, 1], **options)
    config = ttnn.experimental.conv3d(
        input_tensor=x, weight_tensor=weight, config=_config(dilation=[2, 1, 1]), **options
    )
    np.testing.assert_array_equal(_read(given), _read(config))
    with pytest.raises(ttnn.ParameterError, match="must match when both are set"):
        ttnn.experimental.conv3d(
            input_tensor=x, weight_tensor=weight, config=_config(dilation=[2, 1, 1]), dilation=[1, 2, 1], **options
        )


@pytest.mark.parametrize(
    ("error", "match", "changes"),
    [
        (ttnn.UnsupportedError, "writes rows of input_tensor's data type", {"dtype": ttnn.float32}),
        (ttnn.ParameterError, "divisible by groups", {"groups": 3}),
        (ttnn.ParameterError, "zeros or replicate", {"padding_mode": "circular"}),
        (ttnn.ShapeError, "padded T dimension", {"kernel_size": [4, 1, 1]}),
        (ttnn.ShapeError, "Weight patch size", {"kernel_size": [1, 2, 2]}),
        (ttnn.ParameterError, "must be three integers", {"stride": [1, 1]}),
        (ttnn.ParameterError, "divisible by C_in_block", {"config": _config(48)}),
        (ttnn.ParameterError, "must be a multiple of 16", {"config": _config(8)}),
        (ttnn.ParameterError, "C_out_block must be a multiple", {"config": _config(C_out_block=48)}),
        (ttnn.ParameterError, "exceeds device grid", {"config": TOO_WIDE}),
        (ttnn.ParameterError, "number of cores", {"config": ttnn.Conv3dConfig(C_in_block=32)}),
        (ttnn.UnsupportedError, "do not end with a tile", {"config": _config(16)}),
        (ttnn.UnsupportedError, "enable_fp32_operand_split", {"config": _config(enable_fp32_operand_split=True)}),
        (ttnn.UnsupportedError, "output_layout", {"config": _config(output_layout=ttnn.TILE_LAYOUT)}),
        (ttnn.UnsupportedError, "output_pad_h", {"output_pad_h": 1}),
        (ttnn.ParameterError, "Device must be provided", {"device": None}),
    ],
)  # fmt: skip
def test_wrong_options_raise_errors(error: type, match: str, changes: dict[str, Any], device: ttnn.MeshDevice) -> None:
    x, weight = _tensor(_values(0, 1, 3, 2, 2, 64), device), _tensor(_values(1, 32, 64, 1, 1, 1))
    if "kernel_size" in changes and changes["kernel_size"][0] == 1:
        weight = ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight, device=device)
    options = {"device": device, "dtype": ttnn.bfloat16, "output_channels": 32, "kernel_size": [1, 1, 1]}
    with pytest.raises(error, match=match):
        ttnn.experimental.conv3d(input_tensor=x, weight_tensor=weight, **options | changes)


def test_wrong_operands_raise_errors(device: ttnn.MeshDevice) -> None:
    x, weight = _tensor(_values(0, 1, 3, 2, 2, 32), device), _tensor(_values(1, 32, 32, 1, 1, 1))
    options = {"device": device, "dtype": ttnn.bfloat16, "output_channels": 32, "kernel_size": [1, 1, 1]}

    def call(source: ttnn.Tensor = x, weights: ttnn.Tensor = weight, **more: Any) -> None:
        ttnn.experimental.conv3d(input_tensor=source, weight_tensor=weights, **options, **more)

    with pytest.raises(ttnn.LayoutError, match="must be row-major"):
        call(ttnn.to_layout(x, ttnn.TILE_LAYOUT))
    with pytest.raises(ttnn.ShapeError, match="must have 5 dimensions"):
        call(_tensor(_values(0, 3, 2, 2, 32), device))
    with pytest.raises(ttnn.StorageError, match="must be on host"):
        call(weights=ttnn.to_device(weight, device))
    with pytest.raises(ttnn.DTypeError, match="same dtype"):
        call(weights=_tensor(_values(1, 32, 32, 1, 1, 1), dtype=ttnn.float32))
    with pytest.raises(ttnn.LayoutError, match="Bias tensor must be tiled"):
        call(bias_tensor=_tensor(_values(1, 1, 32), device))
    with pytest.raises(ttnn.ShapeError, match="Bias must match"):
        call(bias_tensor=_tensor(_values(1, 1, 40), device, ttnn.TILE_LAYOUT))
    with pytest.raises(ttnn.ShapeError, match="C_in_aligned must be divisible"):
        ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight, C_in_block=24, device=device)
    with pytest.raises(ttnn.ParameterError, match="pass the device"):
        ttnn.experimental.prepare_conv3d_weights(weight_tensor=weight)
