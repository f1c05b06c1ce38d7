"""`Profile.report` writes a folder that TT-NN Visualizer opens, without any other switch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.visualizer import assert_circular_buffers_are_below_the_buffers, viewer
from ttnn.profiler.session import Profile


def _run(device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(7).random((1, 1, 128, 256), np.float32)
    options: dict[str, Any] = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
    x = ttnn.from_torch(values, memory_config=ttnn.L1_MEMORY_CONFIG, **options)
    shards = ttnn.create_sharded_memory_config((1, 1, 128, 256), ttnn.CoreGrid(x=4, y=1), ttnn.ShardStrategy.HEIGHT)
    sharded = ttnn.to_memory_config(x, shards)
    for _ in range(3):
        sharded = ttnn.gelu(sharded)
    y = ttnn.sharded_to_interleaved(sharded, ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(sharded)
    with pytest.raises(ttnn.ShapeError):
        ttnn.matmul(y, y)
    ttnn.to_torch(ttnn.add(y, x))


def _profiled() -> Profile:
    with ttnn.manage_device(0) as device, ttnn.profiler.profile() as session:
        _run(device)
    return session


@pytest.fixture(scope="module")
def profiled() -> Profile:
    """The device is closed before anything is written."""
    return _profiled()


@pytest.fixture
def database(profiled: Profile, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(profiled.report(tmp_path) / "db.sqlite")
    yield connection
    connection.close()


def test_calls_are_operations_with_tensors_that_keep_their_ids(database: sqlite3.Connection) -> None:
    names = database.execute("SELECT name FROM operations ORDER BY operation_id").fetchall()
    assert [name.removeprefix("ttnn.") for (name,) in names] == [
        *("from_torch", "to_memory_config", "gelu", "gelu", "gelu", "sharded_to_interleaved", "deallocate", "matmul"),
        *("add", "to_torch"),
    ]
    chain = database.execute(
        "SELECT o.operation_id, i.operation_id FROM output_tensors o JOIN input_tensors i USING (tensor_id) "
        "JOIN operations p ON p.operation_id = o.operation_id WHERE p.name = 'ttnn.gelu' ORDER BY 1, 2"
    ).fetchall()
    assert chain == [(3, 4), (4, 5), (5, 6), (5, 7)]


def test_buffers_are_those_that_exist_when_a_call_has_run(database: sqlite3.Connection) -> None:
    counts = dict(
        database.execute("SELECT operation_id, count(*) FROM buffers WHERE buffer_type = 1 GROUP BY operation_id")
    )
    # x; then its shards; each gelu adds its result, and the operand before it is freed when the name is bound anew.
    assert [counts[number] for number in range(1, 8)] == [1, 2, 3, 3, 3, 3, 2]
    layouts = database.execute("SELECT DISTINCT buffer_layout FROM buffers WHERE operation_id = 3").fetchall()
    assert sorted(layouts) == [(0,), (2,)]


def test_errors_and_lines_of_the_program_are_there(database: sqlite3.Connection) -> None:
    ((name, kind, message),) = database.execute("SELECT operation_name, error_type, error_message FROM errors")
    assert (name, kind) == ("ttnn.matmul", "ShapeError")
    assert "inner dimensions differ" in message
    stacks = [stack for (stack,) in database.execute("SELECT stack_trace FROM stack_traces")]
    assert len(stacks) == 10
    assert all(__file__ in stack for stack in stacks)


def test_a_report_replaces_one_that_is_there(profiled: Profile, tmp_path: Path) -> None:
    for _ in range(2):
        path = profiled.report(tmp_path) / "db.sqlite"
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM operations").fetchone() == (10,)


def test_an_open_profile_is_refused(tmp_path: Path) -> None:
    with (
        ttnn.profiler.profile() as session,
        pytest.raises(ttnn.ArgumentError, match=r"Profile\.report: the profile is still open"),
    ):
        session.report(tmp_path)


def test_the_viewer_opens_the_folder_as_both_reports(profiled: Profile, tmp_path: Path) -> None:
    folder = profiled.report(tmp_path / "run")
    with viewer(tmp_path) as running:
        running.open(folder, folder)
        operations = running.get("operations")
        starts = [
            node["params"]["name"]
            for operation in operations
            for node in operation["device_operations"]
            if node["node_type"] == "function_start" and "ttnn." not in node["params"]["name"]
        ]
        assert [row["OP_CODE"] for row in running.get("performance/perf-results")] == starts
        assert starts == [row.plan.name for row in profiled.rows]
        report = running.get("performance/perf-results/report")["report"]
        assert sum(float(row["device_time"]) for row in report) == pytest.approx(profiled.total / 1000, abs=0.01)
        assert all(assert_circular_buffers_are_below_the_buffers(running))
        tensor = running.get("tensors")[0]["id"]
        for path in (
            *("operations/3", f"tensors/{tensor}", "operation-buffers/3", "devices", "config", "cluster-descriptor"),
            *("mesh-descriptor", "report-metadata", "errors", "performance/device-log/meta", "buffers?buffer_type=1"),
        ):
            assert running.get(path)
