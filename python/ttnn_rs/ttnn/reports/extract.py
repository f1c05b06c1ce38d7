"""Queries of captured graphs: calls, peak memory, output tensors, durations.

Graphs of this package and of the official one are taken, with parameters as texts or as numbers.

Source: tt-metal `ttnn/core/graph/graph_trace_utils.cpp` (what counts for what).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.base.enums import BufferType
from ttnn.base.exceptions import ParameterError
from ttnn.base.shape import Shape
from ttnn.reports.nodes import Node

Graph = Sequence[Node]


@dataclass(frozen=True)
class TensorInfo:
    """A graph's output tensor: shape, buffer bytes, memory type."""

    shape: Shape
    size: int
    type: BufferType

    def __repr__(self) -> str:
        return f"TensorInfo(shape={self.shape}, size={self.size}, type={self.type.name})"


@dataclass(frozen=True)
class PeakMemoryUsagePerCore:
    """Peak L1 bytes per core: circular buffers, buffers, both.

    For both at once.
    """

    peak_cb: int
    peak_l1: int
    peak_total: int

    def __repr__(self) -> str:
        return f"PeakMemoryUsagePerCore(peak_cb={self.peak_cb}, peak_l1={self.peak_l1}, peak_total={self.peak_total})"

    def __str__(self) -> str:
        return (
            "Peak Memory Usage Per Core:\n"
            f"  CB:    {self.peak_cb} bytes\n"
            f"  L1:    {self.peak_l1} bytes\n"
            f"  Total: {self.peak_total} bytes"
        )


def extract_calltrace(trace: Graph) -> list[str]:
    """Return all function names in start order."""
    return [node["params"]["name"] for node in trace if node["node_type"] == "function_start"]


def extract_peak_L1_memory_usage(trace: Graph) -> int:  # noqa: N802 - the official name
    """Return the peak sum of L1 and circular buffer bytes.

    Buffers count with all banks together, circular buffers with one core. Those of the operands of the outermost
    functions count from the start of the function.
    """
    circular = buffers = peak = depth = 0
    operands = False
    for node in trace:
        kind = node["node_type"]
        if kind == "buffer" and operands:
            buffers += _size(node) if _in_l1(node) else 0
        elif kind not in ("tensor", "buffer"):
            operands = False
        if kind == "function_start":
            operands = depth == 0
            depth += 1
        elif kind == "function_end":
            depth -= 1
        elif kind == "circular_buffer_allocate":
            circular += _size(node)
        elif kind == "circular_buffer_deallocate_all":
            circular = 0
        elif kind == "buffer_allocate":
            buffers += _size(node) if _in_l1(node) else 0
        elif kind == "buffer_deallocate":
            freed = trace[node["connections"][0]]
            buffers -= _size(freed) if _in_l1(freed) else 0
        peak = max(peak, circular + buffers)
    return peak


def extract_resource_usage_per_core(trace: Graph, interleaved_storage_cores: int) -> PeakMemoryUsagePerCore:
    """Return the most bytes of L1 that one core needs.

    Args:
        trace: The graph.
        interleaved_storage_cores: Cores over which interleaved buffers are spread.

    Raises:
        ParameterError: the nodes are not in their order.
    """
    circular = buffers = 0
    peaks = [0, 0, 0]
    for place, node in enumerate(trace):
        if node["counter"] != place:
            raise ParameterError(f"extract_resource_usage_per_core: node {place} has the counter {node['counter']}")
        kind = node["node_type"]
        if kind == "circular_buffer_allocate":
            circular += 0 if _number(node, "globally_allocated") == 1 else _size(node)
        elif kind == "circular_buffer_deallocate_all":
            circular = 0
        elif kind in ("buffer_allocate", "buffer_deallocate") and _in_l1(node):
            size = _size_per_core(node, interleaved_storage_cores)
            buffers += size if kind == "buffer_allocate" else -size
        peaks = [max(*pair) for pair in zip(peaks, (circular, buffers, circular + buffers), strict=True)]
    return PeakMemoryUsagePerCore(*peaks)


def count_intermediate_and_output_tensors(trace: Graph) -> tuple[int, int]:
    """Return counts of intermediate tensors and last function's outputs.

    Raises:
        ParameterError: the graph has no function that ended.
    """
    outputs = extract_output_tensors(trace)
    created = {
        counter
        for node in trace
        if node["node_type"] == "function_end" and node["params"]["name"].endswith("create_device_tensor")
        for counter in node["connections"]
        if trace[counter]["node_type"] == "tensor"
    }
    return len(created - outputs), len(outputs)


def extract_output_tensors(trace: Graph) -> set[int]:
    """Return output tensor counters of the last-ending function.

    Raises:
        ParameterError: the graph has no function that ended.
    """
    for node in reversed(trace):
        if node["node_type"] == "function_end":
            return {counter for counter in node["connections"] if trace[counter]["node_type"] == "tensor"}
    raise ParameterError("extract_output_tensors: no function of the graph has ended")


def extract_output_info(trace: Graph) -> list[TensorInfo]:
    """Return device output tensors of the last-ending function.

    Shape, bytes and memory.

    Raises:
        ParameterError: the graph has no function that ended.
    """
    outputs = extract_output_tensors(trace)
    return [
        TensorInfo(
            Shape([int(size) for size in re.findall(r"\d+", trace[counter]["params"]["shape"])]),
            _size(node),
            BufferType.L1 if _in_l1(node) else BufferType.DRAM,
        )
        for node in trace
        if node["node_type"] == "buffer"
        for counter in dict.fromkeys(node["connections"])
        if counter in outputs
    ]


def extract_total_duration_from_graph(graph: Graph) -> float:
    """Return the capture's host seconds; 0 without its end."""
    ends = (node for node in reversed(graph) if node["node_type"] == "capture_end")
    return float(next(ends, {}).get("duration_ns", 0)) / 1e9


def extract_operation_durations(graph: Graph) -> dict[str, float]:
    """Return each function's host seconds: its last call's."""
    return {
        node["params"]["name"]: float(node.get("duration_ns", 0)) / 1e9
        for node in graph
        if node["node_type"] == "function_end"
    }


def _number(node: Node, name: str) -> int:
    value: Any = node["params"][name]
    return int(value)


def _size(node: Node) -> int:
    return _number(node, "size")


def _in_l1(node: Node) -> bool:
    return bool(node["params"]["type"] == "L1")


def _size_per_core(node: Node, interleaved_storage_cores: int) -> int:
    page = _number(node, "page_size")
    pages = math.ceil(_size(node) / page) if page else 0
    cores = _number(node, "num_cores") or interleaved_storage_cores
    return math.ceil(pages / cores) * page
