"""Python calls and microseconds of the third equal call of every operator.

    PYTHONPATH=tests python benches/third_call.py [OPERATOR ...] [--calls 12] [--worst 40]

An operator is resolved to a program at its first call; later ones launch it. What cannot become a program is listed
with the reason. The calls are those of the generated tests (`tests/testkit/signature_calls.py`), one per signature, on
tensors of a few tiles; times are the shortest of 50 calls.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import ttnn
from testkit.signature_calls import calls
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry

RUNS = 50


class Row(NamedTuple):
    """A call: functions, microseconds, operator and signature, reason.

    Python functions that it calls, and why it is no program.
    """

    calls: int
    microseconds: float
    name: str
    reason: str


def python_calls(run: Callable[[], Any]) -> int:
    """Return how many Python functions a call runs."""
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def shortest(run: Callable[[], Any]) -> float:
    """Return the microseconds of the shortest of several calls."""
    times = []
    for _ in range(RUNS):
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
        if sum(times) > 0.5:
            break
    return min(times) * 1e6


def rows_of(entry: registry.Op, device: ttnn.MeshDevice) -> Iterator[Row]:
    """Yield a row for each signature of an operator."""
    for index, call in enumerate(calls(entry, device)):
        device.clear_program_cache()
        try:
            call()
            reasons = [
                why for key, why in device._resolved.items() if isinstance(why, str) and key[0] == f"ttnn.{entry.name}"
            ]
            resolved = any(key[0] == f"ttnn.{entry.name}" for key in device._resolved)
            call()
            yield Row(
                python_calls(call),
                shortest(call),
                f"{entry.name}/{index}",
                reasons[0] if reasons else "" if resolved else "its arguments have no key",
            )
        except TtnnError:
            continue


def main() -> int:
    """Print a table of the worst calls, and counts by reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="names, all if none is given")
    parser.add_argument("--calls", type=int, default=12, help="Python calls that a launch may take")
    parser.add_argument("--worst", type=int, default=40, help="how many of the slowest programs to print")
    options = parser.parse_args()
    rows: list[Row] = []
    for entry in registry.entries():
        if options.operators and entry.name not in options.operators:
            continue
        chip = "p150" if entry.only_on is ttnn.Arch.BLACKHOLE else "n150"
        with ttnn.manage_device(device_id=0, chip=chip) as device:
            rows += rows_of(entry, device)
    programs = [row for row in rows if not row.reason]
    above = sorted(row for row in programs if row.calls > options.calls)
    print(f"{len(rows)} calls; {len(programs)} are programs, {len(above)} of them take more than {options.calls} calls")
    for row in sorted(programs, key=lambda row: -row.microseconds)[: options.worst]:
        print(f"{row.calls:5} calls {row.microseconds:9.1f} us  {row.name}")
    for row in above:
        print(f"above {options.calls}: {row.calls:5} calls {row.microseconds:9.1f} us  {row.name}")
    print("not programs:")
    for row in sorted((row for row in rows if row.reason), key=lambda row: (row.reason, -row.calls)):
        print(f"{row.calls:5} calls {row.microseconds:9.1f} us  {row.name}: {row.reason}")
    for reason, count in Counter(row.reason for row in rows if row.reason).most_common():
        print(f"{count:5}  {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
