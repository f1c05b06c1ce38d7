"""Writes `docs/fast-mode.md`: `python docs/make_fast_mode.py`. The distances are measured, so it takes some minutes."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import ttnn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

from fast_distance import FIDELITIES, PAGE, SIZES, Distance, distance  # noqa: E402

TEXT = """# The fast numerics mode

`ttnn.CONFIG.numerics = "fast"`, or `TTNN_NUMERICS=fast`, makes `ttnn.matmul` and `ttnn.linear` quick. Every other
operator has the same bits in both modes, and so has what follows a product as an operator of its own: an activation
that is not fused, a bias that is added.

| | exact (default) | fast |
|---|---|---|
| operands | cut to the fidelity's mantissa bits | the same |
| products | aligned to the largest of eight | as they are |
| sums | rounded to Dst after every instruction | float32, in the order of K |
| partial sums of K blocks | packed to L1 and read back or accumulated there | not reproduced |
| result | Dst, then the packer | the sum is rounded to the format of Dst once, then the packer |
| fused bias | added on 11 bits | added in float32 |
| infinity and NaN | large numbers | IEEE: what depends on them is infinite or NaN, of either sign |
| denormals, negative zero | zero | zero |

What a fidelity sees of a mantissa, hidden bit included (left operand x right operand): LoFi 7 x 5 bits, HiFi2 7 x 10,
HiFi3 7 x 10 plus the left operand's other bits x 5, HiFi4 11 x 10. A NaN whose payload is cut off is an infinity.

Within one CPU level, results have the same bits for every number of threads: a sum is never split, and its order is
that of K. Between levels the last bits of the float32 sum may differ, because the instructions add in another grouping
and round at other places. Operands that fit bfloat16 take AMX (pairs of products, each addition rounded, denormals
flushed), else the dot products of AVX-512 (a fused multiply-add for each step, of a pair the odd one first, denormals
flushed). Without these, and for wider operands, there are fused multiply-adds of AVX-512 or AVX2, else a rounded
product and a rounded addition in plain float32. `ttnn.CONFIG.cpu_level` chooses among them; AMX and dot products
belong to `avx512`, so two AVX-512 CPUs may differ likewise.

A left operand of a few rows, the rest of its tile zeros, is multiplied without those zeros: decoding for few users is
quicker then. AMX leaves out any number of rows, dot products, which multiply pages of bfloat16 or block formats as they
are, the rows from 24 on or none. Rows of zeros that an infinity or NaN meets have the same bits as ever.

Beyond operands and result, a product takes up to 6 MiB for each thread, and up to 32 MiB more for panels of the right
operand if the left one has more than 1024 rows, 2048 with AMX. Both are kept for the next product.

## Distance to the exact mode

Bounds for square matrices of normal values, bfloat16, against the exact mode. ULP are units in the last place of
bfloat16 at the root mean square of the results. With a 16-bit Dst most of the distance is the chip's own rounding of
sums. With 32-bit Dst, a rare large distance has the size of Wormhole's own error: a running sum that cancels to minus
one unit becomes a power of two.

The distances are measured and rounded: the largest up to a power of two, the mean up by a twentieth, the correlation
down to six digits; that is more than the instructions of different CPUs change.
`tests/ops/matmul/test_matmul_fast.py` holds the results to them, and `python docs/make_fast_mode.py` writes this page.
"""


def bound(found: Distance) -> Distance:
    """Return the bound for a measured distance."""
    return Distance(
        max_ulp=2.0 ** math.ceil(math.log2(found.max_ulp)) if found.max_ulp else 0.0,
        mean_ulp=math.ceil(found.mean_ulp * 1.05e3) / 1e3,
        pcc=math.floor(found.pcc * 1e6) / 1e6,
    )


def table(device: ttnn.MeshDevice) -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| fidelity | Dst | size | largest ULP | mean ULP | PCC |",
        "|---|---|---|---|---|---|",
    ]
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
    """Write the page."""
    with ttnn.manage_device(device_id=0) as device:
        lines = table(device)
    PAGE.write_text(TEXT + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
