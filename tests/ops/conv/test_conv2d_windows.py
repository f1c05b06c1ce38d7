"""Convolutions with and without windows in memory: equal bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import raw_of
from ttnn import _engine
from ttnn.base.config import manage_config
from ttnn.ops.conv import conv2d as module
from ttnn.tensor.tensor import Tensor

CASES = [
    {"kernel_size": [3, 3], "stride": [1, 1], "padding": [1, 1], "dilation": [1, 1]},
    {"kernel_size": [3, 2], "stride": [2, 3], "padding": [2, 0, 1, 3], "dilation": [1, 1]},
    {"kernel_size": [2, 3], "stride": [1, 2], "padding": [0, 2], "dilation": [3, 2]},
    {"kernel_size": [1, 1], "stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]},
    {"kernel_size": [1, 1], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1]},
]
SPECIAL = [0x0000, 0x8000, 0x0001, 0x807F, 0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81]
"""Special bfloat16 values, which change in Dst.

Zeros, denormals, infinities and NaN.
"""


def _image(random: np.random.Generator, shape: tuple[int, ...], *, special: bool) -> np.ndarray:
    words = (random.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint32)
    if special:
        places = random.integers(0, words.size, words.size // 50)
        words.reshape(-1)[places] = random.choice(SPECIAL, len(places))
    return (words << 16).view(np.float32)


def _unfolded(name: str, tensor: Tensor, window: module.Window, *_more: Any) -> tuple[Tensor, dict[str, Any]]:
    return module._unfolded(name, module._images(name, tensor), window), {}


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("channels", [32, 96])
def test_windows_are_those_of_memory(
    channels: int, case: dict[str, Any], layout: ttnn.Layout, device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(channels)
    batch, height, width = 2, 9, 13
    for special in (False, True):
        values = _image(random, (1, 1, batch * height * width, channels), special=special)
        images = ttnn.Tensor(values, ttnn.bfloat16, device, layout)
        weights = ttnn.Tensor(random.standard_normal((40, channels, *case["kernel_size"]), np.float32), ttnn.bfloat16)
        options = {
            "device": device,
            "in_channels": channels,
            "out_channels": 40,
            "batch_size": batch,
            "input_height": height,
            "input_width": width,
            **case,
        }
        results = {}
        for numerics in ("exact", "fast"):
            with manage_config("numerics", numerics):
                results[numerics] = ttnn.conv2d(input_tensor=images, weight_tensor=weights, **options)
                with monkeypatch.context() as patch:
                    patch.setattr(module, "_left_operand", _unfolded)
                    expected = ttnn.conv2d(input_tensor=images, weight_tensor=weights, **options)
            if numerics == "exact":
                np.testing.assert_array_equal(raw_of(results[numerics]), raw_of(expected))
            elif not special:
                got, same = (np.asarray(tensor.to_numpy()) for tensor in (results[numerics], expected))
                np.testing.assert_array_equal(got, same)


def test_results_do_not_depend_on_threads_and_cpu_level(device: ttnn.MeshDevice) -> None:
    random = np.random.default_rng(3)
    images = ttnn.Tensor(_image(random, (1, 1, 300, 64), special=True), ttnn.bfloat16, device)
    weights = ttnn.Tensor(random.standard_normal((32, 64, 3, 3), np.float32), ttnn.bfloat16)

    def run() -> bytes:
        result = ttnn.conv2d(
            input_tensor=images,
            weight_tensor=weights,
            device=device,
            in_channels=64,
            out_channels=32,
            batch_size=1,
            input_height=15,
            input_width=20,
            kernel_size=[3, 3],
            padding=[1, 1],
        )
        return raw_of(result).tobytes()

    expected = run()
    for name, values in (("threads", [1, 3]), ("cpu_level", _engine.cpu_levels())):
        for value in values:
            with manage_config(name, value):
                assert run() == expected
