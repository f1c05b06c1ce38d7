"""Every engine operator is a device operation with a plan.

Whatever it is called with.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

import ttnn
from testkit.every_place import INTERLEAVED, SHAPES, Case, Runner, calls_of, combinations
from ttnn.operation import registry

# They write no page: their result is an operand, its memory, or nothing.
VIEWS = {"complex_tensor", "experimental.view", "imag", "real", "reshape_on_device", "squeeze", "unsqueeze_to_4D"}
VIEWS |= {"assign_bw", "frac_bw", "sharded_to_interleaved", "to_layout", "view"}


def _cases() -> list[object]:
    first: dict[str, object] = {}
    for entry, dtype, layout in combinations():
        first.setdefault(entry.name, pytest.param(entry, dtype, layout, id=entry.name))
    return list(first.values())


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_every_operator_has_a_time(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    found = ran = 0
    for shape in SHAPES:
        case = Case(entry, dtype, layout, shape)
        for call in islice(calls_of(case, device), 1):
            with ttnn.profiler.profile() as session:
                result = Runner(case, call, Counter()).result(INTERLEAVED, INTERLEAVED)
            ran += result is not None and 0 not in shape
            assert not session.missing
            for row in session.rows:
                found += 1
                assert row.nanoseconds > 0
                assert 0 < row.plan.cores <= row.plan.card.cores
    # An operator that gave a result of some elements asked the engine for it, or is a view.
    assert found or not ran or entry.view or entry.name in VIEWS
