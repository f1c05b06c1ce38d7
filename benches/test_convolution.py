"""Convolutions of a ResNet-50 block, relative to matmul and torch.

To a matmul of the same size (exact) and to torch (fast).

Run on one thread: `TTNN_THREADS=1 pytest benches/test_convolution.py --benchmark-only`; the ratios are printed below
the table. Weights are prepared; torch has channels last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import in_torch, on_device
from ratios import compare
from ttnn.base.config import manage_config

SIDE = 56
LAYERS = {"3x3, 64 to 64": (64, 64, 3), "1x1, 256 to 64": (256, 64, 1), "1x1, 64 to 256": (64, 256, 1)}
CONFIG = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)


def _ours(device: ttnn.MeshDevice, images: Any, weights: Any, layout: ttnn.Layout) -> Callable[[], object]:
    batch, channels = images.shape[:2]
    outs, _, size, _ = weights.shape
    rows = np.ascontiguousarray(images.transpose(0, 2, 3, 1)).reshape(1, 1, -1, channels)
    options = {
        "input_tensor": ttnn.Tensor(rows, ttnn.bfloat16, device, layout),
        "device": device,
        "in_channels": channels,
        "out_channels": outs,
        "batch_size": batch,
        "input_height": SIDE,
        "input_width": SIDE,
        "kernel_size": [size, size],
        "stride": [1, 1],
        "padding": [size // 2, size // 2],
        "dilation": [1, 1],
        "compute_config": CONFIG,
    }
    given = ttnn.Tensor(weights, ttnn.bfloat16)
    _, (prepared, _) = ttnn.conv2d(weight_tensor=given, return_weights_and_bias=True, **options)
    return lambda: ttnn.conv2d(weight_tensor=prepared, **options)


def _values(random: np.random.Generator, batch: int, layer: str) -> tuple[Any, Any]:
    channels, outs, size = LAYERS[layer]
    images = random.standard_normal((batch, channels, SIDE, SIDE), np.float32)
    return images, random.standard_normal((outs, channels, size, size), np.float32) / 8


@pytest.mark.benchmark(group="convolution, exact")
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=str)
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("layer", LAYERS)
def test_exact(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    layer: str,
    batch: int,
    layout: ttnn.Layout,
) -> None:
    images, weights = _values(random, batch, layer)
    outs, inner = weights.shape[0], weights[0].size
    a = on_device(random.standard_normal((1, 1, batch * SIDE * SIDE, inner), np.float32), "bfloat16", device)
    b = on_device(random.standard_normal((1, 1, inner, outs), np.float32), "bfloat16", device)
    run = _ours(device, images, weights, layout)
    compare(benchmark, run, lambda: ttnn.matmul(a, b, compute_kernel_config=CONFIG), "product")


@pytest.mark.benchmark(group="convolution, fast")
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=str)
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("layer", LAYERS)
def test_fast(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    layer: str,
    batch: int,
    layout: ttnn.Layout,
) -> None:
    torch = pytest.importorskip("torch")
    images, weights = _values(random, batch, layer)
    last = torch.channels_last
    x, w = (in_torch(value, "bfloat16").contiguous(memory_format=last) for value in (images, weights))
    padding = weights.shape[-1] // 2
    with manage_config("numerics", "fast"):
        run = _ours(device, images, weights, layout)
        compare(benchmark, run, lambda: torch.nn.functional.conv2d(x, w, padding=padding), "torch")
