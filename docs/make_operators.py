"""Writes `docs/operators.md` from the operator registry: `cargo xtask docs`, or with `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

import ttnn
from ttnn.cli import sweep
from ttnn.operation import registry

TARGET = Path(__file__).resolve().parent / "operators.md"
NUMERICS = {
    "exact": "bits of the chip",
    "reference": "correctly rounded float32",
    "movement": "no arithmetic",
}


def main(arguments: list[str]) -> int:
    """Write the file, or say whether it is up to date."""
    text = page()
    if "--check" in arguments:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} is not what the registry says: run `cargo xtask docs`")
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """Return the whole page."""
    lines = [
        "# Operators",
        "",
        "Generated from the registry by `cargo xtask docs`. *Numerics* says what results are: the bits of the chip;",
        "the exact result rounded to float32 where the chip's algorithm is not modelled; or moved data, no arithmetic.",
        "",
        "The bits are compared with recorded vectors where there are some. There are none yet for acos, asinh, atan2,",
        "eq, expm1, hardshrink, isfinite, isinf, le, leaky_relu, lerp, lgamma, log1p, log_sigmoid, logaddexp, logit,",
        "ltz, polygamma, sign, sin, softcap, softplus, threshold, trunc, and for fmod by a number: these follow the",
        "listing of the chip's kernel, or the steps of the official program, one by one, and nothing but their error",
        "against float64 and their sameness at every CPU level has been checked. Gradients (`*_bw`) are compositions",
        "of other operators in the official order. Floating-point functions of integers, as in gradients and",
        "activations, read the words as float32: that is how the official sources read, and no vector settles it.",
        "",
        "*Error* is the largest distance to float64 that the registry states, in units in the last place of the result",
        "or of what follows *of the*; its docstring says for which calls. A type that is not listed has no bound.",
        "",
        "Sixteen block floats in a row share one exponent, tile padding included. Where a function is infinite or NaN",
        "at the zeros that pad a tile (quotients, reciprocals, logarithms), the values that share a group with padding",
        "become 0; last dimensions that are multiples of 16 have no such group.",
        "",
        "| operator | data types | numerics | error | what it returns |",
        "|---|---|---|---|---|",
    ]
    lines.extend(
        f"| `ttnn.{entry.name}` | {', '.join(dtype.name.lower() for dtype in entry.dtypes) or 'all'} "
        f"| {NUMERICS[entry.numerics]} | {entry.accuracy or '-'} | {entry.doc} |"
        for entry in registry.entries()
    )
    lines += [
        "",
        "## Error of functions of one tensor",
        "",
        "All 65,536 bfloat16 values, as bfloat16 (16-bit Dst) and float32 (32-bit Dst), against float64. That is the",
        "error of the chip's algorithm, not of ours. Printed by `python -m ttnn sweep`.",
        "",
        "| operator | data type | largest error in ULP | at input |",
        "|---|---|---|---|",
    ]
    with ttnn.manage_device(device_id=0) as device:
        for entry in sweep.unary_entries():
            for dtype in sweep.DTYPES:
                result = sweep.sweep(entry, dtype, device)
                lines.append(f"| `ttnn.{entry.name}` | {dtype} | {result.max_ulp:.3f} | {result.worst_input:g} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
