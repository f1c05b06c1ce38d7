"""4096 x 4096 bfloat16 functions, against torch in the same run.

They are in DRAM, with an existing output.

Run on one thread: `TTNN_THREADS=1 python benches/test_unary.py` measures calls in a row, of both by turns, and prints
the ratios; `TTNN_THREADS=1 pytest benches/test_unary.py --benchmark-only` prints the times with their spread.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import matrix

SIZE = 4096
FUNCTIONS = ["exp", "gelu", "silu", "tanh", "sigmoid", "sqrt", "reciprocal", "erf"]
ROUNDS = 7
# Of each library in a row. On a CPU with hundreds of megabytes of cache a result of 32 MiB is written back bit by bit
# while the next calls run: the second one still pays for it, half of these calls see it through.
CALLS = 30


def values(random: np.random.Generator, name: str) -> Any:
    """Standard normal values; of them the magnitudes for the root."""
    block = matrix(random, SIZE)
    return np.abs(block) if name == "sqrt" else block


def of_ttnn(random: np.random.Generator, name: str, device: ttnn.MeshDevice) -> Callable[[], object]:
    x = ttnn.Tensor(values(random, name), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    function, y = getattr(ttnn, name), ttnn.clone(x)
    return lambda: function(x, output_tensor=y)


def of_torch(random: np.random.Generator, name: str) -> Callable[[], object]:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(ttnn.CONFIG.threads)
    x = torch.from_numpy(values(random, name)).bfloat16()
    y = torch.empty_like(x)
    function = getattr(torch.ops.aten, name).out if name in ("gelu", "silu") else getattr(torch, name)
    return lambda: function(x, out=y)


@pytest.mark.benchmark(group="unary, 4096 x 4096")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unary(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str) -> None:
    benchmark(of_ttnn(random, name, device))


@pytest.mark.benchmark(group="unary, 4096 x 4096")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_torch_unary(benchmark: Any, random: np.random.Generator, name: str) -> None:
    benchmark(of_torch(random, name))


def milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Time consecutive calls: the second, and those after many.

    After so many that nothing of the other library is left.
    """
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return times[1], statistics.median(times[CALLS // 2 :])


def compare(names: list[str]) -> None:
    """Print call medians, their ratio, and the second calls' ratio.

    Both libraries are called alternately.
    """
    print(f"{'function':12} {'ttnn ms':>8} {'torch ms':>9} {'ratio':>6} {'of second calls':>16}")
    with ttnn.manage_device(device_id=0) as device:
        for name in names:
            both = [of_ttnn(np.random.default_rng(1), name, device), of_torch(np.random.default_rng(1), name)]
            ours, theirs = zip(*([milliseconds(work) for work in both] for _ in range(ROUNDS)), strict=True)
            (our_second, our_later), (their_second, their_later) = (
                [statistics.median(times) for times in zip(*rounds, strict=True)] for rounds in (ours, theirs)
            )
            ratios = f"{their_later / our_later:6.2f} {their_second / our_second:16.2f}"
            print(f"{name:12} {our_later:8.2f} {their_later:9.2f} {ratios}", flush=True)


if __name__ == "__main__":
    compare(sys.argv[1:] or FUNCTIONS)
