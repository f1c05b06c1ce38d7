"""Write the table of docs/fast-mode.md: `cargo xtask fast-mode`. It measures for some minutes."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import ttnn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from testkit.fast_distance import FIDELITIES, PAGE, SIZES, Distance, distance  # noqa: E402

HEADER = "| fidelity | Dst | size | largest ULP | mean ULP | PCC |\n"
"""Heading of the table; the text before it is written by hand."""


def bound(found: Distance) -> Distance:
    """Return the bound for a measured distance."""
    return Distance(
        max_ulp=2.0 ** math.ceil(math.log2(found.max_ulp)) if found.max_ulp else 0.0,
        mean_ulp=math.ceil(found.mean_ulp * 1.05e3) / 1e3,
        pcc=math.floor(found.pcc * 1e6) / 1e6,
    )


def table(device: ttnn.MeshDevice) -> list[str]:
    """Return the lines of the table below its header."""
    lines = ["|---|---|---|---|---|---|"]
    for fidelity in FIDELITIES:
        for fp32 in (False, True):
            for size in SIZES:
                found = bound(distance(device, fidelity, fp32, size))
                dst = "32-bit" if fp32 else "16-bit, L1 accumulation"
                lines.append(
                    f"| {fidelity} | {dst} | {size} | {found.max_ulp:g} | {found.mean_ulp:.3f} | {found.pcc:.6f} |"
                )
    return lines


def main() -> None:
    """Replace the table of the page."""
    with ttnn.manage_device(device_id=0) as device:
        lines = table(device)
    text = PAGE.read_text(encoding="utf-8").partition(HEADER)[0]
    PAGE.write_text(text + HEADER + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
