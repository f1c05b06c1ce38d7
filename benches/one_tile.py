"""Microseconds of repeated one-tile bfloat16 calls, compared with torch's.

Both are measured in the same run.

    python benches/one_tile.py

Times are the shortest of 4,000 calls after three that resolve and cache the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import ttnn

CALLS = 4000


def shortest(run: Callable[[], Any]) -> float:
    """Return the microseconds of the shortest of many calls."""
    for _ in range(3):
        run()
    best = float("inf")
    for _ in range(CALLS):
        before = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - before)
    return best * 1e6


def main() -> None:
    """Print a row for each call."""
    a, b = (torch.randn(32, 32, dtype=torch.bfloat16) for _ in range(2))
    with ttnn.manage_device(device_id=0) as device:
        x, y = (ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device) for values in (a, b))
        rows: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "add": (lambda: ttnn.add(x, y), lambda: a + b),
            "exp": (lambda: ttnn.exp(x), lambda: torch.exp(a)),
            "matmul": (lambda: ttnn.matmul(x, y), lambda: a @ b),
            "sum(dim=-1)": (lambda: ttnn.sum(x, dim=-1), lambda: a.sum(-1)),
            "softmax(dim=-1)": (lambda: ttnn.softmax(x, dim=-1), lambda: torch.softmax(a, -1)),
            "layer_norm": (lambda: ttnn.layer_norm(x), lambda: torch.nn.functional.layer_norm(a, (32,))),
            "reshape": (lambda: ttnn.reshape(x, (1, 32, 32)), lambda: a.reshape(1, 32, 32)),
            "permute": (lambda: ttnn.permute(x, (1, 0)), lambda: a.permute(1, 0).contiguous()),
            "to_torch, clone": (lambda: ttnn.to_torch(x), lambda: a.clone()),
        }
        for name, (ours, theirs) in rows.items():
            print(f"{name:16} {shortest(ours):6.1f} us   torch {shortest(theirs):5.1f} us")


if __name__ == "__main__":
    main()
