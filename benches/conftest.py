"""Shared fixtures of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn


@pytest.fixture(scope="session")
def device() -> Iterator[ttnn.MeshDevice]:
    with ttnn.manage_device(device_id=0) as opened:
        yield opened


@pytest.fixture(scope="session")
def random() -> np.random.Generator:
    return np.random.default_rng(1)


FIGURES = pytest.StashKey[list[tuple[str, dict[str, Any]]]]()
"""Results of benchmarks besides times: ratios to torch, bytes, rates."""


@pytest.fixture(autouse=True)
def figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep a bench's `extra_info`, which the table of times lacks."""
    benchmark = request.getfixturevalue("benchmark") if "benchmark" in request.fixturenames else None
    yield
    if benchmark is not None and benchmark.extra_info:
        request.config.stash.setdefault(FIGURES, []).append((request.node.name, dict(benchmark.extra_info)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(FIGURES, [])
    width = max((len(name) for name, _ in found), default=0)
    for name, info in found:
        shown = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in info.items())
        terminalreporter.write_line(f"{name:{width}}  {', '.join(shown)}")
