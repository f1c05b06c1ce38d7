"""Matmuls in fast mode and torch's bfloat16 matmul.

The ratio is printed below the table.

Both sides write into an existing result and use the same number of threads. Decode cases also print how fast the
weights were read, and what part that is of the speed at which this machine reads as many bytes, measured in the same
run: of layers by turns, whose weights are more than caches hold, as a model's are, and of one layer again and again.
Other programs on the machine disturb them; on Linux, `chrt -f 10` keeps those away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.config import manage_config

torch: Any = pytest.importorskip("torch")

CASES = [(size, size, size) for size in (512, 1024, 2048, 4096)]
# For one user, for eight and for a tile of them.
DECODE = [(rows, 4096, 4096) for rows in (1, 8, 32)]
# Weights of layers that are multiplied by turns: more than a server's third-level cache.
LAYERS_BYTES = 1 << 30


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


def read_gigabytes_per_second(size: int, layers: int) -> float:
    """Return the speed of torch's sum over each layer's words.

    Each layer in its turn; it is the quickest reader at hand.
    """
    words = cycle([torch.arange(size // 8) for _ in range(layers)])
    return size / best(lambda: next(words).sum()) / 1e9


def measure(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    shape: tuple[int, int, int],
    fidelity: str,
    weights: ttnn.DataType = ttnn.bfloat16,
    layers_bytes: int = 0,
) -> Callable[[], object]:
    m, k, n = shape
    left, right = (random.standard_normal(sides, np.float32) for sides in ((m, k), (k, n)))
    a = ttnn.Tensor(left, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    b = ttnn.Tensor(right, weights, device, ttnn.TILE_LAYOUT)
    out = ttnn.Tensor(np.zeros((m, n), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=getattr(ttnn.MathFidelity, fidelity))
    size = b.spec.page_bytes * b.spec.num_pages
    # Where benches are not measured, there is one layer, and no peer: it needs minutes without bfloat16 matmuls.
    layers = 1 if benchmark.disabled else max(1, layers_bytes // size)
    ours_of_layers = cycle([b, *(ttnn.clone(b) for _ in range(layers - 1))])
    torch_left, torch_right = (torch.from_numpy(values).bfloat16() for values in (left, right))
    torchs_of_layers = cycle([torch_right, *(torch_right.clone() for _ in range(layers - 1))])
    result = torch.empty(m, n, dtype=torch.bfloat16)

    def run() -> object:
        return ttnn.matmul(a, next(ours_of_layers), compute_kernel_config=config, optional_output_tensor=out)

    def run_torch() -> object:
        return torch.mm(torch_left, next(torchs_of_layers), out=result)

    if benchmark.disabled:
        return run
    for _ in range(layers):
        run()
        run_torch()
    # In turns, so that a change of the clock or a neighbour's load meets both.
    rounds = [(best(run, 0.25), best(run_torch, 0.25)) for _ in range(3)]
    ours, torchs = (min(times) for times in zip(*rounds, strict=True))
    benchmark.extra_info.update(torch_seconds=torchs, times_torch=torchs / ours, gigaflops=2 * m * k * n / ours / 1e9)
    if shape in DECODE:
        read, limit = size / ours / 1e9, read_gigabytes_per_second(size, layers)
        benchmark.extra_info.update(
            weight_gigabytes_per_second=read, read_gigabytes_per_second=limit, part_of_read_speed=read / limit
        )
    return run


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
    benchmark(measure(benchmark, device, random, shape, fidelity))


@pytest.mark.benchmark(group="matmul, fast mode, decode")
@pytest.mark.parametrize("weights", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b], ids=str)
@pytest.mark.parametrize("shape", DECODE, ids=str)
@pytest.mark.parametrize("layers_bytes", [LAYERS_BYTES, 0], ids=["layers", "layer"])
def test_decode(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    threads: int,
    shape: tuple[int, int, int],
    weights: ttnn.DataType,
    layers_bytes: int,
) -> None:
    benchmark(measure(benchmark, device, random, shape, "LoFi", weights, layers_bytes))
