"""Distance of fast-mode matmuls to exact-mode ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import ttnn
from testkit.operands import values_of
from ttnn.base.config import manage_config

FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
"""Names of the fidelities."""

SIZES = (32, 64, 128, 256, 512, 1024, 2048)
"""Sides of the square matrices."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fast-mode.md"
"""The page with the published bounds."""

_MANTISSA_BITS = 7


class Distance(NamedTuple):
    """Distance of bfloat16 results.

    Attributes:
        max_ulp: Largest, in units in the last place at the root mean square of the exact results.
        mean_ulp: Mean of the same.
        pcc: Pearson's correlation coefficient.
    """

    max_ulp: float
    mean_ulp: float
    pcc: float


def published_bounds() -> dict[tuple[str, bool, int], Distance]:
    """Return the bounds of the page by fidelity, 32-bit Dst and size."""
    bounds = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in FIDELITIES:
            fidelity, dst, size, *figures = cells
            bounds[fidelity, dst == "32-bit", int(size)] = Distance(*map(float, figures))
    return bounds


def distance(device: ttnn.MeshDevice, fidelity: str, fp32: bool, size: int) -> Distance:
    """Return the distance for normal bfloat16 operands.

    Args:
        device: Where to compute.
        fidelity: Name of the fidelity.
        fp32: 32-bit Dst; else 16-bit Dst with packer accumulation, the default for bfloat16.
        size: Side of the matrices.
    """
    generator = np.random.default_rng(size)
    a, b = (
        ttnn.Tensor(generator.standard_normal((size, size), np.float32), ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
        for _ in range(2)
    )
    config = ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity),
        math_approx_mode=False,
        fp32_dest_acc_en=fp32,
        packer_l1_acc=not fp32,
    )
    results = []
    for mode in ("fast", "exact"):
        with manage_config("numerics", mode):
            product = ttnn.matmul(a, b, compute_kernel_config=config)
        results.append(values_of(product))
    fast, exact = results
    scale = np.floor(np.log2(np.sqrt(np.mean(exact**2))))
    ulp = np.abs(fast - exact) / 2.0 ** (scale - _MANTISSA_BITS)
    return Distance(float(ulp.max()), float(ulp.mean()), float(np.corrcoef(fast.ravel(), exact.ravel())[0, 1]))
