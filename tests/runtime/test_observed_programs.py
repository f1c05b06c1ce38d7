"""Captures and profiles of programs equal those of stepwise calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import ttnn
from testkit.signature_calls import calls
from ttnn.operation import registry
from ttnn.runtime.programs import Program

NUMBERS = ("tensor_id", "unique_id", "runtime_id", "buffer_id")


def _graph(call: Callable[[], Any]) -> list[dict[str, Any]]:
    """Return a call's graph nodes, without durations and renumbered.

    Numbers of tensors are in order of appearance.
    """
    ttnn.graph.begin_graph_capture()
    try:
        call()
    finally:
        nodes = ttnn.graph.end_graph_capture()
    seen: dict[tuple[str, str], int] = {}
    for node in nodes:
        node.pop("duration_ns", None)
        for name in NUMBERS:
            if name in node["params"]:
                node["params"][name] = str(seen.setdefault((name, node["params"][name]), len(seen)))
        node["arguments"] = [re.sub(r"tensor_id=\d+", "tensor_id", text) for text in node["arguments"]]
    return nodes


def _rows(call: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """Return the device operations of a call: name, inputs, results, time."""
    with ttnn.profiler.profile() as session:
        call()
    return [(row.plan.name, row.plan.inputs, row.plan.outputs, row.nanoseconds) for row in session.rows]


def _cases() -> list[object]:
    """Return the operators without random ones and a releasing one.

    They draw numbers, or release the operand.
    """
    entries = (entry for entry in registry.entries() if entry.category != "random" and entry.name != "move")
    return [pytest.param(entry, id=entry.name) for entry in entries]


@pytest.mark.parametrize("entry", _cases())
def test_programs_show_what_calls_show_that_run_step_by_step(entry: registry.Op, device: ttnn.MeshDevice) -> None:
    for call in calls(entry, device):
        device.disable_and_clear_program_cache()
        try:
            call()
        except ttnn.TtnnError:
            continue
        graph, rows = _graph(call), _rows(call)
        device.enable_program_cache()
        assert _graph(call) == graph  # resolves
        assert _graph(call) == graph
        assert _rows(call) == rows
        device.clear_program_cache()
        assert _rows(call) == rows  # resolves


def test_a_capture_gets_the_buffers_of_a_program_while_it_runs(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    ttnn.var(x, -1)
    assert isinstance(device._resolved[next(key for key in device._resolved if key[0] == "ttnn.var")], Program)
    before = device.engine.allocated_bytes()
    ttnn.graph.begin_graph_capture()
    result = ttnn.var(x, -1)
    nodes = ttnn.graph.end_graph_capture()
    allocated = [node["params"]["address"] for node in nodes if node["node_type"] == "buffer_allocate"]
    freed = [node["params"]["address"] for node in nodes if node["node_type"] == "buffer_deallocate"]
    assert str(result.buffer_address()) in allocated
    assert len(allocated) == len(freed) + 1
    result.deallocate()
    assert device.engine.allocated_bytes() == before


def _fill(device: ttnn.MeshDevice, shape: tuple[int, ...]) -> list[ttnn.Tensor]:
    """Allocate tensors until there is no room for a further one."""
    full = []
    try:
        while True:
            full.append(ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device))
    except ttnn.OutOfMemoryError:
        return full


def test_an_observed_program_without_room_raises_and_frees_what_it_has_allocated(device: ttnn.MeshDevice) -> None:
    x = ttnn.ones((1, 1, 2048, 2048), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    ttnn.mul_bw(x, x, x)
    full = _fill(device, (1, 1, 2048, 2048 * 16)) + _fill(device, (1, 1, 2048, 2048))
    full.pop()  # room for one of the two results
    before = device.engine.allocated_bytes()
    ttnn.graph.begin_graph_capture()
    try:
        with pytest.raises(ttnn.OutOfMemoryError, match="mul_bw"):
            ttnn.mul_bw(x, x, x)
    finally:
        ttnn.graph.end_graph_capture()
    assert device.engine.allocated_bytes() == before
