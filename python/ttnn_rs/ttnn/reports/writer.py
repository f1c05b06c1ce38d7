"""The report of a run: each operator of the program.

With `CONFIG.enable_logging` and `CONFIG.report_name`.

The folder `CONFIG.report_path` gets `db.sqlite`, `config.json` and the descriptions of cluster and mesh. An operator is
one row of `operations` with its arguments, tensors, stack, error, the buffers that exist when it has run, and the graph
that was captured of it.

Source: tt-metal `ttnn/ttnn/decorators.py` (what is written when); TT-NN Visualizer (what it reads).
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
import traceback
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from ttnn._engine import __version__
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import FileAccessError, UnsupportedError
from ttnn.base.files import make_folder, read_text, try_lock, write_atomically
from ttnn.base.observers import OBSERVERS
from ttnn.device.device_info import cluster_descriptor, mesh_descriptor
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.observation import Operator
from ttnn.operation.operands import tensors_in
from ttnn.operation.slow_path import REPORTERS, Comparison, Level
from ttnn.reports import database, schema
from ttnn.reports.capture import GraphCapture, RunMode
from ttnn.reports.comparison import record_tensor_comparison_data
from ttnn.reports.drawing import visualize
from ttnn.reports.nodes import Node, for_viewer
from ttnn.reports.session import is_graph_capture_active, python_frames
from ttnn.tensor.storage import count_ids_from, new_id
from ttnn.tensor.tensor import Tensor

#: Larger files are no sources.
MAX_SOURCE_BYTES: Final = 1 << 24
_LOCK: Final = ".writer.lock"
_log: Final = logging.getLogger("ttnn")


class RunReport:
    """Writes the report of the run; one per process."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._operation = 0
        self._started = 0
        self._process = 0
        self._lock: int | None = None

    def call(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operator and write it into the report.

        If it raises, the error is written.
        """
        path = self._open()
        number = self._operation = self._operation + 1
        frames = python_frames()
        capture = GraphCapture(RunMode.NORMAL)
        OBSERVERS.append(capture)
        capture.operation_start(operation, args, kwargs)
        started = time.perf_counter()
        result: Any = None
        error: BaseException | None = None
        try:
            result = operation.function(*args, **kwargs)
            capture.operation_end(result)
        except BaseException as raised:
            error = raised
            capture.operation_failed(raised)
            raise
        finally:
            duration = time.perf_counter() - started
            OBSERVERS.remove(capture)
            nodes = capture.end()
            with database.writing(path) as cursor:
                row = (number, operation.__name__, duration if error is None else None)
                schema.insert(cursor, "operations", [row])
                schema.insert(cursor, "operation_arguments", database.argument_rows(number, args, kwargs))
                _write_stack(cursor, number, frames)
                _write_tensors(cursor, path, number, tuple(tensors_in((args, kwargs))), "input_tensors")
                _write_tensors(cursor, path, number, tuple(tensors_in(result)), "output_tensors")
                devices = _devices(args, kwargs, result, capture)
                _write_devices(cursor, path, devices)
                schema.insert(cursor, "buffers", database.buffer_rows(number, devices))
                if CONFIG.enable_detailed_buffer_report:
                    schema.insert(cursor, "buffer_pages", database.page_rows(number, devices))
                write_graph(cursor, number, for_viewer(nodes))
                _write_lifetimes(cursor, number, (args, kwargs), result, nodes, frames)
                if error is not None:
                    _write_error(cursor, number, operation.__name__, error)
                schema.insert(cursor, "report_metadata", [("total_duration_ns", str(time.time_ns() - self._started))])
        if CONFIG.enable_graph_report:
            _draw(path / database.GRAPHS_PATH / f"{number}.svg", nodes)
        return result

    def compared(self, comparisons: Sequence[Comparison], level: Level = "local") -> None:
        """Write golden comparisons, or keep them during a capture."""
        rows = [(c.tensor.tensor_id, new_id(), int(c.matches), c.desired_pcc, c.actual_pcc) for c in comparisons]
        if CONFIG.enable_logging and CONFIG.report_path is not None:
            with database.writing(self._open()) as cursor:
                schema.insert(cursor, f"{level}_tensor_comparison_records", rows)
        elif is_graph_capture_active():
            names = ("tensor_id", "golden_tensor_id", "matches", "desired_pcc", "actual_pcc")
            records = [dict(zip(names, row, strict=True)) for row in rows]
            if level == "local":
                record_tensor_comparison_data(local_tensor_comparison_records=records)
            else:
                record_tensor_comparison_data(global_tensor_comparison_records=records)

    def _open(self) -> Path:
        """Start a report, or continue one; return its folder.

        Numbers of operations and tensors follow those that are there, so a report has one process that writes it. A
        second one gets a folder of its own.
        """
        path = CONFIG.report_path
        assert path is not None
        if (path, os.getpid()) == (self._path, self._process) and (path / database.SQLITE_DB_PATH).exists():
            return path
        path = self._locked(path)
        with database.writing(path) as cursor:
            (last,) = cursor.execute("SELECT max(operation_id) FROM operations").fetchone()
            (tensor,) = cursor.execute("SELECT max(tensor_id) FROM tensors").fetchone()
            begun = cursor.execute("SELECT value FROM report_metadata WHERE key = 'capture_timestamp_ns'").fetchone()
            self._started = time.time_ns() if begun is None else int(begun[0])
            said = {"capture_timestamp_ns": self._started, "world_size": 1, "ttnn_rs_version": __version__}
            schema.insert(cursor, "report_metadata", [(key, str(value)) for key, value in said.items()])
        count_ids_from((tensor or 0) + 1)
        self._path, self._process, self._operation = path, os.getpid(), last or 0
        return path

    def close(self) -> None:
        """Release the report for other processes."""
        if self._lock is not None:
            os.close(self._lock)
        self._path = self._lock = None

    def _locked(self, path: Path) -> Path:
        """Return and lock the process's report folder.

        The one given, or one with a number.
        """
        self.close()
        folder, number = path, 2
        make_folder(folder, where="report")
        while (lock := try_lock(folder / _LOCK, where="report")) is None:
            folder, number = CONFIG.leave_report_path(number), number + 1
            make_folder(folder, where="report")
        self._lock = lock
        if folder != path:
            _log.warning("report: another process writes %s; this one writes %s", path, folder)
        return folder


def write_graph(cursor: sqlite3.Cursor, number: int, nodes: Sequence[Node]) -> None:
    """Write an operation's captured graph, functions and connections."""
    schema.insert(cursor, "captured_graph", [(number, json.dumps(nodes))])
    functions = [node for node in nodes if node["node_type"] == "function_start"]
    schema.insert(cursor, "nodes", [(number, node["counter"], number, node["params"]["name"]) for node in functions])
    edges = [
        (number, node["counter"], sink, index, 0, index)
        for node in nodes
        for index, sink in enumerate(node["connections"])
    ]
    schema.insert(cursor, "edges", edges)


def source_file(cursor: sqlite3.Cursor, path: str) -> int | None:
    """Return a source file's number, None if unreadable.

    Its contents are written once.
    """
    found = cursor.execute("SELECT id FROM source_files WHERE path = ?", [path]).fetchone()
    if found is not None:
        return int(found[0])
    try:
        contents = read_text(path, where="report", limit=MAX_SOURCE_BYTES)
    except FileAccessError:
        return None
    cursor.execute("INSERT INTO source_files (path, contents) VALUES (?, ?)", [path, contents])
    return cursor.lastrowid


def _write_stack(cursor: sqlite3.Cursor, number: int, frames: Sequence[traceback.FrameSummary]) -> None:
    text = "\n".join(traceback.format_list(frames))
    file = source_file(cursor, frames[0].filename) if frames else None
    schema.insert(cursor, "stack_traces", [(number, text, file)])


def _write_tensors(cursor: sqlite3.Cursor, path: Path, number: int, tensors: Sequence[Tensor], table: str) -> None:
    for tensor in tensors:
        known = cursor.execute("SELECT 1 FROM tensors WHERE tensor_id = ?", [tensor.tensor_id]).fetchone()
        if known is None:
            row = database.tensor_row(tensor)
            schema.insert(cursor, "tensors", [row])
            if row[5] is not None:
                schema.insert(cursor, "device_tensors", [(tensor.tensor_id, row[5], row[6])])
        if CONFIG.enable_detailed_tensor_report:
            database.store_tensor(path, tensor)
    schema.insert(cursor, table, [(number, index, tensor.tensor_id) for index, tensor in enumerate(tensors)])


def _devices(args: Any, kwargs: Any, result: Any, capture: GraphCapture) -> list[MeshDevice]:
    """Return the open devices of a call, by number."""
    tensors = tensors_in((args, kwargs, result))
    found = [tensor.device() for tensor in tensors] + [*capture.devices.values(), *args, *kwargs.values()]
    devices = {device.id(): device for device in found if isinstance(device, MeshDevice) and device.is_open}
    return [device for _, device in sorted(devices.items())]


def _write_devices(cursor: sqlite3.Cursor, path: Path, devices: Sequence[MeshDevice]) -> None:
    schema.insert(cursor, "devices", database.device_rows(devices))
    database.DEVICE_IDS_IN_DATABASE.update(device.id() for device in devices)
    cluster = path / "cluster_descriptor.yaml"
    if devices and not cluster.exists():
        write_atomically(cluster, cluster_descriptor(devices), where="report")
        mesh = path / "physical_chip_mesh_coordinate_mapping.yaml"
        write_atomically(mesh, mesh_descriptor(devices), where="report")


def _write_lifetimes(
    cursor: sqlite3.Cursor,
    number: int,
    arguments: Any,
    result: Any,
    nodes: Sequence[Node],
    frames: Sequence[traceback.FrameSummary],
) -> None:
    """Write operations that create, last use, and free a tensor."""
    place = (frames[0].filename, frames[0].lineno) if frames else (None, None)
    used = [tensor.tensor_id for tensor in tensors_in(arguments)]
    for number_of_tensor in used + [tensor.tensor_id for tensor in tensors_in(result)]:
        cursor.execute("INSERT OR IGNORE INTO tensor_lifetime (tensor_id, rank) VALUES (?, 0)", [number_of_tensor])
    for number_of_tensor in used:
        cursor.execute(
            "UPDATE tensor_lifetime SET last_use_operation_id = ?, last_use_source_file = ?, last_use_source_line = ? "
            "WHERE tensor_id = ?",
            [number, *place, number_of_tensor],
        )
    for tensor in tensors_in(result):
        cursor.execute(
            "UPDATE tensor_lifetime SET producer_operation_id = ?, producer_source_file = ?, producer_source_line = ? "
            "WHERE tensor_id = ? AND producer_operation_id IS NULL",
            [number, *place, tensor.tensor_id],
        )
    for node in nodes:
        if node["node_type"] == "buffer_deallocate":
            cursor.execute(
                "UPDATE tensor_lifetime SET deallocate_operation_id = ? WHERE deallocate_operation_id IS NULL AND "
                "tensor_id IN (SELECT tensor_id FROM tensors WHERE device_id = ? AND address = ?) AND "
                "tensor_id NOT IN (SELECT tensor_id FROM output_tensors WHERE operation_id = ?)",
                [number, int(node["params"]["device_id"]), int(node["params"]["address"]), number],
            )


def _write_error(cursor: sqlite3.Cursor, number: int, name: str, error: BaseException) -> None:
    text = "".join(traceback.format_exception(error))
    when = datetime.now(timezone.utc).isoformat()
    kind = "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
    schema.insert(cursor, "errors", [(number, name, kind, str(error), text, when)])


def _draw(path: Path, nodes: Sequence[Node]) -> None:
    make_folder(path.parent, where="report")
    try:
        visualize(nodes, file_name=path)
    except UnsupportedError as error:
        _log.warning("%s", error)


REPORTERS.append(RunReport())
