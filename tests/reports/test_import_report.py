"""Captured graphs in files, and the databases that are made of them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import FileFormatError
from ttnn.graph_report import REPORT_VERSION, import_report


def _capture(device: ttnn.MeshDevice, path: Path, **options: Any) -> list[dict[str, Any]]:
    a = ttnn.from_torch(np.ones((64, 64), np.float32), layout=ttnn.TILE_LAYOUT, device=device)
    with ttnn.graph.full_graph_capture(path, **options):
        b = ttnn.to_memory_config(ttnn.matmul(a, a), ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(b)
    return list(json.loads(path.read_text())["graph"])


def _rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def test_a_file_has_graph_devices_and_buffers(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "graph.json"
    fast = ttnn.CONFIG.enable_fast_runtime_mode
    _capture(device, path)
    report = json.loads(path.read_text())
    assert report["version"] == ttnn.graph.REPORT_VERSION == 1
    (described,) = report["devices"]
    assert (described["device_id"], described["num_compute_cores"], described["cb_limit"]) == (0, 64, 1393312)
    assert report["metadata"]["total_duration_ns"] > 0
    assert report["per_operation_buffers"]
    assert report["buffer_pages"] == []
    calls = json.loads(path.with_suffix(".python_io.json").read_text())
    assert [call["name"] for call in calls] == ["ttnn.matmul", "ttnn.to_memory_config", "ttnn.deallocate"]
    assert Path(__file__).name in calls[0]["python_stack_trace"][0]
    assert calls[0]["output_tensor_ids"] == calls[1]["input_tensor_ids"]
    # Everything that the capture switched on is off again.
    graph = ttnn.graph
    assert ttnn.CONFIG.enable_fast_runtime_mode is fast
    assert not graph.is_python_stack_trace_enabled()
    assert not graph.is_detailed_buffer_tracing_enabled()
    assert not graph.is_python_io_recording_enabled()


def test_imported_graph_has_operations_tensors_and_buffers(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    _capture(device, tmp_path / "graph.json")
    database = ttnn.graph.import_report(tmp_path / "graph.json", tmp_path / "report")
    assert database == tmp_path / "report" / "db.sqlite"
    assert {path.name for path in database.parent.iterdir()} == {
        "db.sqlite", "config.json", "cluster_descriptor.yaml", "physical_chip_mesh_coordinate_mapping.yaml",
    }  # fmt: skip
    assert _rows(database, "SELECT operation_id, name FROM operations") == [
        (1, "ttnn.matmul"),
        (2, "ttnn.to_memory_config"),
    ]
    (matmul,) = _rows(database, "SELECT tensor_id FROM output_tensors WHERE operation_id = 1")
    assert _rows(database, "SELECT tensor_id FROM input_tensors WHERE operation_id = 2") == [matmul]
    in_l1 = "SELECT operation_id, count(*) FROM buffers WHERE buffer_type = 1 GROUP BY operation_id"
    assert _rows(database, in_l1) == [(2, 1)]
    (trace,) = _rows(database, "SELECT stack_trace FROM stack_traces WHERE operation_id = 1")[0]
    assert Path(__file__).name in trace
    assert _rows(database, "SELECT path FROM source_files") == [(__file__,)]
    assert dict(_rows(database, "SELECT key, value FROM report_metadata"))["world_size"] == "1"
    for (graph,) in _rows(database, "SELECT captured_graph FROM captured_graph"):
        nodes = json.loads(graph)
        assert [node["counter"] for node in nodes] == list(range(len(nodes)))
        assert (nodes[0]["node_type"], nodes[-1]["node_type"]) == ("capture_start", "capture_end")
        assert all(other < len(nodes) for node in nodes for other in node["connections"])


def test_a_graph_without_records_of_calls_says_the_same(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    _capture(device, tmp_path / "graph.json")
    with_records = ttnn.graph.import_report(tmp_path / "graph.json", tmp_path / "a")
    report = json.loads((tmp_path / "graph.json").read_text())
    del report["per_operation_buffers"]
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "graph.json").write_text(json.dumps(report))
    bare = ttnn.graph.import_report(tmp_path / "bare", tmp_path / "b")
    for query in (
        "SELECT operation_id, name, duration FROM operations",
        "SELECT operation_id, tensor_id FROM output_tensors",
        "SELECT operation_id, address, max_size_per_bank FROM buffers WHERE buffer_type = 1",
    ):
        assert _rows(bare, query) == _rows(with_records, query)
    # Of a product of a tensor with itself the graph knows one operand.
    assert _rows(bare, "SELECT DISTINCT * FROM input_tensors") == _rows(
        with_records, "SELECT * FROM input_tensors WHERE input_index = 0"
    )


def test_graph_parameters_may_be_numbers(tmp_path: Path) -> None:
    """The official package writes parameters as numbers in later versions."""

    def node(counter: int, kind: str, connections: list[int], **params: Any) -> dict[str, Any]:
        return {"counter": counter, "node_type": kind, "params": params, "connections": connections}

    graph = [
        node(0, "capture_start", [1]),
        {**node(1, "function_start", [2], name="ttnn::relu", inputs="1"), "arguments": ["x"]},
        node(2, "tensor", [], tensor_id=7, shape="Shape([32])", device_id=0, address=64, buffer_type=1),
        node(3, "buffer_allocate", [], address=64, size=4096, page_size=1024, num_cores=0, type="L1", device_id=0),
        {**node(4, "function_end", [2], name="ttnn::relu"), "duration_ns": 5},
        node(5, "function_start", [], name="ttnn::exp", inputs="1"),
    ]
    devices = [{"device_id": 0, "l1_num_banks": 2, "num_dram_channels": 12}]
    (tmp_path / "g.json").write_text(json.dumps({"version": 1, "graph": graph, "devices": devices}))
    database = ttnn.graph.import_report(tmp_path / "g.json", tmp_path)
    assert _rows(database, "SELECT tensor_id, address, buffer_type FROM tensors") == [(7, 64, 1)]
    assert _rows(database, "SELECT tensor_id FROM output_tensors") == [(7,)]
    # Four pages in two banks.
    assert _rows(database, "SELECT max_size_per_bank FROM buffers WHERE operation_id = 1") == [(2048,)]
    assert _rows(database, "SELECT name, value FROM operation_arguments") == [("arg_0", "x")]
    assert _rows(database, "SELECT operation_id, operation_name, error_type FROM errors") == [
        (2, "ttnn::exp", "incomplete_operation")
    ]


def test_files_that_are_not_reports_raise(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"version": 2, "graph": []}'):
        (tmp_path / "g.json").write_text(text)
        with pytest.raises(FileFormatError, match=r"import_report: .*g\.json"):
            ttnn.graph.import_report(tmp_path / "g.json", tmp_path / "report")
    (tmp_path / "empty").mkdir()
    for name, what in (("empty", "a folder without reports"), ("nothing.json", "no file and no folder")):
        with pytest.raises(FileFormatError, match=rf"import_report: .*{name} is {what}"):
            ttnn.graph.import_report(tmp_path / name, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_graph_report_command_writes_a_database(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    _capture(device, tmp_path / "graph.json", run_mode=ttnn.graph.RunMode.NO_DISPATCH)
    command = [sys.executable, "-W", "error", "-m", "ttnn.graph_report", str(tmp_path / "graph.json")]
    done = subprocess.run([*command, str(tmp_path / "report")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "report" / "db.sqlite")
    assert _rows(tmp_path / "report" / "db.sqlite", "SELECT count(*) FROM operations") == [(2,)]
    command[-1] += "s"
    done = subprocess.run([*command, str(tmp_path / "report")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("python -m ttnn.graph_report: error: import_report: ")


def test_addresses_of_repositories_lose_their_passwords() -> None:
    clean = ttnn.graph_report.sanitize_git_remote_url
    assert clean("https://user:secret@example.org/a.git\n") == "https://example.org/a.git"
    assert clean("git@example.org:a.git") == "git@example.org:a.git"


def _stranger(path: Path, **fields: Any) -> Path:
    """Write a report with one operation from a chosen file.

    It was called at line 1 of a file that the stranger chose.
    """
    nodes = [
        {"counter": 0, "node_type": "capture_start", "params": {}, "connections": [1]},
        {"counter": 1, "node_type": "function_start", "params": {"name": "ttnn::add"}, "connections": [2]},
        {"counter": 2, "node_type": "function_end", "params": {"name": "ttnn::add"}, "connections": [3]},
        {"counter": 3, "node_type": "capture_end", "params": {}, "connections": []},
    ]
    path.write_text(json.dumps({"version": REPORT_VERSION, "graph": nodes, **fields}))
    return path


@pytest.mark.parametrize("place", ["outside", "link", "inside"])
def test_a_report_copies_only_source_files_of_the_working_folder(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    secret = tmp_path / "secret" if place != "inside" else work / "secret"
    secret.write_text("secret")
    if place == "link":
        (work / "link").symlink_to(secret)
    named = work / "link" if place == "link" else secret
    call = {"name": "ttnn::add", "python_stack_trace": [f'  File "{named}", line 1, in f']}
    report = _stranger(work / "report.json", python_io=[call])
    database = import_report(report, work / "out")
    copied = [("secret",)] if place == "inside" else []
    assert _rows(database, "SELECT contents FROM source_files") == copied
    assert ("--allow-files" in caplog.text and str(secret) in caplog.text) == (place != "inside")
    database = import_report(report, work / "trusted", allow_files=True)
    assert _rows(database, "SELECT contents FROM source_files") == [("secret",)]


@pytest.mark.parametrize("named", ["/dev/zero", "pipe"])
def test_a_report_reads_no_endless_file(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    call = {"name": "ttnn::add", "python_stack_trace": [f'  File "{tmp_path / named}", line 1, in f']}
    database = import_report(_stranger(tmp_path / "report.json", python_io=[call]), tmp_path / "out", allow_files=True)
    assert _rows(database, "SELECT contents FROM source_files") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"graph": [{}]},
        {"graph": 3},
        {"devices": [3]},
        {"devices": [{"device_id": {}}]},
        {"metadata": 3},
        {"python_io": [{}]},
        {"devices": [{"device_id": 1 << 70}]},
    ],
    ids=str,
)
def test_a_damaged_report_is_refused(fields: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="is damaged"):
        import_report(_stranger(tmp_path / "report.json", **fields), tmp_path / "out")


def test_a_nested_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[" * 200_000)
    with pytest.raises(FileFormatError, match="import_report"):
        import_report(tmp_path / "report.json", tmp_path / "out")


def test_recorded_calls_have_official_arguments_and_errors(device: ttnn.MeshDevice) -> None:
    graph = ttnn.graph
    x = ttnn.zeros([32, 32], device=device, layout=ttnn.TILE_LAYOUT)
    record = graph.append_python_io_record("ttnn.concat")
    assert record == {"name": "ttnn.concat", "arguments": {}, "input_tensor_ids": []}
    assert graph.record_python_operation("ttnn.concat", ([x, x], [1, None]), {"dim": 0}, record=record) is record
    text = record["arguments"]["0"]
    assert text.startswith("[ttnn.Tensor(shape=Shape([32, 32]), dtype=DataType.BFLOAT16, layout=Layout.TILE, ")
    assert record["arguments"] == {"0": text, "1": "[1, None]", "dim": "0"}
    assert record["input_tensor_ids"] == [x.tensor_id] * 2
    graph.record_python_operation_error(record, "ShapeError", "first")
    graph.record_python_operation_error(record, "TypeError", "second")
    graph.record_python_operation_error(None, "TypeError", "not recorded")
    assert record["error"] == {"type": "ShapeError", "message": "first"}


def test_the_error_of_a_recorded_call_is_imported(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    x = ttnn.zeros([32, 64], device=device, layout=ttnn.TILE_LAYOUT)
    ttnn.graph.begin_graph_capture()
    with pytest.raises(RuntimeError):
        ttnn.matmul(x, x)
    ttnn.graph.end_graph_capture_to_file(tmp_path / "graph.json")
    database = ttnn.graph.import_report(tmp_path / "graph.json", tmp_path / "report")
    ((kind, message),) = _rows(
        database, "SELECT error_type, error_message FROM errors WHERE error_type != 'incomplete_operation'"
    )
    assert kind == "ShapeError"
    assert "inner dimensions differ" in message
