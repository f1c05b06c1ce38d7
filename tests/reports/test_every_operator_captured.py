"""Every operator is captured: sound graphs, unchanged values.

Without dispatch nothing runs.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.every_place import Call, Case, Slot, calls_of, combinations
from testkit.reference_calls import callable_of
from ttnn.base.observers import OBSERVERS
from ttnn.operation import registry

RELEASE = ("move",)
"""They release their operand, in a capture too."""
SHAPES = [(33, 65), (2, 3, 5, 31), (1, 1, 64, 128)]


def _cases() -> list[object]:
    first: dict[str, object] = {}
    for entry, dtype, layout in combinations():
        first.setdefault(entry.name, pytest.param(entry, dtype, layout, id=entry.name))
    return list(first.values())


def _first_call(entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> Call | None:
    for shape in SHAPES:
        for call in islice(calls_of(Case(entry, dtype, layout, shape), device), 1):
            return call
    return None


def _arguments(call: Call) -> tuple[list[Any], dict[str, Any]]:
    def built(value: Any) -> Any:
        return value.build(ttnn.DRAM_MEMORY_CONFIG) if isinstance(value, Slot) else value

    return [built(value) for value in call.positional], {name: built(value) for name, value in call.keywords}


def _bytes(result: Any) -> Any:
    if isinstance(result, ttnn.Tensor):
        return None if not result.is_allocated() else np.asarray(result.to_list(), np.float64).tobytes()
    if isinstance(result, list | tuple):
        return [_bytes(part) for part in result]
    if isinstance(result, ttnn.ComplexTensor):
        return [_bytes(result.real), _bytes(result.imag)]
    return result


def _functions(graph: list[dict[str, Any]]) -> list[str]:
    """Return the device operations; every function must have ended."""
    opened: list[str] = []
    for place, node in enumerate(graph):
        assert node["counter"] == place
        assert all(isinstance(value, str) for value in node["params"].values())
        if node["node_type"] == "function_start":
            opened.append(node["params"]["name"])
        elif node["node_type"] == "function_end":
            assert opened.pop() == node["params"]["name"]
    assert not opened
    return [name for name in ttnn.graph.extract_calltrace(graph) if "::" not in name and not name.startswith("ttnn.")]


def _captured(mode: ttnn.graph.RunMode, operation: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Return a call's result and its graph's device operations."""
    ttnn.graph.begin_graph_capture(mode)
    try:
        result = operation(*args, **kwargs)
    finally:
        graph = ttnn.graph.end_graph_capture()
    return result, _functions(graph)


@pytest.mark.parametrize(("entry", "dtype", "layout"), _cases())
def test_captured_graph_of_every_operator_is_sound(
    entry: registry.Op, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    call = _first_call(entry, dtype, layout, device)
    if call is None:
        pytest.skip("the operator is not called with operands of these shapes")
    operation = callable_of(entry)
    args, kwargs = _arguments(call)
    try:
        expected = _bytes(operation(*args, **kwargs))
    except ttnn.TtnnError as error:
        pytest.skip(f"the call is refused: {error}")
    args, kwargs = _arguments(call)
    with ttnn.profiler.profile() as profile:
        result, run = _captured(ttnn.graph.RunMode.NORMAL, operation, args, kwargs)
    if entry.category != "random":
        assert _bytes(result) == expected
    assert run == [row.plan.name for row in profile.rows]
    del result
    args, kwargs = _arguments(call)
    state = device.engine.state_hash()
    _result, blocked = _captured(ttnn.graph.RunMode.NO_DISPATCH, operation, args, kwargs)
    if entry.name not in RELEASE:
        assert device.engine.state_hash() == state
    assert blocked == run
    assert OBSERVERS == []
