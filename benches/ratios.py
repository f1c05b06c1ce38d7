"""Shortest times and a reference's, measured alternately, with printed ratios.

The ratios are printed below the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Run = Callable[[], object]
ROUNDS = 5


def seconds_of(run: Run) -> float:
    """Return the time of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(run: Run, seconds: float = 0.1) -> float:
    """Return the shortest of the runs that fit in a time."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        times.append(seconds_of(run))
    return min(times)


def in_turns(benchmark: Any, runs: Sequence[Run]) -> list[float]:
    """Return the shortest time of each, measured alternately.

    A change of the clock or a neighbour's load meets all.

    Where benches are not measured (`--benchmark-disable`), each runs once.
    """
    if benchmark.disabled:
        return [seconds_of(run) for run in runs]
    for run in runs:
        run()
    rounds = [[best(run) for run in runs] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def compare(benchmark: Any, run: Run, reference: Run, name: str, part: float = 1.0) -> None:
    """Time `run`; record its speed relative to the reference's.

    The reference has as much work as `part`.
    """
    ours, theirs = in_turns(benchmark, [run, reference])
    benchmark.extra_info.update({f"{name}_seconds": theirs * part, f"times_{name}": theirs * part / ours})
    benchmark(run)


def copy_of(size: int) -> Run:
    """Return what copies so many bytes between two numpy arrays."""
    source = np.ones(size, np.uint8)
    target = np.empty_like(source)
    return lambda: np.copyto(target, source)
