"""Bars of correlation and error for each kind of result."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

__all__ = ["BARS", "assert_close", "correlation"]

BARS = {
    ("element", False): (0.9999, 2e-3),
    ("element", True): (0.999, 2e-2),
    ("product", False): (0.9999, 5e-3),
    ("product", True): (0.998, 3e-2),
    ("model", False): (0.999, 2e-2),
    ("model", True): (0.99, 1e-1),
    ("gradient", False): (0.99, 1.5e-1),
    ("gradient", True): (0.97, 2.5e-1),
}
"""Least correlation and largest relative error.

Errors are relative to the largest value, of models to the root mean square.
"""


def correlation(first: torch.Tensor, second: torch.Tensor) -> float:
    """Return the correlation of two tensors; of constant ones, whether they agree."""
    a, b = first.flatten().double(), second.flatten().double()
    a, b = a - a.mean(), b - b.mean()
    size = float(a.norm() * b.norm())
    if size == 0 or a.numel() < 2:
        return 1.0 if torch.allclose(first.double(), second.double(), rtol=2e-2, atol=1e-3) else 0.0
    return float(a @ b) / size


def assert_close(got: Any, expected: Any, level: str) -> None:
    """Compare results of any structure with those of PyTorch."""
    found, wanted = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    assert len(found) == len(wanted)
    for one, reference in zip(found, wanted, strict=True):
        if not isinstance(reference, torch.Tensor):
            assert one == reference
            continue
        assert one.dtype == reference.dtype
        assert one.shape == reference.shape
        if level == "bits":
            assert torch.equal(one.signbit(), reference.signbit())
        if level in ("exact", "bits") or not reference.dtype.is_floating_point:
            other = (one != reference) & ~(one.isnan() & reference.isnan())
            assert not other.any(), f"{int(other.sum())} of {one.numel()} elements differ"
            continue
        if not reference.numel():
            continue
        low = reference.dtype in (torch.bfloat16, torch.float16)
        least, most = BARS[level, low]
        a, b = one.detach().double(), reference.detach().double()
        assert torch.equal(a.isnan(), b.isnan())
        assert torch.equal(a.isinf(), b.isinf())
        kept = b.isfinite()
        a, b = a[kept], b[kept]
        scale = float(b.abs().max()) or 1.0
        error = float((a - b).norm() / (b.norm() or 1.0)) if level in ("model", "gradient") else None
        error = float((a - b).abs().max()) / scale if error is None else error
        assert error <= most, f"error {error}"
        assert correlation(a, b) >= least, f"correlation {correlation(a, b)}"
