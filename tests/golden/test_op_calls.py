"""Recorded official calls: same result or error, if operators exist."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from op_calls import walk

import ttnn

# Calls whose results lie elsewhere here, and why.
PLACED_ELSEWHERE = {
    "ttnn.max_pool2d(": "shards that the official program finds by what fits its L1; here they are asked for",
}


def test_recorded_calls(golden: Path) -> None:
    device = ttnn.open_device(device_id=0, l1_small_size=32768)
    try:
        outcomes = list(walk(golden, device))
    finally:
        ttnn.close_device(device)
    counts = Counter(outcome.kind for outcome in outcomes)
    print(f"\nrecorded calls: {counts['same']} same, {counts['different']} different, {counts['missing']} missing")
    different = {
        outcome.expression: outcome.reason
        for outcome in outcomes
        if outcome.kind == "different" and not outcome.expression.startswith(tuple(PLACED_ELSEWHERE))
    }
    assert sum(outcome.kind == "different" for outcome in outcomes) == len(different) + len(PLACED_ELSEWHERE)
    assert not different, "\n".join(f"{expression}\n    {reason}" for expression, reason in different.items())
