"""`python -m ttnn sweep [OPERATOR ...]`: every bfloat16 value through every operator on one floating-point tensor.

Each operator gets all 65,536 bit patterns, as bfloat16 (16-bit Dst) and as float32 (32-bit Dst), at every CPU level.
The results of all levels must have the same bits; their distance to the float64 reference is printed in ULP. The exit
code is 1 if levels differ or a stated bound is exceeded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import ttnn
from ttnn import _engine
from ttnn.config import CONFIG
from ttnn.exceptions import ArgumentError
from ttnn.ops import registry

from .goldens.raw import from_bytes, to_bytes
from .goldens.sfpu import every_bf16
from .terminal import Table, Terminal
from .ulp import chip_error

DTYPES = ("bfloat16", "float32")
SHAPE = (256, 256)
"""All 65,536 values as one tensor."""


@dataclass(frozen=True)
class Sweep:
    """What one operator did with every value in one data type."""

    operator: str
    dtype: str
    values: int
    levels: tuple[str, ...]
    differing_between_levels: int
    max_ulp: float
    worst_input: float
    bound_ulp: float | None

    @property
    def passed(self) -> bool:
        """Whether all levels agree and the stated bound holds."""
        return not self.differing_between_levels and (self.bound_ulp is None or self.max_ulp <= self.bound_ulp)


def unary_entries() -> tuple[registry.Op, ...]:
    """Return the registry's entries of functions on one floating-point tensor."""
    return tuple(entry for entry in registry.entries() if entry.golden and entry.run.__module__ == "ttnn.ops.unary")


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Name the options."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sweep", help="send every bfloat16 value through the unary operators", description=__doc__
    )
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="for example exp (default: all)")
    return parser


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Sweep and print."""
    chosen = [entry for entry in unary_entries() if not options.operators or entry.name in options.operators]
    unknown = set(options.operators) - {entry.name for entry in chosen}
    if unknown:
        known = ", ".join(entry.name for entry in unary_entries())
        raise ArgumentError(f"sweep: no unary operator {', '.join(sorted(unknown))}; there are {known}.")
    sweeps = []
    with (
        ttnn.manage_device(device_id=0) as device,
        terminal.progress("sweep", len(chosen) * len(DTYPES)) as progress,
    ):
        for entry in chosen:
            for dtype in DTYPES:
                sweeps.append(sweep(entry, dtype, device))
                progress.advance(f"{entry.name} {dtype}")
    terminal.document({"sweeps": [{**asdict(s), "passed": s.passed} for s in sweeps]})
    columns = ("operator", "type", "inputs", "CPU levels", "differ", "max ULP", "at", "stated bound")
    table = Table("every bfloat16 value", columns, left=frozenset({"operator", "type"}))
    table.rows.extend(
        (
            s.operator,
            s.dtype,
            f"{s.values:,}",
            str(len(s.levels)),
            str(s.differing_between_levels),
            f"{s.max_ulp:.3f}",
            f"{s.worst_input:g}",
            "-" if s.bound_ulp is None else f"{s.bound_ulp:g}",
        )
        for s in sweeps
    )
    terminal.table(table)
    return 0 if all(s.passed for s in sweeps) else 1


def sweep(entry: registry.Op, dtype: str, device: ttnn.MeshDevice) -> Sweep:
    """Send every bfloat16 value through one operator, at every CPU level."""
    values = every_bf16()
    per_level = [_result(entry, values, dtype, device) for _ in _each_level()]
    first = per_level[0]
    differing = max(int(np.count_nonzero(first != other)) for other in per_level)
    got = (first if dtype == "float32" else first.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):  # the inputs hold NaN and infinity on purpose
        x = values.view(np.float32).astype(np.float64)
        assert entry.golden is not None
        exact = np.asarray(entry.golden(x), np.float64)
    errors = chip_error(got, exact, dtype)
    errors[np.isnan(x)] = 0.0
    worst = int(np.argmax(errors))
    return Sweep(
        operator=entry.name,
        dtype=dtype,
        values=values.size,
        levels=tuple(_engine.cpu_levels()),
        differing_between_levels=differing,
        max_ulp=float(errors[worst]),
        worst_input=float(x[worst]),
        bound_ulp=_bound(entry, dtype),
    )


def _bound(entry: registry.Op, dtype: str) -> float | None:
    return entry.accuracy.bound(getattr(ttnn, dtype)) if entry.accuracy is not None else None


def _each_level() -> Iterator[str]:
    before = CONFIG.cpu_level
    try:
        for level in _engine.cpu_levels():
            CONFIG.cpu_level = level
            yield level
    finally:
        CONFIG.cpu_level = before


def _result(entry: registry.Op, values: np.ndarray, dtype: str, device: ttnn.MeshDevice) -> np.ndarray:
    """Return the words of the result, in the order of `values`.

    The tensor's tiles hold the values one after the other, so that no conversion stands between them and the operator.
    """
    words = values if dtype == "float32" else (values >> 16).astype(np.uint16)
    operand = ttnn.to_device(from_bytes(words.view(np.uint8), SHAPE, getattr(ttnn, dtype)), device)
    return to_bytes(getattr(ttnn, entry.name)(operand)).view(words.dtype)
