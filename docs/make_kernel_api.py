"""Writes `docs/kernel-api.md`: what kernels may call, and what is refused; with `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from ttnn import kernel_api

TARGET = Path(__file__).resolve().parent / "kernel-api.md"

HEAD = """\
# The kernel API

Kernels are Python functions over `ttnn.kernel_api`, under the names of the C++ headers: those of the documentation and
those of 0.81.1, which are two names of one function. `examples/` has the programs of the documentation in the classic
spelling, and `objects_*.py` there in that of 0.81.1. Written by `python docs/make_kernel_api.py`.

| C++ | Python |
|---|---|
| template arguments: `exp_tile<true>(0)`, `reduce_tile<MAX, REDUCE_ROW>(...)` | keywords: \
`exp_tile(0, approx=True)`, `reduce_tile(..., reduce_type=PoolType.MAX, reduce_dim=ReduceDim.REDUCE_ROW)` |
| `InterleavedAddrGenFast<true> a = {...}` | `a = InterleavedAddrGenFast[True](...)` |
| `reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address)` | `L1Pointer(address)`, other types as second argument |
| designated initialisers: `{.page_id = 3}` | `{"page_id": 3}` |
| `float` parameters as `uint32_t` | the bits of a float32, as in C++ |
| defines | `get_define("NAME")` |

## Inits

Every compute call checks that what it needs was set up: the formats of unpackers and packer
(`compute_kernel_hw_startup` and its classic forms, `reconfig_data_format`), the matrix unit (one `*_init` for each kind
of step), the vector unit (one `*_init` for each function, and for each variant: `exp_tile_init(approx=True)`). A
missing or a wrong one is a `KernelSetupError` that says which call was expected and what is set up.

## Shapes of tiles

| shape | copy, pack, element-wise, vector functions | products | reductions |
|---|---|---|---|
| 32x32 | yes | yes | yes |
| 16x32 | yes | left with 32x32 or 32x16; right with 32x16, 16x16 or 8x16 | rows, columns |
| 32x16 | yes | left with 16x32; right with 32x32, 16x32 or 8x32 | rows, columns |
| 16x16 | yes | left with 16x32 | rows, columns |
| 8x32, 4x32, 2x32, 1x32 | yes | left with 32x32; 8x32 also with 32x16 | rows |
| 8x16 | yes | left with 16x32 | rows |

The scaler of a reduction is a 32x32 tile. Transposes, tilizing, untilizing and functions that move datums inside a tile
take 32x32 tiles. The packer takes the upper rows of a tile of 32 columns into a CB of lower tiles. Everything else
is refused: what the chip's programs do there is not specified, or they assert against it.

## Assumptions about bits

Bits are those of the public kernels of tt-llk for Wormhole, step by step. Beyond what the vectors of this project
confirm, these rest on reading those kernels:

* running sums, moving averages, Welford's statistics: one multiply-add per step in the order of the rows; registers
  keep float32 between rows and tiles also when Dst has 16 bits;
* quantisation: ties away from zero, saturation at +-127, integers in Dst as two's complement;
* `sfpu_reduce`: only column 0 or row 0 is specified, other datums keep what they were;
* `topk_*`: the instructions of the public kernel, so also the order of equal values; denormal values become zero;
* `mask_tile`: a mask of -0 does not count as zero; `reshuffle_rows_tile` reads row numbers from byte 16 on;
* `nextafter_bf16_binary_tile` with a 32-bit Dst steps as `nextafter_binary_tile`;
* steps on padding of tiles that are not 32x32 leave the rest of Dst undefined there, so no result may depend on it.

## Time

Each call takes the time of the cost table (`rust/tt-noc/src/costs`). Compile-time arguments are constants: no time.
A vector function that is not in the table takes as long as the shortest one.

"""


def page() -> str:
    """Return the whole page."""
    names = sorted(set(kernel_api.__all__))
    refused = kernel_api.UNSUPPORTED
    lines = [
        "## What is refused",
        "",
        f"Of {len(names) - 1} names, {len(refused)} raise `UnsupportedError`, with this reason:",
        "",
        "| names | why |",
        "|---|---|",
    ]
    for reason in dict.fromkeys(refused.values()):
        of_reason = ", ".join(f"`{name}`" for name, why in refused.items() if why == reason)
        lines.append(f"| {of_reason} | {reason} |")
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or say whether it is up to date."""
    text = page()
    if "--check" in arguments:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} is not what the kernel API says: run `python docs/make_kernel_api.py`")
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
