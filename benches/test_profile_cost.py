"""Cost of a profile for repeated calls.

The same calls with and without a profile, in one run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import matrix

CALLS = 100

Call = Callable[[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor], object]

KINDS: dict[str, Call] = {
    "exp": lambda a, b, out: ttnn.exp(a),
    "add": lambda a, b, out: ttnn.add(a, b),
    "add to output_tensor": lambda a, b, out: ttnn.add(a, b, output_tensor=out),
    "softmax": lambda a, b, out: ttnn.softmax(a, dim=-1),
    "reshape": lambda a, b, out: ttnn.reshape(a, (1, 32, 32)),
    "concat": lambda a, b, out: ttnn.concat([a, b], dim=0),
    "matmul": lambda a, b, out: ttnn.matmul(a, b),
}


@pytest.mark.parametrize("profiled", [False, True], ids=["off", "on"])
@pytest.mark.parametrize("kind", KINDS)
def test_call(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, kind: str, profiled: bool) -> None:
    """One tile; `microseconds_per_call` is of the fastest round of 100 calls."""
    call = KINDS[kind]
    benchmark.group = kind
    a, b, out = (ttnn.Tensor(matrix(random, 32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for _ in range(3))

    def calls() -> None:
        for _ in range(CALLS):
            call(a, b, out)

    with ttnn.profiler.profile() if profiled else contextlib.nullcontext():
        benchmark.pedantic(calls, rounds=60, warmup_rounds=3)
    if benchmark.stats is not None:
        benchmark.extra_info["microseconds_per_call"] = round(1e6 * benchmark.stats.stats.min / CALLS, 2)
