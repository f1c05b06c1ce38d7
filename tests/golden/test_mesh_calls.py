"""Recorded calls on several chips: as many agree as before, or more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mesh_calls import AGREEMENT, agreement, function_of, known_differences, walk, why


# Programs that read one row of an operand warn of it.
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_recorded_calls_on_several_chips(golden: Path) -> None:
    outcomes = list(walk(golden))
    agree = sum(not outcome.reason for outcome in outcomes)
    print(f"\nrecorded calls on several chips: {agree} of {len(outcomes)} agree")
    numbers = agreement(outcomes)
    least = json.loads(AGREEMENT.read_text(encoding="utf-8"))
    lost = {name: (numbers[name][0], count) for name, (count, _) in least.items() if numbers[name][0] < count}
    assert not lost, f"fewer calls agree than before: {lost}"
    assert {name: total for name, (_, total) in numbers.items()} == {name: total for name, (_, total) in least.items()}
    # A reason is of calls that differ, and of no others.
    reasons = {reason for *_, reason in known_differences()}
    assert {why(outcome) for outcome in outcomes if outcome.reason} - {None} == reasons
    assert not [outcome for outcome in outcomes if not outcome.reason and why(outcome)]


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("ttnn.all_gather(t((1,1,32,32)),dim=3,topology=ttnn.Topology.Ring)", "all_gather"),
        ("str(ttnn.get_usable_topology(t((1,1,32,32)),ttnn.Topology.Mesh,0))", "get_usable_topology"),
        ("[d.reshape(M(1,8)),str(d)]", "MeshDevice.reshape"),
        ("parts(h((8,16),mapper(S(0),shape=M(4))))", "create_mesh_mapper"),
        ("vals(h((8,4)).to_numpy(mesh_composer=composer(0,1,2)))", "create_mesh_composer"),
        ("desc(h((8,4)))", "Tensor"),
        ("M(2,3,4)", "other"),
    ],
)
def test_functions_of_expressions(expression: str, function: str) -> None:
    assert function_of(expression) == function
