"""A report's database, written and read one call at a time.

Each call opens the file and closes it, so that a report can be read, copied or removed at any time.

Source: tt-metal `ttnn/ttnn/database.py` (names and arguments).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

from ttnn.base.config import CONFIG
from ttnn.base.files import make_folder
from ttnn.base.paths import path_below
from ttnn.device.device_info import get_device_info
from ttnn.device.mesh_device import MeshDevice
from ttnn.reports import schema
from ttnn.reports.buffers import get_buffer_pages, get_buffers
from ttnn.reports.nodes import Node, tensor_params
from ttnn.reports.texts import text_of
from ttnn.tensor.files import dump_tensor, load_tensor
from ttnn.tensor.tensor import Tensor

__all__ = [
    "CONFIG_PATH",
    "DEVICE_IDS_IN_DATABASE",
    "GRAPHS_PATH",
    "SQLITE_DB_PATH",
    "TENSORS_PATH",
    "get_or_create_sqlite_db",
    "get_tensor_file_name_by_id",
    "insert_buffer_pages",
    "insert_buffers",
    "insert_captured_graph",
    "insert_devices",
    "insert_error",
    "insert_input_tensors",
    "insert_operation",
    "insert_operation_arguments",
    "insert_output_tensors",
    "insert_stack_trace",
    "insert_tensor",
    "insert_tensor_comparison_records",
    "load_tensor_by_id",
    "query_buffer_pages",
    "query_buffers",
    "query_captured_graph",
    "query_consumer_operation_ids",
    "query_device_by_id",
    "query_input_tensors",
    "query_latest_operation",
    "query_latest_tensor",
    "query_operation_arguments",
    "query_operation_by_id",
    "query_operation_by_id_together_with_previous_and_next",
    "query_operations",
    "query_output_tensor_by_tensor_id",
    "query_output_tensors",
    "query_producer_operation_id",
    "query_stack_trace",
    "query_tensor_by_id",
    "query_tensor_comparison_record",
    "store_tensor",
    "store_tensors",
]

SQLITE_DB_PATH: Final = "db.sqlite"
TENSORS_PATH: Final = "tensors"
GRAPHS_PATH: Final = "graph"
CONFIG_PATH: Final = "config.json"
DEVICE_IDS_IN_DATABASE: Final[set[int]] = set()
"""Devices whose row was written."""


def get_or_create_sqlite_db(report_path: Path) -> sqlite3.Connection:
    """Return a new connection to a report's database.

    Folder, tables and `config.json` are made.
    """
    make_folder(report_path, where="report")
    config = report_path / CONFIG_PATH
    if not config.exists():
        CONFIG.save_to_file(config)
    return schema.connect(report_path / SQLITE_DB_PATH)


@contextmanager
def writing(report_path: Path) -> Iterator[sqlite3.Cursor]:
    """Yield a cursor on a report's database, committing without errors.

    What it wrote is kept if no error is raised.
    """
    connection = get_or_create_sqlite_db(report_path)
    try:
        with schema.refusing(report_path / SQLITE_DB_PATH), connection:
            yield connection.cursor()
    finally:
        connection.close()


def _insert(report_path: Path, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with writing(report_path) as cursor:
        schema.insert(cursor, table, rows)


def _select(report_path: Path, table: str, condition: str = "", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with writing(report_path) as cursor:
        return cursor.execute(f"SELECT * FROM {table} {condition}", values).fetchall()


# Rows are written.


def device_rows(devices: Iterable[MeshDevice]) -> list[tuple[Any, ...]]:
    """Return the rows of `devices`."""
    return [(device.id(), *astuple(get_device_info(device))) for device in devices]


def buffer_rows(operation_id: int, devices: Iterable[MeshDevice]) -> list[tuple[Any, ...]]:
    """Return the rows of `buffers` for an operation."""
    return [(operation_id, *buffer.numbers()) for buffer in get_buffers(devices)]


def page_rows(operation_id: int, devices: Iterable[MeshDevice]) -> list[tuple[Any, ...]]:
    """Return the rows of `buffer_pages` for an operation: the pages in L1."""
    return [(operation_id, *page.numbers()) for page in get_buffer_pages(devices)]


def tensor_row(tensor: Tensor) -> tuple[Any, ...]:
    """Return the row of `tensors`."""
    params = tensor_params(tensor)
    return (
        tensor.tensor_id,
        params["shape"],
        params["dtype"].replace("::", "."),
        params["layout"].replace("::", "."),
        None if tensor.device() is None else params["memory_config"],
        _int(params.get("device_id")),
        _int(params.get("address")),
        _int(params.get("buffer_type")),
        params["storage_type"],
        int(params["size"]),
    )


def _int(text: str | None) -> int | None:
    return None if text is None else int(text)


def argument_rows(operation_id: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of `operation_arguments` for a call."""
    named = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    return [(operation_id, name, text_of(value)) for name, value in named.items()]


def insert_devices(report_path: Path, devices: Iterable[MeshDevice]) -> None:
    """Write device rows, skipping written ones."""
    new = [device for device in devices if device.id() not in DEVICE_IDS_IN_DATABASE]
    _insert(report_path, "devices", device_rows(new))
    DEVICE_IDS_IN_DATABASE.update(device.id() for device in new)


def insert_operation(report_path: Path, operation_id: int, operation: Any, duration: float | None) -> None:
    """Write the row of an operation, or replace it."""
    _insert(report_path, "operations", [(operation_id, operation.python_fully_qualified_name, duration)])


def insert_stack_trace(report_path: Path, operation_id: int, stack_trace: Sequence[str]) -> None:
    """Write the stack of an operation, given as frames, the innermost last."""
    _insert(report_path, "stack_traces", [(operation_id, "\n".join(reversed(stack_trace)), None)])


def insert_operation_arguments(
    report_path: Path, operation_id: int, function_args: Sequence[Any], function_kwargs: Mapping[str, Any]
) -> None:
    """Write the arguments of a call as texts."""
    _insert(report_path, "operation_arguments", argument_rows(operation_id, function_args, function_kwargs))


def insert_tensor(report_path: Path, tensor: Tensor) -> None:
    """Write a tensor's row; an existing one stays."""
    if query_tensor_by_id(report_path, tensor.tensor_id) is None:
        row = tensor_row(tensor)
        _insert(report_path, "tensors", [row])
        if row[5] is not None:
            _insert(report_path, "device_tensors", [(tensor.tensor_id, row[5], row[6])])


def insert_input_tensors(report_path: Path, operation_id: int, input_tensors: Sequence[Tensor]) -> None:
    """Write the tensors that an operation takes."""
    store_tensors(report_path, input_tensors)
    rows = [(operation_id, index, tensor.tensor_id) for index, tensor in enumerate(input_tensors)]
    _insert(report_path, "input_tensors", rows)


def insert_output_tensors(report_path: Path, operation_id: int, output_tensors: Sequence[Tensor]) -> None:
    """Write the tensors that an operation returns."""
    store_tensors(report_path, output_tensors)
    rows = [(operation_id, index, tensor.tensor_id) for index, tensor in enumerate(output_tensors)]
    _insert(report_path, "output_tensors", rows)


def insert_buffers(report_path: Path, operation_id: int, devices: Iterable[MeshDevice]) -> None:
    """Write all buffers that devices have now."""
    _insert(report_path, "buffers", buffer_rows(operation_id, devices))


def insert_buffer_pages(report_path: Path, operation_id: int, devices: Iterable[MeshDevice]) -> None:
    """Write the pages of all buffers in L1 that devices have now."""
    _insert(report_path, "buffer_pages", page_rows(operation_id, devices))


def insert_captured_graph(report_path: Path, operation_id: int, captured_graph: Sequence[Node]) -> None:
    """Write the captured graph of an operation."""
    _insert(report_path, "captured_graph", [(operation_id, json.dumps(captured_graph))])


def insert_tensor_comparison_records(
    report_path: Path, table_name: str, tensor_comparison_records: Iterable[schema.TensorComparisonRecord]
) -> None:
    """Write comparisons with golden functions."""
    _insert(report_path, table_name, [astuple(record)[:-1] for record in tensor_comparison_records])


def insert_error(
    report_path: Path,
    operation_id: int,
    operation_name: str,
    error_type: str,
    error_message: str,
    stack_trace: str,
    timestamp: str,
) -> None:
    """Write the error of an operation."""
    _insert(
        report_path,
        "errors",
        [(operation_id, operation_name, error_type, error_message, stack_trace, timestamp)],
    )


def store_tensor(report_path: Path, tensor: Tensor) -> None:
    """Write a tensor's values as `<id>.tensorbin`, once.

    They are in the folder of tensors.
    """
    folder = make_folder(report_path / TENSORS_PATH, where="ttnn.database.store_tensor")
    path = path_below(folder, f"{tensor.tensor_id}.tensorbin")
    if not path.exists() and tensor.is_allocated():
        dump_tensor(path, tensor._to_host("ttnn.database.store_tensor"))


def store_tensors(report_path: Path, tensors: Iterable[Tensor]) -> None:
    """Write rows of tensors, and their values if `CONFIG.enable_detailed_tensor_report` is set."""
    for tensor in tensors:
        insert_tensor(report_path, tensor)
        if CONFIG.enable_detailed_tensor_report:
            store_tensor(report_path, tensor)


def get_tensor_file_name_by_id(report_path: Path, tensor_id: int) -> Path | None:
    """Return the file with the values of a tensor, or None."""
    path = path_below(report_path / TENSORS_PATH, f"{tensor_id}.tensorbin", "database: tensor_id")
    return path if path.exists() else None


def load_tensor_by_id(report_path: Path, tensor_id: int, device: MeshDevice | None = None) -> Tensor | None:
    """Return a tensor whose values were written, or None."""
    path = get_tensor_file_name_by_id(report_path, tensor_id)
    return None if path is None else load_tensor(path, device=device)


# Rows are read.


def query_device_by_id(report_path: Path, device_id: int) -> schema.Device | None:
    """Return a device, or None."""
    return next(
        (schema.Device(*row) for row in _select(report_path, "devices", "WHERE device_id = ?", [device_id])), None
    )


def query_operation_by_id(report_path: Path, operation_id: int) -> schema.Operation | None:
    """Return an operation, or None."""
    return _operation(report_path, "WHERE operation_id = ?", [operation_id])


def query_operation_by_id_together_with_previous_and_next(
    report_path: Path, operation_id: int
) -> tuple[schema.Operation | None, schema.Operation | None, schema.Operation | None]:
    """Return an operation, its predecessor and successor, or None each."""
    return (
        query_operation_by_id(report_path, operation_id),
        _operation(report_path, "WHERE operation_id < ? ORDER BY operation_id DESC LIMIT 1", [operation_id]),
        _operation(report_path, "WHERE operation_id > ? ORDER BY operation_id LIMIT 1", [operation_id]),
    )


def query_operations(report_path: Path) -> Iterator[schema.Operation]:
    """Yield all operations."""
    yield from (schema.Operation(*row) for row in _select(report_path, "operations", "ORDER BY operation_id"))


def query_latest_operation(report_path: Path) -> schema.Operation | None:
    """Return the last operation, or None."""
    return _operation(report_path, "ORDER BY operation_id DESC LIMIT 1", [])


def _operation(report_path: Path, condition: str, values: Sequence[Any]) -> schema.Operation | None:
    rows = _select(report_path, "operations", condition, values)
    return schema.Operation(*rows[0]) if rows else None


def query_operation_arguments(report_path: Path, operation_id: int) -> Iterator[schema.OperationArgument]:
    """Yield the arguments of an operation."""
    rows = _select(report_path, "operation_arguments", "WHERE operation_id = ?", [operation_id])
    yield from (schema.OperationArgument(*row) for row in rows)


def query_stack_trace(report_path: Path, operation_id: int) -> str | None:
    """Return the stack of an operation, or None."""
    rows = _select(report_path, "stack_traces", "WHERE operation_id = ?", [operation_id])
    return str(rows[0][1]) if rows else None


def query_buffers(report_path: Path, operation_id: int) -> Iterator[schema.Buffer]:
    """Yield the buffers that existed when an operation had run."""
    rows = _select(report_path, "buffers", "WHERE operation_id = ?", [operation_id])
    yield from (schema.Buffer(*row) for row in rows)


def query_buffer_pages(report_path: Path, operation_id: int) -> Iterator[schema.BufferPage]:
    """Yield the pages in L1 that existed when an operation had run."""
    rows = _select(report_path, "buffer_pages", "WHERE operation_id = ?", [operation_id])
    yield from (schema.BufferPage(*row) for row in rows)


def query_tensor_by_id(report_path: Path, tensor_id: int) -> schema.Tensor | None:
    """Return a tensor, or None."""
    rows = _select(report_path, "tensors", "WHERE tensor_id = ?", [tensor_id])
    return schema.Tensor(*rows[0]) if rows else None


def query_latest_tensor(report_path: Path) -> schema.Tensor | None:
    """Return the tensor with the largest id, or None."""
    rows = _select(report_path, "tensors", "ORDER BY tensor_id DESC LIMIT 1")
    return schema.Tensor(*rows[0]) if rows else None


def query_input_tensors(report_path: Path, operation_id: int) -> Iterator[schema.InputTensor]:
    """Yield the tensors that an operation took."""
    rows = _select(report_path, "input_tensors", "WHERE operation_id = ?", [operation_id])
    yield from (schema.InputTensor(*row) for row in rows)


def query_output_tensors(report_path: Path, operation_id: int) -> Iterator[schema.OutputTensor]:
    """Yield the tensors that an operation returned."""
    rows = _select(report_path, "output_tensors", "WHERE operation_id = ?", [operation_id])
    yield from (schema.OutputTensor(*row) for row in rows)


def query_output_tensor_by_tensor_id(report_path: Path, tensor_id: int) -> schema.OutputTensor | None:
    """Return where a tensor is returned, or None."""
    rows = _select(report_path, "output_tensors", "WHERE tensor_id = ?", [tensor_id])
    return schema.OutputTensor(*rows[0]) if rows else None


def query_tensor_comparison_record(
    report_path: Path, table_name: str, tensor_id: int
) -> schema.TensorComparisonRecord | None:
    """Return the comparison of a tensor, or None."""
    rows = _select(report_path, table_name, "WHERE tensor_id = ?", [tensor_id])
    return schema.TensorComparisonRecord(*rows[0]) if rows else None


def query_producer_operation_id(report_path: Path, tensor_id: int) -> int | None:
    """Return the operation that returned a tensor, or None."""
    found = query_output_tensor_by_tensor_id(report_path, tensor_id)
    return None if found is None else found.operation_id


def query_consumer_operation_ids(report_path: Path, tensor_id: int) -> Iterator[int]:
    """Yield the operations that took a tensor."""
    yield from (row[0] for row in _select(report_path, "input_tensors", "WHERE tensor_id = ?", [tensor_id]))


def query_captured_graph(report_path: Path, operation_id: int) -> list[Node] | None:
    """Return the captured graph of an operation, or None."""
    rows = _select(report_path, "captured_graph", "WHERE operation_id = ?", [operation_id])
    return json.loads(rows[0][1]) if rows else None
