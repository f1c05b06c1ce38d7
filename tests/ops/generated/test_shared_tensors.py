"""Aliased operands and results: bits of separate tensors, or errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import describe, make, values_of
from testkit.signature_calls import GIVEN, Call, calls
from ttnn.base.exceptions import TtnnError
from ttnn.operation import registry
from ttnn.operation.signature import GRADIENT_NAMES, OUTPUT_TENSOR_NAMES

OUTPUTS = {*OUTPUT_TENSOR_NAMES, *GRADIENT_NAMES, "preallocated_output"}


def _operands(call: Call) -> list[str]:
    return [name for name, value in call.arguments.items() if isinstance(value, ttnn.Tensor)]


def _outcome(call: Call, **options: Any) -> Any:
    """Return the result of a call, None if it raises."""
    try:
        return describe(call(**options))
    except TtnnError:
        return None


def _fresh(entry: registry.Op, index: int, device: ttnn.MeshDevice) -> Call:
    return list(calls(entry, device))[index]


def _into_operands(entry: registry.Op, device: ttnn.MeshDevice) -> Iterator[tuple[int, str, str]]:
    """Yield signatures with an output parameter and a matching operand."""
    for index, call in enumerate(calls(entry, device)):
        for param in call.signature.params:
            if param.name in OUTPUTS and param.name not in call.arguments:
                yield from ((index, param.name, name) for name in _operands(call))


TAKE_OUTPUTS = [
    entry for entry in registry.entries() if any(p.name in OUTPUTS for s in entry.signatures for p in s.params)
]
TAKE_TWO = [
    entry
    for entry in registry.entries()
    if any(sum(p.kind.text == "ttnn.Tensor" for p in s.positional) >= 2 for s in entry.signatures)
]


@pytest.mark.parametrize("entry", TAKE_OUTPUTS, ids=str)
def test_results_over_an_operand(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for index, output, operand in _into_operands(entry, device):
        separate = _fresh(entry, index, device)
        expected = _outcome(separate, **{output: ttnn.clone(separate.arguments[operand])})
        shared = _fresh(entry, index, device)
        before = device.engine.state_hash()
        got = _outcome(shared, **{output: shared.arguments[operand]})
        if got is None:
            assert device.engine.state_hash() == before, f"{output}={operand}"
        else:
            assert got == expected, f"{output}={operand}"


@pytest.mark.parametrize("entry", TAKE_TWO, ids=str)
def test_one_tensor_for_two_operands(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for index, call in enumerate(calls(entry, device)):
        names = _operands(call)
        for first, second in itertools.pairwise(names):
            if {(entry.name, first), (entry.name, second)} <= GIVEN and first.endswith("_grad"):
                continue  # two results in one tensor
            shared, separate = _fresh(entry, index, device), _fresh(entry, index, device)
            shared.arguments[second] = shared.arguments[first]
            separate.arguments[second] = ttnn.clone(separate.arguments[first])
            assert _outcome(shared) == _outcome(separate), f"{first} for {second}"


def test_in_place_onto_a_view(device: ttnn.MeshDevice) -> None:
    """A view shares its elements: whoever looks at them sees the result."""
    x = make((1, 64, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    view = ttnn.view(x, (2, 32, 32))
    doubled = 2 * values_of(x)
    ttnn.add_(view, view)
    np.testing.assert_array_equal(values_of(x), doubled)
    np.testing.assert_array_equal(values_of(view), doubled.reshape(2, 32, 32))


IN_PLACE = [
    entry for entry in registry.entries() if entry.name.endswith("_") and hasattr(ttnn, entry.name.removesuffix("_"))
]


@pytest.mark.parametrize("entry", IN_PLACE, ids=str)
def test_in_place_forms_give_what_the_others_give(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    """In a given tensor, also if it is both operands."""
    plain = getattr(ttnn, entry.name.removesuffix("_"))
    for index, call in enumerate(calls(entry, device)):
        names = list(call.arguments)
        for once in (False, True):
            ours, theirs = (_fresh(entry, index, device).arguments for _ in range(2))
            second = names[1] if len(names) > 1 else names[0]
            if once and isinstance(ours[second], ttnn.Tensor):
                ours[second], theirs[second] = ours[names[0]], theirs[names[0]]
            expected = describe(plain(*theirs.values()))
            assert attrgetter(entry.name)(ttnn)(*ours.values()) is ours[names[0]]
            assert describe(ours[names[0]]) == expected
