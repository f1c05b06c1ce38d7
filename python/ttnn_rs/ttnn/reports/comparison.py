"""Golden comparisons kept for a report's database.

They are written later.

Source: tt-metal `ttnn/ttnn/graph.py` (names and form of the records).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ttnn.reports import schema
from ttnn.reports.database import writing

_TABLES: Final = ("local_tensor_comparison_records", "global_tensor_comparison_records")
_TENSOR: Final = ("tensor_id", "shape", "dtype", "layout", "memory_config", "device_id", "address", "buffer_type")

_records: Final[dict[str, list[Mapping[str, Any]]]] = {"tensors": [], **{table: [] for table in _TABLES}}


def record_tensor_comparison_data(
    *,
    local_tensor_comparison_records: Sequence[Mapping[str, Any]] | None = None,
    global_tensor_comparison_records: Sequence[Mapping[str, Any]] | None = None,
    tensors: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Keep comparisons and their tensors, each once.

    Args:
        local_tensor_comparison_records: Comparisons of one operator each: `tensor_id`, `golden_tensor_id`, `matches`,
            `desired_pcc`, `actual_pcc`.
        global_tensor_comparison_records: Comparisons of the program up to a tensor.
        tensors: Rows of `tensors` by the names of their columns.
    """
    _records[_TABLES[0]].extend(local_tensor_comparison_records or ())
    _records[_TABLES[1]].extend(global_tensor_comparison_records or ())
    known = {tensor["tensor_id"] for tensor in _records["tensors"]}
    for tensor in tensors or ():
        if tensor["tensor_id"] not in known:
            known.add(tensor["tensor_id"])
            _records["tensors"].append(tensor)


def has_comparison_records() -> bool:
    """Return whether something is kept."""
    return any(_records.values())


def reset_comparison_records_data() -> None:
    """Drop what is kept."""
    for kept in _records.values():
        kept.clear()


def flush_comparison_records_to_db(report_dir: str | os.PathLike[str]) -> None:
    """Write kept records into a report's `db.sqlite`, and drop them.

    Without records do nothing.
    """
    if has_comparison_records():
        with writing(Path(report_dir)) as cursor:
            import_tensor_comparison_records(cursor, _records)
        reset_comparison_records_data()


def import_tensor_comparison_records(
    cursor: sqlite3.Cursor, records: Mapping[str, Sequence[Mapping[str, Any]]], rank: int = 0
) -> None:
    """Write comparisons and their tensors into a database.

    Args:
        cursor: The database.
        records: By the names of the tables.
        rank: The process they are from; only 0 is written here.
    """
    for table in _TABLES:
        names = ("tensor_id", "golden_tensor_id", "matches", "desired_pcc", "actual_pcc")
        rows = [tuple(record[name] for name in names) for record in records.get(table, ())]
        schema.insert(cursor, table, rows)
    tensors = [tuple(tensor.get(name) for name in _TENSOR) for tensor in records.get("tensors", ())]
    schema.insert(cursor, "tensors", tensors)
