"""Comparison mode with prepared weights.

Golden functions read them as the weights that they were made of.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.operation import carried
from ttnn.operation.slow_path import ComparisonError

SIZES: dict[str, Any] = {"in_channels": 20, "out_channels": 64, "batch_size": 2, "groups": 2}
PLACES: dict[str, dict[str, Any]] = {
    "conv1d": {"input_length": 30, "kernel_size": 3, "padding": 1},
    "conv2d": {"input_height": 6, "input_width": 5, "kernel_size": (3, 2), "padding": (1, 1)},
    "conv_transpose2d": {"input_height": 6, "input_width": 5, "kernel_size": (3, 2), "stride": (2, 1)},
}
WEIGHTS = {"conv1d": (64, 10, 3), "conv2d": (64, 10, 3, 2), "conv_transpose2d": (20, 32, 3, 2)}


@pytest.fixture
def compare(tmp_path: Path) -> Iterator[Callable[[str], list[float]]]:
    """Switch comparison mode on; return a reader of correlations.

    Local and global; it reads those of a level.
    """
    names = ("root_report_path", "report_name", "enable_logging", "enable_comparison_mode")
    before = {name: getattr(ttnn.CONFIG, name) for name in (*names, "comparison_mode_should_raise_exception")}
    for name, value in zip(names, (tmp_path, "convolutions", True, True), strict=True):
        setattr(ttnn.CONFIG, name, value)
    ttnn.CONFIG.comparison_mode_should_raise_exception = True
    carried.forget_all()
    folder = ttnn.CONFIG.report_path
    assert folder is not None

    def records(level: str) -> list[float]:
        with sqlite3.connect(folder / "db.sqlite") as database:
            return [pcc for (pcc,) in database.execute(f"SELECT actual_pcc FROM {level}_tensor_comparison_records")]

    yield records
    for name, value in before.items():
        setattr(ttnn.CONFIG, name, value)


def tensor(shape: tuple[int, ...], seed: int) -> ttnn.Tensor:
    return ttnn.Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32), ttnn.bfloat16)


def operands(name: str) -> tuple[dict[str, Any], ttnn.Tensor, ttnn.Tensor]:
    compute = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    call = SIZES | PLACES[name] | {"input_tensor": tensor((1, 1, 60, 20), 0), "compute_config": compute}
    return call, tensor(WEIGHTS[name], 1), tensor((1, 1, 1, 64), 2)


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_a_call_returns(name: str, device: ttnn.MeshDevice, compare: Callable[[str], list[float]]) -> None:
    call, weight, bias = operands(name)
    for _ in range(2):
        _, (weight, bias) = getattr(ttnn, name)(
            weight_tensor=weight, bias_tensor=bias, device=device, return_weights_and_bias=True, **call
        )
    assert weight.layout is ttnn.TILE_LAYOUT
    for level in ("local", "global"):
        first, second = compare(level)
        assert first > 0.9999
        assert second == pytest.approx(first, abs=1e-7)


@pytest.mark.parametrize("mirrored", [True, False])
def test_weights_prepared_before(
    mirrored: bool, device: ttnn.MeshDevice, compare: Callable[[str], list[float]]
) -> None:
    for name, prepare in (
        ("conv2d", ttnn.prepare_conv_weights),
        ("conv_transpose2d", ttnn.prepare_conv_transpose2d_weights),
    ):
        call, weight, bias = operands(name)
        mirror = {} if name == "conv2d" else {"mirror_kernel": mirrored}
        options = {key: call[key] for key in ("in_channels", "out_channels", "kernel_size", "groups")} | mirror
        config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b)
        prepared = prepare(weight_tensor=weight, device=device, conv_config=config, **options)
        getattr(ttnn, name)(
            weight_tensor=prepared, bias_tensor=bias, device=device, conv_config=config, **call, **mirror
        )
    assert len(compare("global")) == 2
    assert min(compare("local") + compare("global")) > 0.9999


@pytest.mark.parametrize("block", [0, 32])
def test_volumes_in_blocks_of_channels(
    block: int, device: ttnn.MeshDevice, compare: Callable[[str], list[float]]
) -> None:
    weight = ttnn.experimental.prepare_conv3d_weights(
        weight_tensor=tensor((32, 64, 2, 3, 1), 1), C_in_block=block, device=device
    )
    ttnn.experimental.conv3d(
        input_tensor=ttnn.to_device(tensor((1, 3, 4, 5, 64), 0), device),
        weight_tensor=weight,
        device=device,
        config=ttnn.Conv3dConfig(C_in_block=block, compute_with_storage_grid_size=ttnn.CoreCoord(8, 7)),
        dtype=ttnn.bfloat16,
        output_channels=32,
        kernel_size=[2, 3, 1],
    )
    assert min(compare("local") + compare("global")) > 0.9999


def test_other_weights_are_seen(device: ttnn.MeshDevice, compare: Callable[[str], list[float]]) -> None:
    """A golden function with another row order has low correlation."""
    call, weight, bias = operands("conv2d")
    options = {key: call[key] for key in ("in_channels", "out_channels", "kernel_size", "groups")}
    prepared = ttnn.prepare_conv_weights(weight_tensor=weight, **options)
    golden = ttnn.conv2d.entry.golden
    plain = {key: value for key, value in call.items() if key not in ("input_tensor", "compute_config")}
    x, values = np.asarray(call["input_tensor"].to_numpy()), np.asarray(prepared.to_numpy())
    expected = golden(x, np.asarray(weight.to_numpy()), **plain)
    np.testing.assert_allclose(golden(x, values, **plain), expected, rtol=1e-12)
    assert np.corrcoef(golden(x, values[:, :, ::-1], **plain).ravel(), expected.ravel())[0, 1] < 0.9
    with pytest.raises(ValueError, match="reshape"):
        golden(x, values[:, :, 1:], **plain)
    with pytest.raises((ComparisonError, ttnn.ShapeError)):
        ttnn.conv2d(
            weight_tensor=ttnn.Tensor(values[:, :, 1:].copy(), ttnn.bfloat16, None, ttnn.TILE_LAYOUT),
            bias_tensor=bias,
            device=device,
            **call,
        )
