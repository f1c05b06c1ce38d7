"""A sample of the product of operators, data types, layouts, shapes and places: the same one in every run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from every_place import PLACES, SHAPES, Case, calls_of, combinations, failures_of, sample

import ttnn
from ttnn.ops import registry

SHAPES_OF_EACH = 2
PLACES_OF_EACH = 1


def _cases() -> list[Any]:
    return [
        pytest.param(entry, dtype, layout, id=f"{entry.name}-{dtype.name}-{layout.name}")
        for entry, dtype, layout in combinations()
    ]


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_same_bits_in_every_place(entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout) -> None:
    counts: Counter[str] = Counter()
    for shape in sample(f"{entry.name} {dtype.name} {layout.name}", SHAPES_OF_EACH, SHAPES):
        assert failures_of(Case(entry, dtype, layout, shape), PLACES_OF_EACH, counts) == []


def test_every_operator_on_tensors_has_calls(device: ttnn.MeshDevice) -> None:
    tried = {
        entry.name
        for entry, dtype, layout in combinations()
        if any(True for shape in SHAPES for _ in calls_of(Case(entry, dtype, layout, shape), device))
    }
    without_operands = {"arange", "empty", "empty_like", "full", "ones", "zeros"}
    assert {entry.name for entry in registry.entries()} - tried == without_operands
    assert len(PLACES) == len(set(PLACES)) == 7
