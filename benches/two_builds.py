"""Speed of a build relative to another, run alternately.

The benches of both need a few milliseconds each.

    python benches/two_builds.py OLD/bin/python NEW/bin/python benches/test_pointwise.py [-k NAMES] [--below 0.95]

OLD and NEW are environments with a wheel of each build and pytest-benchmark. Two processes hold the same bench at the
same time and run it alternately, so that a change of the clock or a neighbour's load meets both. The figure is the
ratio of the shortest times, old / new: above 1, the new build is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

BURST = 0.01
"""Seconds of one turn, at least one call."""


class ByTurns:
    """A `benchmark` fixture that alternates with the other process."""

    stats = None
    disabled = True  # Times of references are of no interest here.

    def __init__(self, name: str) -> None:
        self.name = name
        self.extra_info: dict[str, Any] = {}

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.pedantic(function, args, kwargs)

    def pedantic(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        **_: Any,
    ) -> Any:
        """Time a function at each turn.

        `setup` runs before each call, untimed, and may return its arguments.
        """

        def call() -> tuple[Any, float]:
            own = setup() if setup is not None else None
            positional, named = own or (args, kwargs or {})
            start = time.perf_counter()
            result = target(*positional, **named)
            return result, time.perf_counter() - start

        result = call()[0]
        answer(self.name)
        while input() == "run":
            best, end = float("inf"), time.perf_counter() + BURST
            while time.perf_counter() < end:
                best = min(best, call()[1])
            answer(str(best))
        return result


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "benchmark: of the plugin that this one stands in for")


@pytest.fixture
def benchmark(request: pytest.FixtureRequest) -> ByTurns:
    return ByTurns(request.node.nodeid)


def answer(line: str) -> None:
    with os.fdopen(os.dup(int(os.environ["TURNS"])), "w") as pipe:
        pipe.write(line + "\n")


class Build:
    """pytest with the benches of one build; it waits before each turn."""

    def __init__(self, python: str, arguments: list[str]) -> None:
        receive, send = os.pipe()
        self.process = subprocess.Popen(
            [python, "-m", "pytest", "-q", "-s", "-p", "no:benchmark", "-p", "two_builds", *arguments],
            env={**os.environ, "TURNS": str(send), "PYTHONPATH": str(Path(__file__).parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[send],
            text=True,
        )
        os.close(send)
        self.answers = os.fdopen(receive)

    def answer(self) -> str:
        """The next bench or time; empty when all benches are done."""
        return self.answers.readline().strip()

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def run(self) -> float:
        self.tell("run")
        return float(self.answer())


def compared(builds: tuple[Build, Build], turns: int) -> Iterator[tuple[str, float, float]]:
    """Bench name, and the shortest seconds of both builds.

    A bench that one build does not have or fails is passed over.
    """
    old, new = builds
    names = [old.answer(), new.answer()]
    seen: tuple[set[str], set[str]] = (set(), set())
    while all(names):
        if names[0] != names[1]:
            late = 0 if names[1] in seen[0] or names[0] not in seen[1] else 1
            seen[late].add(names[late])
            builds[late].tell("next")
            names[late] = builds[late].answer()
            continue
        times = [(old.run(), new.run()) for _ in range(turns)]
        firsts, seconds = zip(*times, strict=True)
        yield names[0], min(firsts), min(seconds)
        for build in builds:
            build.tell("next")
        names = [old.answer(), new.answer()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("benches", nargs="+")
    parser.add_argument("-k", default="", help="benches by name, as in pytest")
    parser.add_argument("--turns", type=int, default=15, help="runs of each bench in each build")
    parser.add_argument("--below", type=float, default=float("inf"), help="show ratios below this one only")
    options = parser.parse_args()
    arguments = [*options.benches, "-k", f"not torch and not numpy{options.k and f' and ({options.k})'}"]
    builds = Build(options.old, arguments), Build(options.new, arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    rows = []
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("benches", total=None)
        for row in compared(builds, options.turns):
            rows.append(row)
            progress.update(task, advance=1, description=escape(row[0].split("/")[-1]))
    table = Table("bench", "old ms", "new ms", "old / new")
    for name, first, second in sorted(rows, key=lambda row: row[1] / row[2]):
        if first / second < options.below:
            times = f"{1e3 * first:.4g}", f"{1e3 * second:.4g}", f"{first / second:.2f}"
            table.add_row(escape(name.split("/")[-1]), *times)
    console.print(table)
    if rows:
        ratio = statistics.median(first / second for _, first, second in rows)
        console.print(f"{len(rows)} benches, median ratio {ratio:.3f}")
    else:
        sys.exit("no bench ran in both builds; run pytest with the same arguments to see why")


if __name__ == "__main__":
    main()
