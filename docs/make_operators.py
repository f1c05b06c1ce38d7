"""Generator of the tables in `docs/operators.md`.

`cargo xtask docs` writes them from the registry, `--check` only compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ttnn
from ttnn.cli import sweep
from ttnn.operation import registry
from ttnn.operation.numerics import States
from ttnn.operation.registry import FastOperation

TARGET = Path(__file__).resolve().parent / "operators.md"
OPTIONS = Path(__file__).resolve().parent / "recorded_options.json"
"""Options that change recorded programs; `tests/golden/op_programs.py --write` writes it."""
START = "<!-- The tables below are generated. -->\n"
"""First line of the generated part; the text before is hand-written."""


def main(arguments: list[str]) -> int:
    """Write the file, or check that it is up to date."""
    text = page()
    if "--check" in arguments:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} is not what the registry says: run `cargo xtask docs`")
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


def bits(operation: FastOperation) -> str:
    """Return the marks of an operator: states of bits with data types.

    Those of Wormhole, and of Blackhole if they differ.
    """
    wormhole, blackhole = (operation.numerics_on(arch) for arch in (ttnn.Arch.WORMHOLE_B0, ttnn.Arch.BLACKHOLE))
    marks = _by_state(wormhole)
    if blackhole != wormhole:
        marks = [*marks, f"on Blackhole {', '.join(_by_state(blackhole))}"]
    return "; ".join(marks + ["program recorded"] * operation.program_recorded)


def _by_state(states: States) -> list[str]:
    return [
        f"{state}: {', '.join(dtype.name.lower() for dtype in states if states[dtype] == state)}"
        for state in dict.fromkeys(states.values())
    ]


def row(operation: FastOperation) -> str:
    """Return the line of an operator in the table of its category."""
    entry = operation.entry
    assert entry is not None
    returns = entry.summary.replace("|", "\\|")
    return f"| `{operation.__name__}` | {bits(operation)} | {entry.accuracy or '-'} | {returns} |"


def tables() -> list[str]:
    """Return one table per category, as lines."""
    lines = []
    entries = (*registry.entries(), *registry.mesh_entries())
    for category in sorted({entry.category for entry in entries}):
        names = sorted(entry.name for entry in entries if entry.category == category)
        lines += ["", f"## {category}", "", "| operator | bits | error | returns |", "|---|---|---|---|"]
        lines += [row(registry.find(f"ttnn.{name}")) for name in names]
    return lines


def options() -> list[str]:
    """Return the table of options that change recorded programs, as lines."""
    lines = [
        "",
        "## Options of recorded programs",
        "",
        "Recorded official calls that differ in one option show whether the operator uses it: its arithmetic changes",
        "or not. Here the same options change programs. The last column has fields of the compute configuration",
        "without an effect; `math_approx_mode` is listed only where it has one, `dst_full_sync_en` was not recorded.",
        "",
        "| operator | changed by | not changed by |",
        "|---|---|---|",
    ]
    for operator, found in json.loads(OPTIONS.read_text(encoding="utf-8")).items():
        used, ignored = (
            ", ".join(f"`{name}`" for name in found if found[name] == state) or "-" for state in ("used", "ignored")
        )
        lines.append(f"| `ttnn.{operator}` | {used} | {ignored} |")
    return lines


def page() -> str:
    """Return the whole page."""
    lines = tables()
    lines += [
        "",
        "## Error of functions of one tensor",
        "",
        "All 65,536 bfloat16 values, as bfloat16 (16-bit Dst) and float32 (32-bit Dst), against float64.",
        "`python -m ttnn sweep` prints this error of the chip's algorithm.",
        "",
        "| operator | data type | largest error in ULP | at input |",
        "|---|---|---|---|",
    ]
    with ttnn.manage_device(device_id=0) as device:
        for entry in sweep.unary_entries():
            for dtype in sweep.DTYPES:
                result = sweep.sweep(entry, dtype, device)
                lines.append(f"| `ttnn.{entry.name}` | {dtype} | {result.max_ulp:.3f} | {result.worst_input:g} |")
    lines += options()
    return TARGET.read_text(encoding="utf-8").partition(START)[0] + START + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
