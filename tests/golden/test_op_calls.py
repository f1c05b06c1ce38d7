"""Recorded official calls: same result or error, if operators exist."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from op_calls import BLACKHOLE, UNUSUAL, USUAL, Outcome, Recording, kind_of, read_calls, walk

# Calls whose results lie elsewhere here, and why.
PLACED_ELSEWHERE = {
    "ttnn.max_pool2d(": "shards that the official program finds by what fits its L1; here they are asked for",
}


def test_recorded_calls(golden: Path) -> None:
    outcomes = list(walk(golden, USUAL))
    counts = Counter(outcome.kind for outcome in outcomes)
    print(f"\nrecorded calls: {counts['same']} same, {counts['different']} different, {counts['missing']} missing")
    different = {
        outcome.expression: outcome.reason
        for outcome in outcomes
        if outcome.kind == "different" and not outcome.expression.startswith(tuple(PLACED_ELSEWHERE))
    }
    assert sum(outcome.kind == "different" for outcome in outcomes) == len(different) + len(PLACED_ELSEWHERE)
    assert not different, "\n".join(f"{expression}\n    {reason}" for expression, reason in different.items())


# Of the calls with unusual arguments, and of those of a Blackhole, so many agree at least, by kind of record. The rest
# differs in the order of checks where several arguments are wrong, in values of programs that are not built, or in
# operators that are missing.
AGREEING = {
    UNUSUAL: {"result": 3653, "refusal": 3841, "accident": 249, "arguments": 115},
    BLACKHOLE: {"result": 1853, "refusal": 2055, "accident": 62, "arguments": 4},
}

# Calls that differ on a Blackhole only, and why.
ON_BLACKHOLE = {
    "ttnn.permute(t((1, 1, 256, 128),'bf16',T,ttnn.create_sharded_memory_config((1, 1, 256, 128),"
    "ttnn.CoreGrid(y=2,x=1),ttnn.ShardStrategy.HEIGHT)),(3,2,1,0),memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)": (
        "its message counts 128 more bytes in L1, which an earlier call of the recording left there"
    ),
}


def _different(outcomes: list[Outcome]) -> set[str]:
    return {outcome.expression for outcome in outcomes if outcome.kind != "same"}


# Programs that read one row of an operand warn of it.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("recording", AGREEING, ids=["unusual", "blackhole"])
def test_recorded_calls_by_their_rules(golden: Path, recording: Recording) -> None:
    outcomes = list(walk(golden, recording))
    kinds = [kind_of(record) for record in read_calls(golden, recording)]
    counts = Counter(outcome.kind for outcome in outcomes)
    agreeing = Counter(kind for kind, outcome in zip(kinds, outcomes, strict=True) if outcome.kind == "same")
    print(
        f"\nrecorded calls of {recording.file}: {counts['same']} same, {counts['different']} different, "
        f"{counts['missing']} missing; of each kind "
        + ", ".join(f"{agreeing[kind]} of {kinds.count(kind)} {kind}" for kind in AGREEING[recording])
    )
    for operator, count in Counter(
        o.expression.partition("(")[0] for o in outcomes if o.kind == "different"
    ).most_common(10):
        print(f"  {operator}: {count} different")
    lost = {kind: (agreeing[kind], least) for kind, least in AGREEING[recording].items() if agreeing[kind] < least}
    assert not lost, f"fewer calls agree than before: {lost}"
    if recording is BLACKHOLE:
        different = _different(outcomes)
        on_wormhole = {
            text for other in (USUAL, UNUSUAL) for text in _different(list(walk(golden, other, different.__contains__)))
        }
        assert different - on_wormhole == set(ON_BLACKHOLE)
