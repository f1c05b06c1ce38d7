"""The report of `CONFIG.enable_logging`, and nothing without it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.observers import OBSERVERS


@pytest.fixture
def report(tmp_path: Path) -> Iterator[Path]:
    """Name a report in a test folder; return its path."""
    before = ttnn.Config(ttnn.CONFIG)
    ttnn.CONFIG.root_report_path, ttnn.CONFIG.report_name = tmp_path, Path("A run")
    folder = ttnn.CONFIG.report_path
    assert folder is not None
    yield folder
    ttnn.CONFIG = before


def _tensor(device: ttnn.MeshDevice, **options: Any) -> ttnn.Tensor:
    return ttnn.from_torch(
        np.ones((64, 64), np.float32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options
    )


def _rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "db.sqlite")) as connection:
        return connection.execute(query).fetchall()


def test_nothing_is_written_when_it_is_off(device: ttnn.MeshDevice, report: Path, tmp_path: Path) -> None:
    ttnn.exp(_tensor(device))
    ttnn.CONFIG.enable_graph_report = ttnn.CONFIG.enable_detailed_buffer_report = True
    ttnn.exp(_tensor(device))
    with ttnn.manage_config("report_name", None), ttnn.manage_config("enable_logging", True):
        ttnn.exp(_tensor(device))
    assert not report.exists()
    assert list(tmp_path.iterdir()) == []
    assert not OBSERVERS


def test_a_call_is_a_row_with_arguments_tensors_and_buffers(device: ttnn.MeshDevice, report: Path) -> None:
    with ttnn.manage_config("enable_logging", True):
        a = _tensor(device)
        b = ttnn.multiply(a, 2.0, memory_config=ttnn.L1_MEMORY_CONFIG)
    database = ttnn.database
    first, second = database.query_operations(report)
    assert (first.name, second.name) == ("ttnn.from_torch", "ttnn.multiply")
    assert second.duration is not None
    assert second.duration > 0
    arguments = {row.name: row.value for row in database.query_operation_arguments(report, 2)}
    assert arguments["1"] == "2.0"
    assert "BufferType::L1" in arguments["memory_config"]
    assert [row.tensor_id for row in database.query_input_tensors(report, 2)] == [a.tensor_id]
    assert [row.tensor_id for row in database.query_output_tensors(report, 2)] == [b.tensor_id]
    stored = database.query_tensor_by_id(report, b.tensor_id)
    assert stored is not None
    assert (stored.address, stored.buffer_type, stored.shape) == (
        b.buffer_address(), ttnn.BufferType.L1, "Shape([64, 64])",
    )  # fmt: skip
    buffers = {(row.address, row.buffer_type) for row in database.query_buffers(report, 2)}
    assert buffers == {(a.buffer_address(), ttnn.BufferType.DRAM), (b.buffer_address(), ttnn.BufferType.L1)}
    assert database.query_producer_operation_id(report, a.tensor_id) == 1
    assert list(database.query_consumer_operation_ids(report, a.tensor_id)) == [2]
    assert not list(database.query_buffer_pages(report, 2))
    graph = database.query_captured_graph(report, 2)
    assert graph is not None
    assert graph[1]["params"]["name"] == "ttnn.multiply"
    trace = database.query_stack_trace(report, 2)
    assert trace is not None
    assert trace.startswith(f'  File "{__file__}"')
    assert json.loads((report / "config.json").read_text())["report_name"] == "A run"
    assert database.query_operation_by_id(report, 3) is None


def test_what_was_written_does_not_change_results(device: ttnn.MeshDevice, report: Path) -> None:
    a = _tensor(device)
    before = ttnn.softmax(ttnn.gelu(a), dim=-1).to_numpy()
    with ttnn.manage_config("enable_logging", True):
        logged = ttnn.softmax(ttnn.gelu(a), dim=-1).to_numpy()
    assert before.tobytes() == logged.tobytes()


def test_an_operator_that_raises_is_an_error(device: ttnn.MeshDevice, report: Path) -> None:
    with ttnn.manage_config("enable_logging", True):
        a = _tensor(device)
        with pytest.raises(ttnn.OutOfMemoryError):
            ttnn.zeros((8192, 8192), layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.exp(a)
    ((operation, name, kind, message, trace),) = _rows(
        report, "SELECT operation_id, operation_name, error_type, error_message, stack_trace FROM errors"
    )
    assert (operation, name, kind) == (2, "ttnn.zeros", "RuntimeError")
    assert "Out of Memory" in message
    assert trace.startswith("Traceback (most recent call last):")
    assert _rows(report, "SELECT duration FROM operations WHERE operation_id = 2") == [(None,)]
    assert _rows(report, "SELECT count(*) FROM operations") == [(3,)]


def test_pages_and_values_are_written_on_request(device: ttnn.MeshDevice, report: Path) -> None:
    switches = ("enable_logging", "enable_detailed_buffer_report", "enable_detailed_tensor_report")
    for switch in switches:
        setattr(ttnn.CONFIG, switch, True)
    a = _tensor(device, memory_config=ttnn.L1_MEMORY_CONFIG)
    b = ttnn.add(a, 1.0)
    pages = list(ttnn.database.query_buffer_pages(report, 2))
    assert {page.address for page in pages} == {a.buffer_address(), b.buffer_address()}
    assert len(pages) == 8
    ttnn.CONFIG.enable_logging = False
    stored = ttnn.database.load_tensor_by_id(report, b.tensor_id)
    assert stored is not None
    assert stored.to_list() == b.to_list()
    assert ttnn.database.load_tensor_by_id(report, 10**9) is None


def test_tensor_comparisons_are_written_to_the_report(device: ttnn.MeshDevice, report: Path) -> None:
    a = _tensor(device)
    with ttnn.manage_config("enable_logging", True), ttnn.manage_config("enable_comparison_mode", True):
        b = ttnn.exp(a)
    record = ttnn.database.query_tensor_comparison_record(report, "local_tensor_comparison_records", b.tensor_id)
    assert record is not None
    assert record.matches
    assert record.desired_pcc == ttnn.CONFIG.comparison_mode_pcc <= record.actual_pcc
    # The first operator of a program: what its operand carries are its own elements.
    ((tensor, pcc),) = _rows(report, "SELECT tensor_id, actual_pcc FROM global_tensor_comparison_records")
    assert (tensor, pcc) == (b.tensor_id, record.actual_pcc)


def test_report_has_the_lifetime_of_each_tensor(device: ttnn.MeshDevice, report: Path) -> None:
    with ttnn.manage_config("enable_logging", True):
        a = _tensor(device)
        b = ttnn.exp(a)
        ttnn.relu(b)
        ttnn.deallocate(a)
    columns = "producer_operation_id, last_use_operation_id, deallocate_operation_id"
    found = {row[0]: row[1:] for row in _rows(report, f"SELECT tensor_id, {columns} FROM tensor_lifetime")}
    assert found[a.tensor_id] == (1, 4, 4)
    assert found[b.tensor_id] == (2, 3, None)


def test_a_report_goes_on_where_it_ended(device: ttnn.MeshDevice, report: Path) -> None:
    from ttnn.operation.slow_path import REPORTERS
    from ttnn.reports.writer import RunReport

    with ttnn.manage_config("enable_logging", True):
        a = _tensor(device)
        last = ttnn.exp(a).tensor_id
    # The next process begins with a new writer, and with small numbers of tensors.
    REPORTERS[-1].close()
    RunReport().call(ttnn.exp, (a,), {})
    assert [row[0] for row in _rows(report, "SELECT operation_id FROM operations")] == [1, 2, 3]
    assert _rows(report, "SELECT max(tensor_id) FROM tensors")[0][0] > last


def test_comparisons_of_a_capture_are_flushed(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    graph = ttnn.graph
    graph.reset_comparison_records_data()
    a = _tensor(device)
    with ttnn.manage_config("enable_comparison_mode", True):
        ttnn.exp(a)
        assert not graph.has_comparison_records()
        graph.begin_graph_capture()
        b = ttnn.exp(a)
        graph.end_graph_capture()
    assert graph.has_comparison_records()
    graph.flush_comparison_records_to_db(tmp_path)
    assert not graph.has_comparison_records()
    assert _rows(tmp_path, "SELECT tensor_id, matches FROM local_tensor_comparison_records") == [(b.tensor_id, 1)]
