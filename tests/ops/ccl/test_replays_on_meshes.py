"""Traces of operators on several chips: each chip has its own values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, same

START, END = ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)
CALLS: dict[str, Callable[[ttnn.Tensor], ttnn.Tensor]] = {
    "add": lambda x: ttnn.add(x, x),
    "all_gather": lambda x: ttnn.all_gather(x, 3, cluster_axis=1),
    "reduce_scatter": lambda x: ttnn.reduce_scatter(x, 3, cluster_axis=1),
    "all_reduce": lambda x: ttnn.all_reduce(x, cluster_axis=1),
    "all_broadcast": lambda x: ttnn.all_broadcast(x, cluster_axis=0)[1],
    "broadcast": lambda x: ttnn.broadcast(x, START, cluster_axis=1),
    "mesh_partition": lambda x: ttnn.mesh_partition(x, 3, 1),
    "point_to_point": lambda x: ttnn.point_to_point(x, START, END),
    "one chip": lambda x: ttnn.exp(ttnn.get_device_tensors(x)[5]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_replay_has_the_values_of_each_chip(line: ttnn.MeshDevice, name: str) -> None:
    x = different(line, (1, 1, 32, 256))
    expected = by_chip(CALLS[name](x))
    trace = ttnn.begin_trace_capture(line, cq_id=0)
    result = CALLS[name](x)
    ttnn.end_trace_capture(line, trace, cq_id=0)
    for factor in (1.0, 2.0):
        if factor != 1.0:
            ttnn.copy(ttnn.multiply(x, factor), x)
            expected = by_chip(CALLS[name](x))
        ttnn.execute_trace(line, trace, cq_id=0, blocking=True)
        assert same(by_chip(result), expected)
    assert len({part.tobytes() for part in expected}) > 1 or name == "one chip"
    ttnn.release_trace(line, trace)


def test_a_replay_passes_on_tensors_that_are_gone(line: ttnn.MeshDevice) -> None:
    x = different(line, (1, 1, 32, 256))
    expected = [part * 2 for part in by_chip(ttnn.all_gather(x, 3, cluster_axis=1))]
    trace = ttnn.begin_trace_capture(line, cq_id=0)
    result = ttnn.multiply(ttnn.all_gather(x, 3, cluster_axis=1), 2.0)
    ttnn.end_trace_capture(line, trace, cq_id=0)
    for _ in range(2):
        ttnn.execute_trace(line, trace, cq_id=0, blocking=True)
        assert all(np.array_equal(a, b) for a, b in zip(by_chip(result), expected, strict=True))
