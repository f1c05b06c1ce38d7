"""Shared fixtures of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ttnn


class Shared:
    """A device that benchmarks share, opened when one needs it."""

    def __init__(self) -> None:
        self._opened: ttnn.MeshDevice | None = None

    def open(self) -> ttnn.MeshDevice:
        if self._opened is None:
            self._opened = ttnn.open_device(device_id=0)
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            ttnn.close_device(self._opened)
            self._opened = None


@pytest.fixture(scope="session")
def shared() -> Iterator[Shared]:
    shared = Shared()
    yield shared
    shared.close()


@pytest.fixture
def device(shared: Shared) -> ttnn.MeshDevice:
    return shared.open()


@pytest.fixture
def no_device(shared: Shared) -> None:
    """Close the shared device, so that a benchmark can choose a system."""
    shared.close()


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
