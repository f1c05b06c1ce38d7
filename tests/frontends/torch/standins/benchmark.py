"""Stand-in for the module `benchmark.utils` of tt-xla's tests."""

from __future__ import annotations

import sys

import torch

__all__ = ["compute_pcc"]


def compute_pcc(golden_output: torch.Tensor, device_output: torch.Tensor) -> float:
    """Return the correlation of two tensors."""
    pair = torch.stack([golden_output.flatten().double(), device_output.flatten().double()])
    return float(torch.corrcoef(pair)[0, 1])


sys.modules["benchmark.utils"] = sys.modules[__name__]
