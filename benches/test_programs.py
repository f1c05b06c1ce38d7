"""Programs: kernel API calls per second, and a 64-core matmul.

The matmul through kernels is compared with the operator.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from examples import common
from examples.classic import eltwise_add, matmul_multicast
from ttnn import metal
from ttnn.kernel_api import cb_wait_front
from ttnn.metal.cpp.toolchain import find_toolchain

ROOT = Path(__file__).resolve().parents[1]
BLOCKING = matmul_multicast.Blocking(per_core_m=4, per_core_n=4, kt=32, in0_block_w=2, subblock_h=2, subblock_w=2)
GRID = (8, 8)
FIRST_RESULT = """
import time

import ttnn
from examples import common
from examples.classic import eltwise_add

with ttnn.manage_device(device_id=0) as device, common.in_cpp():
    begin = time.perf_counter()
    eltwise_add.run(device)
    print(time.perf_counter() - begin)
"""
"""A process that times its first result through C++ kernels.

It adds two tensors and prints the seconds.
"""


def test_kernel_calls(benchmark: Any, device: ttnn.MeshDevice) -> None:
    """One core adds tiles one by one; `calls_per_second` counts all three kernels."""
    reports = []
    benchmark(lambda: reports.append(eltwise_add.run(device).report))
    calls = sum(kernel.calls for kernel in reports[-1].kernels)
    if benchmark.stats is not None:
        benchmark.extra_info["calls_per_second"] = round(calls / benchmark.stats.stats.min)


@pytest.mark.parametrize("way", ["kernels", "cpp kernels", "operator"])
def test_matmul_on_64_cores(benchmark: Any, device: ttnn.MeshDevice, way: str) -> None:
    """1024 cubed in bfloat16 with multicast.

    The same blocks through kernels and by `ttnn.matmul`.
    """
    if way == "cpp kernels":
        try:
            find_toolchain()
        except ttnn.KernelCompileError as error:
            pytest.skip(str(error))
    a, b = matmul_multicast.operands(device, 1024, 1024, 1024)
    out = matmul_multicast.empty((1024, 1024), device)
    with common.in_cpp(way == "cpp kernels"):
        program = matmul_multicast.build(device, (a, b, out), GRID, BLOCKING)

    def kernels() -> object:
        return metal.run_program(device, program, trace=False)

    def operator() -> object:
        return matmul_multicast.by_operator(a, b, BLOCKING, GRID)

    benchmark.pedantic(operator if way == "operator" else kernels, rounds=3, warmup_rounds=1)
    if way != "operator":
        result = ttnn.to_torch(out).float().numpy()
        np.testing.assert_array_equal(result, ttnn.to_torch(operator()).float().numpy())


def test_deadlock_of_64_cores(benchmark: Any, device: ttnn.MeshDevice) -> None:
    """128 kernels waiting for ever.

    `milliseconds_after_progress` is from the last call of any of them to the error.
    """
    last = [0.0]

    def kernel() -> None:
        last[0] = time.perf_counter()
        cb_wait_front(0, 1)

    everywhere = metal.CoreRange(metal.CoreCoord(0, 0), metal.CoreCoord(7, 7))
    program = metal.create_program()
    config = metal.CircularBufferConfig(2048, {0: metal.DataFormat.Float16_b}).set_page_size(0, 2048)
    metal.create_circular_buffer(program, everywhere, config)
    for processor in (metal.ReaderDataMovementConfig(), metal.WriterDataMovementConfig()):
        metal.create_kernel(program, kernel, everywhere, processor)
    delays = []

    def run() -> None:
        with pytest.raises(ttnn.DeadlockError):
            metal.run_program(device, program)
        delays.append(time.perf_counter() - last[0])
        device.reset()

    benchmark.pedantic(run, rounds=10)
    if benchmark.stats is not None:
        benchmark.extra_info["milliseconds_after_progress"] = round(1000 * min(delays), 2)


@pytest.mark.parametrize("cache", ["empty", "full"])
def test_first_result_of_cpp_kernels(benchmark: Any, tmp_path: Path, cache: str) -> None:
    """Three C++ kernels in a new process.

    `milliseconds` are from building the program to its result.

    With the cache full, another process compiled them before.
    """
    try:
        find_toolchain()
    except ttnn.KernelCompileError as error:
        pytest.skip(str(error))
    rounds = iter(range(1000))

    def first_result(folder: Path) -> float:
        done = subprocess.run(
            [sys.executable, "-c", FIRST_RESULT],
            env={**os.environ, "TT_METAL_CACHE": str(folder), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    def fresh() -> tuple[tuple[Path], dict[str, Any]]:
        return (tmp_path / (f"{next(rounds)}" if cache == "empty" else "kept"),), {}

    found: list[float] = []
    benchmark.pedantic(lambda folder: found.append(first_result(folder)), setup=fresh, rounds=3, warmup_rounds=1)
    benchmark.extra_info["milliseconds"] = round(1000 * min(found[1:] or found))
