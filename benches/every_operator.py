"""Time per element of operators, data types, layouts and shapes.

The slow ones are listed by name.

    PYTHONPATH=tests chrt -f 10 taskset -c 1 python benches/every_operator.py [OPERATOR ...] [--above 100]

The calls are those of the generated tests (`tests/testkit/every_place.py`). A call's elements are those of its largest
tensor, operand or result; a tensor in tiles counts with its padding, since the chip computes padding like values.
Times are the shortest of three runs, of twenty if that is slow.
Products, attention and convolutions are left out: their work is not one of elements.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ttnn
from testkit.every_place import INTERLEAVED, Case, Slot, calls_of, combinations, place
from testkit.reference_calls import callable_of
from ttnn.base.exceptions import TtnnError

SHAPES: dict[ttnn.Layout, tuple[tuple[int, ...], ...]] = {
    ttnn.TILE_LAYOUT: ((1, 1, 256, 256), (8, 64, 1, 2), (1, 1, 1, 8192), (1, 1, 4096, 8), (2, 32, 32, 32), (256, 256)),
    ttnn.ROW_MAJOR_LAYOUT: (
        *((1, 1, 256, 256), (64, 128, 1, 2), (32, 32, 16, 2), (1, 1, 1, 32768), (1, 1, 4096, 8), (2, 32, 32, 32)),
        *((256, 256), (16384,), (64, 128, 1, 1)),
    ),
}
PRODUCTS = ("matmul", "bmm", "linear", "addmm", "attention", "conv", "dot", "outer", "mla", "latent", "moe", "regime")
RUNS, RUNS_OF_SLOW = 3, 20
TILE = 1024


def tensors_of(value: Any) -> Iterator[ttnn.Tensor]:
    """Yield the tensors of an argument or a result."""
    if isinstance(value, ttnn.Tensor):
        yield value
    elif isinstance(value, ttnn.ComplexTensor):
        yield from (value.real, value.imag)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_of(item)


def elements(value: Any) -> int:
    """Return the elements of the largest tensor.

    Of an argument or result, padding of tiles included.

    Each tensor of a list counts, with a tile at least: creating a tensor costs time.
    """
    sizes = [
        math.prod(tensor.padded_shape if tensor.layout is ttnn.TILE_LAYOUT else tensor.shape)
        for tensor in tensors_of(value)
    ]
    return sum(max(size, TILE) for size in sizes) if isinstance(value, list | tuple) else max(sizes, default=0)


def shortest(run: Callable[[], Any], seconds: float, above: float) -> tuple[Any, float]:
    """Return the result and the shortest time of repeated runs.

    There are a few; more, if the time is above what it should be.
    """
    best, start, number = math.inf, time.perf_counter(), 0
    while number < RUNS or (best > above and number < RUNS_OF_SLOW):
        before = time.perf_counter()
        result = run()
        now = time.perf_counter()
        best, number = min(best, now - before), number + 1
        if now - start > seconds:
            break
    return result, best


def times(case: Case, device: ttnn.MeshDevice, options: argparse.Namespace) -> Iterator[tuple[float, float, str]]:
    """Yield times and arguments of a case's accepted calls.

    Nanoseconds per element and milliseconds of each call that the operator accepts.
    """
    operation = callable_of(case.entry)
    for call in calls_of(case, device):

        def built(item: Any) -> Any:
            return item.build(place(INTERLEAVED, item.shape, case.layout)) if isinstance(item, Slot) else item

        try:
            operands = [built(item) for item in call.positional]
            keywords = {name: built(item) for name, item in call.keywords}
            given = max(elements(item) for item in (*operands, *keywords.values()))
            result, best = shortest(
                partial(operation, *operands, **keywords), options.patience, given * options.above * 1e-9
            )
        except TtnnError:
            continue
        size = max(given, elements(result))
        shown = [item for item in call.positional if not isinstance(item, Slot)] + list(call.keywords)
        if size:
            yield best / size * 1e9, best * 1e3, " ".join(str(item) for item in shown)[:60]


def main() -> int:
    """Print the calls with too long times per element, worst first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="names, all if none is given")
    parser.add_argument("--above", type=float, default=100.0, help="nanoseconds per element that a call may take")
    parser.add_argument("--shape", type=int, nargs="*", action="append", help="instead of the shapes of the sweep")
    parser.add_argument("--patience", type=float, default=0.5, help="seconds after which a call is not repeated")
    parser.add_argument("--progress", action="store_true", help="say what is measured")
    options = parser.parse_args()
    begin = time.perf_counter()
    slow: list[tuple[float, float, str]] = []
    count = 0
    for entry, dtype, layout in combinations():
        if options.operators and entry.name not in options.operators:
            continue
        if not options.operators and any(word in entry.name for word in PRODUCTS):
            continue
        if sys.stderr.isatty() or options.progress:
            print(f"{time.perf_counter() - begin:7.1f} s  {entry.name} {dtype.name} {layout.name}", file=sys.stderr)
        chip = "p150" if entry.only_on is ttnn.Arch.BLACKHOLE else "n150"
        with ttnn.manage_device(device_id=0, chip=chip) as device:
            for shape in options.shape or SHAPES[layout]:
                case = Case(entry, dtype, layout, tuple(shape))
                for nanoseconds, milliseconds, arguments in times(case, device, options):
                    count += 1
                    if nanoseconds > options.above:
                        slow.append((nanoseconds, milliseconds, f"{case} {arguments}"))
                        print(f"{nanoseconds:9.1f} ns {milliseconds:9.2f} ms  {case} {arguments}", flush=True)
    print(f"{count} calls, {len(slow)} above {options.above:g} ns per element; worst first:")
    for nanoseconds, milliseconds, name in sorted(slow, reverse=True):
        print(f"{nanoseconds:9.1f} ns {milliseconds:9.2f} ms  {name}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
