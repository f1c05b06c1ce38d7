"""Programs: calls of the kernel API per second, and the 64-core matmul through kernels against the operator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import metal

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import eltwise_add
import matmul_multicast

BLOCKING = matmul_multicast.Blocking(per_core_m=4, per_core_n=4, kt=32, in0_block_w=2, subblock_h=2, subblock_w=2)
GRID = (8, 8)


def test_kernel_calls(benchmark: Any, device: ttnn.MeshDevice) -> None:
    """One core adds tiles one by one; `calls_per_second` counts all three kernels."""
    reports = []
    benchmark(lambda: reports.append(eltwise_add.run(device).report))
    calls = sum(kernel.calls for kernel in reports[-1].kernels)
    if benchmark.stats is not None:
        benchmark.extra_info["calls_per_second"] = round(calls / benchmark.stats.stats.min)


@pytest.mark.parametrize("way", ["kernels", "operator"])
def test_matmul_on_64_cores(benchmark: Any, device: ttnn.MeshDevice, way: str) -> None:
    """1024 cubed in bfloat16 with multicast: the same blocks through kernels and by `ttnn.matmul`."""
    a, b = matmul_multicast.operands(device, 1024, 1024, 1024)
    out = matmul_multicast.empty((1024, 1024), device)
    addresses = (a.buffer_address(), b.buffer_address(), out.buffer_address())
    program = matmul_multicast.build(device, addresses, GRID, BLOCKING)

    def kernels() -> object:
        return metal.run_program(device, program, trace=False)

    def operator() -> object:
        return matmul_multicast.by_operator(a, b, BLOCKING, GRID)

    benchmark.pedantic(kernels if way == "kernels" else operator, rounds=3)
    if way == "kernels":
        result = ttnn.to_torch(out).float().numpy()
        np.testing.assert_array_equal(result, ttnn.to_torch(operator()).float().numpy())
