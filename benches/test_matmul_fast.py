"""Products in the fast numerics mode, with torch's bfloat16 product beside them: `extra_info` has the ratio.

Both sides write into an existing result and use the same number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.config import manage_config

torch: Any = pytest.importorskip("torch")

CASES = [(size, size, size) for size in (512, 1024, 2048, 4096)]
DECODE = (32, 4096, 4096)


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with manage_config("numerics", "fast"):
        yield


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    number = int(request.param)
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    with manage_config("threads", number):
        yield number
    torch.set_num_threads(before)


def best(run: Callable[[], object], seconds: float = 0.5) -> float:
    """Return the shortest of the runs that fit in a time."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    shape: tuple[int, int, int],
    fidelity: str,
    weights: ttnn.DataType = ttnn.bfloat16,
) -> None:
    m, k, n = shape
    left, right = (random.standard_normal(sides, np.float32) for sides in ((m, k), (k, n)))
    a = ttnn.Tensor(left, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    b = ttnn.Tensor(right, weights, device, ttnn.TILE_LAYOUT)
    out = ttnn.Tensor(np.zeros((m, n), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=getattr(ttnn.MathFidelity, fidelity))
    theirs = [torch.from_numpy(values).bfloat16() for values in (left, right)]
    result = torch.empty(m, n, dtype=torch.bfloat16)

    def run() -> object:
        return ttnn.matmul(a, b, compute_kernel_config=config, optional_output_tensor=out)

    def run_torch() -> object:
        return torch.matmul(*theirs, out=result)

    run()
    run_torch()
    ours, torchs = best(run), best(run_torch)
    benchmark.extra_info.update(
        torch_seconds=torchs,
        times_torch=torchs / ours,
        gigaflops=2 * m * k * n / ours / 1e9,
        weight_gigabytes_per_second=b._spec.page_bytes * b._spec.num_pages / ours / 1e9,
    )
    benchmark(run)


@pytest.mark.benchmark(group="matmul, fast mode")
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi3", "HiFi4"])
@pytest.mark.parametrize("shape", CASES, ids=str)
def test_square(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    threads: int,
    shape: tuple[int, int, int],
    fidelity: str,
) -> None:
    measure(benchmark, device, random, shape, fidelity)


@pytest.mark.benchmark(group="matmul, fast mode, decode")
@pytest.mark.parametrize("weights", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=str)
def test_decode(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, threads: int, weights: ttnn.DataType
) -> None:
    measure(benchmark, device, random, DECODE, "LoFi", weights)


@pytest.mark.benchmark(group="matmul, fast mode, decode")
def test_read_bandwidth(benchmark: Any, random: np.random.Generator, threads: int) -> None:
    """What reading as many bytes as bfloat16 weights of the decode case costs: the bound of that case."""
    words = torch.from_numpy(random.integers(0, 1 << 40, DECODE[1] * DECODE[2] // 4, np.int64))
    seconds = best(words.sum)
    benchmark.extra_info["gigabytes_per_second"] = words.numel() * 8 / seconds / 1e9
    benchmark(words.sum)
