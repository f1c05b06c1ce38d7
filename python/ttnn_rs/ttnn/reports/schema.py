"""The tables of a report's database, and their rows.

Source: TT-NN Visualizer (the tables that it reads); tt-metal `ttnn/ttnn/graph_report.py`, `ttnn/ttnn/database.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import open_file

SCHEMA_VERSION: Final = "3.0.0"

_COMPARISON: Final = "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float, rank int"
TABLES: Final = {
    "devices": (
        "device_id int UNIQUE, num_y_cores int, num_x_cores int, num_y_compute_cores int, num_x_compute_cores int, "
        "worker_l1_size int, l1_num_banks int, l1_bank_size int, address_at_first_l1_bank int, "
        "address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, "
        "num_storage_cores int, total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, "
        "total_l1_for_sharded_buffers int, cb_limit int, rank int"
    ),
    "operations": "operation_id int UNIQUE, name text, duration float, rank int",
    "operation_arguments": "operation_id int, name text, value text, rank int",
    "tensors": (
        "tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, device_id int, address int, "
        "buffer_type int, rank int, storage_type text, size int"
    ),
    "device_tensors": "tensor_id int, device_id int, address int, rank int",
    "input_tensors": "operation_id int, input_index int, tensor_id int, rank int",
    "output_tensors": "operation_id int, output_index int, tensor_id int, rank int",
    "buffers": (
        "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, buffer_layout int, "
        "rank int"
    ),
    "buffer_pages": (
        "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, "
        "page_address int, page_size int, buffer_type int, rank int"
    ),
    "local_tensor_comparison_records": _COMPARISON,
    "global_tensor_comparison_records": _COMPARISON,
    "captured_graph": "operation_id int, captured_graph text, rank int",
    "nodes": "operation_id int, unique_id int, node_operation_id int, name text, rank int",
    "edges": (
        "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, sink_input_index int, "
        "key int, rank int"
    ),
    "source_files": "id integer PRIMARY KEY, path text UNIQUE, contents text",
    "stack_traces": "operation_id int, stack_trace text, source_file_id int, rank int",
    "errors": (
        "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, "
        "timestamp text, rank int"
    ),
    "tensor_lifetime": (
        "tensor_id int UNIQUE, producer_operation_id int, last_use_operation_id int, deallocate_operation_id int, "
        "producer_source_file text, producer_source_line int, last_use_source_file text, last_use_source_line int, "
        "rank int"
    ),
    "report_metadata": "key text UNIQUE, value text",
}
"""Columns of each table.

`rank` is the process of a report of several; here it is 0.
"""

_TIMEOUT: Final = 60.0
"""Seconds to wait for another process that writes the database."""
_INDEXES: Final = (
    "buffers (operation_id)",
    "buffers (address)",
    "buffer_pages (operation_id)",
    "input_tensors (tensor_id)",
    "output_tensors (tensor_id)",
)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Raise FileFormatError for errors of the database in a `with` block."""
    try:
        yield
    except sqlite3.Error as error:
        raise FileFormatError(f"report: the database {path} cannot be used: {error}") from None


def connect(path: Path) -> sqlite3.Connection:
    """Return a new connection to a file's database.

    It is made with its tables if need be.

    The tables are made in one transaction: a process that ends before leaves none of them.

    Raises:
        FileAccessError: the path is no regular file.
        FileFormatError: the file is no database of a report.
    """
    if path.exists():
        with open_file(path, where="report"):
            pass
    with refusing(path):
        connection = sqlite3.connect(path, timeout=_TIMEOUT)
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables >= set(TABLES):
                with connection:
                    cursor = connection.cursor()
                    cursor.execute("BEGIN IMMEDIATE")
                    create_database_schema(cursor)
                    save_database_schema_version(cursor)
        except BaseException:
            connection.close()
            raise
        return connection


def create_database_schema(cursor: sqlite3.Cursor) -> None:
    """Create the tables that are not there yet."""
    for table, columns in TABLES.items():
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
    for index in _INDEXES:
        name = "idx_" + "".join(letter if letter.isalpha() else "_" for letter in index).strip("_")
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {index}")


def save_database_schema_version(cursor: sqlite3.Cursor) -> None:
    """Write the version of the tables into `report_metadata`."""
    insert(cursor, "report_metadata", [("schema_version", SCHEMA_VERSION)])


def insert(cursor: sqlite3.Cursor, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows, replacing those with an existing unique column.

    Missing last columns are rank 0 or NULL.
    """
    columns = [column.split()[0] for column in TABLES[table].split(", ")]
    ranked = columns.index("rank") if "rank" in columns else None
    width = len(columns)
    marks = ", ".join("?" * width)
    filled = []
    for row in rows:
        given = [*row] if ranked is None else [*row[:ranked], 0, *row[ranked:]]
        filled.append(given + [None] * (width - len(given)))
    cursor.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", filled)


@dataclass
class Device:
    """A row of `devices`."""

    device_id: int
    num_y_cores: int
    num_x_cores: int
    num_y_compute_cores: int
    num_x_compute_cores: int
    worker_l1_size: int
    l1_num_banks: int
    l1_bank_size: int
    address_at_first_l1_bank: int
    address_at_first_l1_cb_buffer: int
    num_banks_per_storage_core: int
    num_compute_cores: int
    num_storage_cores: int
    total_l1_memory: int
    total_l1_for_tensors: int
    total_l1_for_interleaved_buffers: int
    total_l1_for_sharded_buffers: int
    cb_limit: int
    rank: int = 0


@dataclass
class Operation:
    """A row of `operations`; the duration is in seconds on the host."""

    operation_id: int
    name: str
    duration: float | None
    rank: int = 0


@dataclass
class OperationArgument:
    """A row of `operation_arguments`."""

    operation_id: int
    name: str
    value: str
    rank: int = 0


@dataclass
class Tensor:
    """A row of `tensors`."""

    tensor_id: int
    shape: str
    dtype: str
    layout: str
    memory_config: str | None
    device_id: int | None
    address: int | None
    buffer_type: BufferType | None
    rank: int = 0
    storage_type: str | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        self.buffer_type = _kind(self.buffer_type)


@dataclass
class InputTensor:
    """A row of `input_tensors`."""

    operation_id: int
    input_index: int
    tensor_id: int
    rank: int = 0


@dataclass
class OutputTensor:
    """A row of `output_tensors`."""

    operation_id: int
    output_index: int
    tensor_id: int
    rank: int = 0


@dataclass
class Buffer:
    """A row of `buffers`."""

    operation_id: int
    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: BufferType | None
    buffer_layout: int | None
    rank: int = 0

    def __post_init__(self) -> None:
        self.buffer_type = _kind(self.buffer_type)


@dataclass
class BufferPage:
    """A row of `buffer_pages`."""

    operation_id: int
    device_id: int
    address: int
    core_y: int
    core_x: int
    bank_id: int
    page_index: int
    page_address: int
    page_size: int
    buffer_type: BufferType | None
    rank: int = 0

    def __post_init__(self) -> None:
        self.buffer_type = _kind(self.buffer_type)


@dataclass
class TensorComparisonRecord:
    """A row of a table of comparisons."""

    tensor_id: int
    golden_tensor_id: int
    matches: bool
    desired_pcc: float
    actual_pcc: float
    rank: int = 0


@dataclass
class ErrorRecord:
    """A row of `errors`."""

    operation_id: int
    operation_name: str
    error_type: str
    error_message: str
    stack_trace: str
    timestamp: str
    rank: int = 0


def _kind(value: Any) -> BufferType | None:
    return None if value is None else BufferType(value)
