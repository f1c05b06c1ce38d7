"""Agreement of two tensors."""

from __future__ import annotations

import math

import torch

__all__ = ["correlation", "difference"]


def correlation(first: torch.Tensor, second: torch.Tensor) -> float:
    """Return Pearson's correlation of the finite elements.

    For constant tensors it is 1 if they are close, else 0.
    """
    a, b = first.detach().flatten().double(), second.detach().flatten().double()
    if torch.equal(a, b):
        return 1.0
    kept = a.isfinite() & b.isfinite()
    a, b = a[kept], b[kept]
    if a.numel() < 2 or bool((a == a[0]).all()) or bool((b == b[0]).all()):
        return 1.0 if torch.allclose(a, b, rtol=1e-2, atol=1e-2) else 0.0
    a, b = a - a.mean(), b - b.mean()
    return float((a @ b) / (a.norm() * b.norm()))


def difference(first: torch.Tensor, second: torch.Tensor) -> float:
    """Return the largest difference; infinite if other elements are not finite."""
    a, b = first.detach().double(), second.detach().double()
    if not torch.equal(a.isnan(), b.isnan()) or not torch.equal(a[a.isinf()], b[b.isinf()]):
        return math.inf
    if not torch.equal(a.isinf(), b.isinf()):
        return math.inf
    kept = a.isfinite()
    rest = (a[kept] - b[kept]).abs()
    return float(rest.max()) if rest.numel() else 0.0
