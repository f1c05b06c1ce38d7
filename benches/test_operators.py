"""Operators on the device and in the host's libraries.

Both are measured in the same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import matrix

FIDELITIES = ["LoFi", "HiFi2", "HiFi4"]
SMALL, LARGE, WEIGHTS = 256, 1024, 4096
DECODE = f"matmul, bfloat16 rows by {WEIGHTS} x {WEIGHTS} weights"


def on_device(device: ttnn.MeshDevice, random: np.random.Generator, size: int) -> ttnn.Tensor:
    return ttnn.Tensor(matrix(random, size), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)


@pytest.mark.benchmark(group=f"matmul, bfloat16, {SMALL} x {SMALL}")
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_matmul(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, fidelity: str) -> None:
    a, b = on_device(device, random, SMALL), on_device(device, random, SMALL)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=getattr(ttnn.MathFidelity, fidelity))
    benchmark(ttnn.matmul, a, b, compute_kernel_config=config)


@pytest.mark.benchmark(group=f"matmul, bfloat16, {SMALL} x {SMALL}")
def test_numpy_float32_matmul(benchmark: Any, random: np.random.Generator) -> None:
    benchmark(np.matmul, matrix(random, SMALL), matrix(random, SMALL))


@pytest.mark.benchmark(group=f"matmul, bfloat16, {SMALL} x {SMALL}")
def test_torch_bfloat16_matmul(benchmark: Any, random: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(matrix(random, SMALL)).bfloat16() for _ in range(2))
    benchmark(torch.matmul, a, b)


@pytest.mark.benchmark(group=DECODE)
@pytest.mark.parametrize("rows", [1, 8, 32])
@pytest.mark.parametrize("weights", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=str)
def test_decode(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, weights: ttnn.DataType, rows: int
) -> None:
    b = ttnn.Tensor(matrix(random, WEIGHTS), weights, device, ttnn.TILE_LAYOUT)
    a = ttnn.Tensor(matrix(random, WEIGHTS)[:rows], ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    benchmark(ttnn.matmul, a, b)


@pytest.mark.benchmark(group=DECODE)
@pytest.mark.parametrize("rows", [1, 8, 32])
def test_torch_decode(benchmark: Any, random: np.random.Generator, rows: int) -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(matrix(random, WEIGHTS)).bfloat16() for _ in range(2))
    benchmark(torch.matmul, a[:rows], b)


@pytest.mark.benchmark(group=f"element-wise, bfloat16, {LARGE} x {LARGE}")
@pytest.mark.parametrize("name", ["add", "multiply"])
def test_binary(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str) -> None:
    benchmark(getattr(ttnn, name), on_device(device, random, LARGE), on_device(device, random, LARGE))


@pytest.mark.benchmark(group=f"element-wise, bfloat16, {LARGE} x {LARGE}")
@pytest.mark.parametrize("name", ["exp", "relu"])
def test_unary(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str) -> None:
    benchmark(getattr(ttnn, name), on_device(device, random, LARGE))


@pytest.mark.benchmark(group=f"element-wise, bfloat16, {LARGE} x {LARGE}")
@pytest.mark.parametrize("name", ["add", "exp"])
def test_torch(benchmark: Any, random: np.random.Generator, name: str) -> None:
    torch = pytest.importorskip("torch")
    operands = [torch.from_numpy(matrix(random, LARGE)).bfloat16() for _ in range(2 if name == "add" else 1)]
    benchmark(getattr(torch, name), *operands)


@pytest.mark.benchmark(group="one tile")
def test_add_of_one_tile(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator) -> None:
    benchmark(ttnn.add, on_device(device, random, 32), on_device(device, random, 32))


@pytest.mark.benchmark(group="repeated calls on one tile, bfloat16")
@pytest.mark.parametrize("name", ["add", "exp", "softmax", "matmul"])
def test_repeated_call(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str) -> None:
    operands = [on_device(device, random, 32) for _ in range(2 if name in ("add", "matmul") else 1)]
    arguments = (*operands, -1) if name == "softmax" else operands
    for _ in range(3):
        getattr(ttnn, name)(*arguments)
    benchmark(getattr(ttnn, name), *arguments)


@pytest.mark.benchmark(group="repeated calls on one tile, bfloat16")
def test_torch_add_of_one_tile(benchmark: Any, random: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(matrix(random, 32)).bfloat16() for _ in range(2))
    benchmark(torch.add, a, b)
