"""`sweep matmul`: error growth with K.

Per math fidelity, width of Dst and blocking.

One tile row times one tile column of standard normal numbers, rounded to the operands' format first, so that only the
multiplication is measured. The error is the root mean square of `result - exact` over that of `exact`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

import ttnn
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError
from ttnn.cli.common.terminal import Table, Terminal, require
from ttnn.cli.common.ulp import nearest, spacing
from ttnn.cli.sweep.matmul_errors import BLOCKINGS, FIDELITIES, Measurement

DTYPES: Final = ("bfloat16", "float32", "bfloat8_b", "bfloat4_b")
LENGTHS: Final = "32..8192"
TILE: Final = 32
ROWS: Final = 64
COLUMNS: Final = 64
SEED: Final = 20250712


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Measure, print the table, draw the plot."""
    fidelities = FIDELITIES if options.fidelity in (None, "all") else (_fidelity(options.fidelity),)
    dtype = options.dtype or "bfloat16"
    if dtype not in DTYPES:
        raise ArgumentError(f"sweep matmul: the data type is one of {', '.join(DTYPES)}, got {dtype}.")
    lengths = k_range(options.k or LENGTHS)
    found = []
    cases = [(k, f, dst, way) for k in lengths for f in fidelities for dst in (16, 32) for way in _blockings(k)]
    with ttnn.manage_device(device_id=0) as device, terminal.progress("sweep matmul", len(cases)) as progress:
        for k in lengths:
            for measurement in _measure(k, fidelities, dtype, device):
                found.append(measurement)
                progress.advance(f"K={k} {measurement.fidelity} {measurement.dst}-bit Dst")
    terminal.document(
        {"operator": "matmul", "dtype": dtype, "numerics": CONFIG.numerics, "measurements": [asdict(m) for m in found]}
    )
    label = dtype if CONFIG.numerics == "exact" else f"{dtype}, {CONFIG.numerics} numerics"
    terminal.table(_table(found, label))
    if options.output is not None:
        require("matplotlib", extra="viz", purpose="the plot of a sweep")
        from ttnn.cli.sweep.matmul_figure import draw

        draw(options.output, found, label)
        terminal.line(f"picture: {Path(options.output)}")
    return 0


def _fidelity(name: str) -> str:
    for known in FIDELITIES:
        if known.lower() == name.lower():
            return known
    raise ArgumentError(f"sweep matmul: the fidelity is all or one of {', '.join(FIDELITIES)}, got {name}.")


def k_range(text: str) -> tuple[int, ...]:
    """Return powers of two times 32 in `first..last`, or one length.

    A single number is a length of its own.

    Raises:
        ArgumentError: the text is neither, or a length is not a multiple of 32.
    """
    first, dots, last = text.partition("..")
    try:
        low, high = int(first), int(last if dots else first)
    except ValueError:
        raise ArgumentError(f"sweep matmul: --k is a length or first..last, got {text!r}.") from None
    if low <= 0 or low % TILE or high < low:
        raise ArgumentError(f"sweep matmul: --k begins at a multiple of {TILE} and does not fall, got {text!r}.")
    lengths = [low]
    while lengths[-1] * 2 <= high:
        lengths.append(lengths[-1] * 2)
    return tuple(lengths)


def _blockings(k: int) -> tuple[str, ...]:
    return tuple(way for way, (tiles, _) in BLOCKINGS.items() if not k // TILE % tiles)


def _measure(k: int, fidelities: Sequence[str], dtype: str, device: ttnn.MeshDevice) -> Iterator[Measurement]:
    random = np.random.default_rng(SEED)
    kind = getattr(ttnn, dtype)
    a, b = (
        _tensor(random.standard_normal(shape).astype(np.float32), kind, device) for shape in ((ROWS, k), (k, COLUMNS))
    )
    exact = _values(a) @ _values(b)
    size = float(np.sqrt(np.mean(exact**2)))
    unit = float(spacing(nearest(np.array([size]), "bfloat16"), "bfloat16")[0])
    for fidelity in fidelities:
        for dst in (16, 32):
            for blocking in _blockings(k):
                error = _values(_multiply(a, b, fidelity, dst == 32, blocking)) - exact
                yield Measurement(
                    k=k,
                    fidelity=fidelity,
                    dst=dst,
                    blocking=blocking,
                    relative_error=float(np.sqrt(np.mean(error**2))) / size,
                    max_ulp=float(np.abs(error).max()) / unit,
                )


def _multiply(a: ttnn.Tensor, b: ttnn.Tensor, fidelity: str, wide: bool, blocking: str) -> ttnn.Tensor:
    tiles, in_l1 = BLOCKINGS[blocking]
    kernel = ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity), fp32_dest_acc_en=wide, packer_l1_acc=in_l1
    )
    program = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(COLUMNS // TILE, 1),
        in0_block_w=tiles,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=ROWS // TILE,
        per_core_N=1,
        fuse_batch=True,
        fused_activation=None,
        mcast_in0=True,
    )
    # A float32 result shows what the sums lost; the packer adds nothing to it.
    result: ttnn.Tensor = ttnn.matmul(a, b, program_config=program, compute_kernel_config=kernel, dtype=ttnn.float32)
    return result


def _tensor(values: Any, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype, device, ttnn.TILE_LAYOUT)


def _values(tensor: ttnn.Tensor) -> Any:
    return np.asarray(ttnn.from_device(tensor).to_numpy(), np.float64)


def _table(found: Sequence[Measurement], label: str) -> Table:
    ways = [(f, dst, way) for f in FIDELITIES for dst in (16, 32) for way in BLOCKINGS]
    lengths = sorted({m.k for m in found})
    columns = ("fidelity", "Dst", "blocks of K added", *(f"K={k}" for k in lengths))
    table = Table(
        f"matmul, {label}: root mean square error, relative", columns, left=frozenset({"fidelity", "blocks of K added"})
    )
    by_case = {(m.fidelity, m.dst, m.blocking, m.k): m for m in found}
    for fidelity, dst, way in ways:
        cells = [by_case.get((fidelity, dst, way, k)) for k in lengths]
        if not any(cells):
            continue
        errors = ["-" if m is None else f"{m.relative_error:.2e}" for m in cells]
        table.rows.append((fidelity, f"{dst} bit", way, *errors))
    return table
