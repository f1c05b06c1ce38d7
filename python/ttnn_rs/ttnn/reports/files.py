"""A captured graph with devices, in the official JSON form.

Source: tt-metal `ttnn/core/graph/graph_processor.cpp`, the report of a capture.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, Final

from ttnn._engine import __version__
from ttnn.device.device_info import cluster_descriptor, get_device_info, mesh_descriptor
from ttnn.device.mesh_device import MeshDevice
from ttnn.reports.buffers import BufferInfo, BufferPageInfo, get_buffer_pages
from ttnn.reports.capture import GraphCapture

REPORT_VERSION: Final = 1
_BUFFER: Final = tuple(field.name for field in fields(BufferInfo))
_PAGE: Final = tuple(field.name for field in fields(BufferPageInfo))


def device_record(device: MeshDevice) -> dict[str, Any]:
    """Return a device's record in a report."""
    chip = device.chip
    return {
        "device_id": device.id(),
        **asdict(get_device_info(device)),
        "arch": chip["arch_name"].upper(),
        "num_dram_channels": chip["dram_banks"],
        "dram_size_per_channel": chip["dram_bank_bytes"],
    }


def report_of(capture: GraphCapture, *, pages: bool) -> dict[str, Any]:
    """Return the report of a capture that has ended.

    Args:
        capture: The capture.
        pages: Whether the pages of the buffers in L1 are listed.
    """
    devices = [device for _, device in sorted(capture.devices.items()) if device.is_open]
    report: dict[str, Any] = {
        "version": REPORT_VERSION,
        "graph": capture.nodes,
        "devices": [device_record(device) for device in devices],
        "metadata": {
            "capture_timestamp_ns": capture.started_ns,
            "total_duration_ns": capture.nodes[-1]["duration_ns"],
            "rank": 0,
            "world_size": 1,
            "ttnn_rs_version": __version__,
        },
        "cluster_descriptor": cluster_descriptor(devices),
        "mesh_coordinate_mapping": mesh_descriptor(devices),
        "per_operation_buffers": {
            str(counter): [_record(_BUFFER, buffer.numbers()) for buffer in buffers]
            for counter, buffers in capture.buffers.items()
        },
    }
    if pages:
        report["buffer_pages"] = [_record(_PAGE, page.numbers()) for page in get_buffer_pages(devices)]
    return report


def _record(names: tuple[str, ...], values: tuple[int | None, ...]) -> dict[str, int | None]:
    return dict(zip(names, values, strict=True))
