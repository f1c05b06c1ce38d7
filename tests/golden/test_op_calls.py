"""Recorded official calls: same result or error, if operators exist."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

from op_calls import UNUSUAL_FILE, kind_of, read_calls, walk

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


# Of the calls with unusual arguments so many agree at least, by kind of record. The rest differs in the order of checks
# where several arguments are wrong, in values of programs that are not built, or in operators that are missing.
AGREEING = {"result": 3635, "refusal": 3836, "accident": 249, "arguments": 115}


def test_recorded_calls_with_unusual_arguments(golden: Path) -> None:
    device = ttnn.open_device(device_id=0, l1_small_size=32768)
    try:
        with warnings.catch_warnings():
            # Programs that read one row of an operand warn of it.
            warnings.simplefilter("ignore", UserWarning)
            outcomes = list(walk(golden, device, file=UNUSUAL_FILE))
    finally:
        ttnn.close_device(device)
    kinds = [kind_of(record) for record in read_calls(golden, UNUSUAL_FILE)]
    counts = Counter(outcome.kind for outcome in outcomes)
    agreeing = Counter(kind for kind, outcome in zip(kinds, outcomes, strict=True) if outcome.kind == "same")
    print(
        f"\nrecorded calls with unusual arguments: {counts['same']} same, {counts['different']} different, "
        f"{counts['missing']} missing; of each kind "
        + ", ".join(f"{agreeing[kind]} of {kinds.count(kind)} {kind}" for kind in AGREEING)
    )
    for operator, count in Counter(
        o.expression.partition("(")[0] for o in outcomes if o.kind == "different"
    ).most_common(10):
        print(f"  {operator}: {count} different")
    lost = {kind: (agreeing[kind], least) for kind, least in AGREEING.items() if agreeing[kind] < least}
    assert not lost, f"fewer calls agree than before: {lost}"
