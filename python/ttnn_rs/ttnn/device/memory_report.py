"""Device memory use: views per kind, and CSV dumps."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn.base.enums import BufferType
from ttnn.base.files import make_folder, write_atomically
from ttnn.base.paths import path_below

if TYPE_CHECKING:
    from ttnn._engine import Device

_CALL = "dump_device_memory_state"


@dataclass(frozen=True)
class MemoryView:
    """One kind of memory, per bank.

    All banks of a kind are used alike.

    Attributes:
        num_banks: Banks.
        total_bytes_per_bank: Bytes that buffers can have.
        total_bytes_allocated_per_bank: Bytes in use.
        total_bytes_free_per_bank: Bytes not in use.
        largest_contiguous_bytes_free_per_bank: Longest run of them.
        block_table: Blocks by address, as texts: blockID, address, size, prevID, nextID, allocated (yes or no).
    """

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list[dict[str, str]]

    @staticmethod
    def of(device: Device, buffer_type: BufferType) -> MemoryView:
        """Return the view of a device's memory of a kind."""
        facts = device.memory_view(buffer_type.value)
        del facts["base_address"]
        return MemoryView(**facts)


def write_memory_state(device: Device, folder: Path, prefix: str) -> None:
    """Write a device's summary, blocks and buffers as CSV files.

    The folder is made.
    """
    views = {kind: MemoryView.of(device, kind) for kind in BufferType}
    make_folder(folder, where=_CALL)
    _write(
        path_below(folder, f"{prefix}memory_usage_summary.csv", "prefix"),
        (_summary(kind.name, view) for kind, view in views.items()),
        ("buffer_type", "num_banks", "total", "allocated", "free", "largest_free"),
    )
    _write(
        path_below(folder, f"{prefix}memory_blocks.csv", "prefix"),
        ({"buffer_type": kind.name, **block} for kind, view in views.items() for block in view.block_table),
        ("buffer_type", "blockID", "address", "size", "prevID", "nextID", "allocated"),
    )
    _write(
        path_below(folder, f"{prefix}memory_buffers.csv", "prefix"),
        ({**buffer, "buffer_type": BufferType(buffer["buffer_type"]).name} for buffer in device.buffers()),
        ("buffer_type", "address", "bytes_per_bank", "size", "num_pages", "page_bytes", "aligned_page_bytes"),
    )


def _summary(name: str, view: MemoryView) -> dict[str, Any]:
    return {
        "buffer_type": name,
        "num_banks": view.num_banks,
        "total": view.total_bytes_per_bank,
        "allocated": view.total_bytes_allocated_per_bank,
        "free": view.total_bytes_free_per_bank,
        "largest_free": view.largest_contiguous_bytes_free_per_bank,
    }


def _write(path: Path, rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> None:
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, file.getvalue(), where=_CALL)
