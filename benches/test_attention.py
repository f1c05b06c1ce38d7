"""Prefill attention of 1 x 8 x 1024 x 64.

Relative to matmuls (exact mode) and to torch (fast mode).

Run on one thread: `TTNN_THREADS=1 pytest benches/test_attention.py --benchmark-only`; the ratios are printed below the
table. A causal program computes half of the products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import in_torch, on_device
from ratios import compare
from ttnn.base.config import manage_config

SHAPE = (1, 8, 1024, 64)
CONFIG = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)


def _qkv(random: np.random.Generator) -> list[Any]:
    return [random.standard_normal(SHAPE, np.float32) for _ in range(3)]


def _attention(tensors: list[ttnn.Tensor], causal: bool, chunk: int | None) -> ttnn.Tensor:
    grid = (8, 8)
    program = chunk and ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=grid, q_chunk_size=chunk, k_chunk_size=chunk
    )
    return ttnn.transformer.scaled_dot_product_attention(
        *tensors, is_causal=causal, program_config=program or None, compute_kernel_config=CONFIG
    )


@pytest.mark.benchmark(group="attention, exact")
@pytest.mark.parametrize("chunk", [None, 256], ids=str)
@pytest.mark.parametrize("causal", [False, True], ids=["whole", "causal"])
def test_exact(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, causal: bool, chunk: int | None
) -> None:
    values = _qkv(random)
    tensors = [on_device(value, "bfloat16", device) for value in values]
    keys = on_device(np.ascontiguousarray(values[1].swapaxes(-1, -2)), "bfloat16", device)
    scores = on_device(random.standard_normal((*SHAPE[:3], SHAPE[2]), np.float32), "bfloat16", device)

    def products() -> None:
        ttnn.matmul(tensors[0], keys, compute_kernel_config=CONFIG)
        ttnn.matmul(scores, tensors[2], compute_kernel_config=CONFIG)

    part = 0.5 if causal else 1.0
    compare(benchmark, lambda: _attention(tensors, causal, chunk), products, "products", part)


@pytest.mark.benchmark(group="attention, fast")
@pytest.mark.parametrize("causal", [False, True], ids=["whole", "causal"])
def test_fast(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, causal: bool) -> None:
    torch = pytest.importorskip("torch")
    values = _qkv(random)
    tensors = [on_device(value, "bfloat16", device) for value in values]
    theirs = [in_torch(value, "bfloat16") for value in values]
    attention = torch.nn.functional.scaled_dot_product_attention
    with manage_config("numerics", "fast"):
        compare(
            benchmark,
            lambda: _attention(tensors, causal, None),
            lambda: attention(*theirs, is_causal=causal),
            "torch",
        )
