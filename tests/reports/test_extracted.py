"""Graph queries on written graphs, with countable numbers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.graph import PeakMemoryUsagePerCore, TensorInfo

Node = dict[str, Any]


def _graph(*nodes: tuple[str, dict[str, str], list[int]]) -> list[Node]:
    level = 0
    graph = []
    for counter, (kind, params, connections) in enumerate(nodes):
        level += kind == "function_start"
        node = {"counter": counter, "id": counter, "node_type": kind, "params": params, "connections": connections}
        graph.append({**node, "arguments": [], "input_tensors": [], "stacking_level": level})
        level -= kind == "function_end"
    return graph


def _buffer(size: int, kind: str, page: int = 1024, cores: int = 0) -> dict[str, str]:
    return {"size": str(size), "type": kind, "page_size": str(page), "num_cores": str(cores)}


def _circular(size: int, borrowed: int = 0) -> dict[str, str]:
    return {"size": str(size), "globally_allocated": str(borrowed)}


def _program() -> list[Node]:
    """A function on an L1 tensor with two programs.

    It makes one there and one in DRAM.
    """
    return _graph(
        ("capture_start", {}, [1]),
        ("function_start", {"name": "ttnn.first"}, []),
        ("tensor", {"tensor_id": "1", "shape": "Shape([32, 32])"}, [1]),
        ("buffer", _buffer(2048, "L1"), [2]),
        ("function_start", {"name": "tt::tt_metal::create_device_tensor"}, []),
        ("buffer", _buffer(8192, "L1"), [9]),
        ("buffer_allocate", _buffer(8192, "L1", 2048, 2), [5]),
        ("buffer", _buffer(65536, "DRAM"), []),
        ("buffer_allocate", _buffer(65536, "DRAM"), [7]),
        ("tensor", {"tensor_id": "2", "shape": "Shape([64, 64])"}, []),
        ("function_end", {"name": "tt::tt_metal::create_device_tensor"}, [9]),
        ("circular_buffer_allocate", _circular(4096), []),
        ("circular_buffer_allocate", _circular(512, 1), []),
        ("circular_buffer_deallocate_all", {}, [1]),
        ("circular_buffer_allocate", _circular(1024), []),
        ("buffer_deallocate", _buffer(8192, "L1", 2048, 2), [5]),
        ("function_end", {"name": "ttnn.first"}, [9, 17]),
        ("capture_end", {}, []),
    )


def test_peak_of_l1_counts_operands_buffers_and_circular_buffers() -> None:
    # 2048 (operand) + 8192 (result) + 4096 + 512; DRAM does not count.
    assert ttnn.graph.extract_peak_L1_memory_usage(_program()) == 14848
    without_operand = [node for node in _program() if node["counter"] not in (2, 3)]
    for place, node in enumerate(without_operand):
        node["connections"] = [c - 2 if c > 3 else c for c in node["connections"]]
        node["counter"] = place
    assert ttnn.graph.extract_peak_L1_memory_usage(without_operand) == 12800


def test_usage_per_core_leaves_out_what_is_borrowed() -> None:
    usage = ttnn.graph.extract_resource_usage_per_core(_program(), 64)
    # Four pages of 2048 bytes on two cores.
    assert usage == PeakMemoryUsagePerCore(peak_cb=4096, peak_l1=4096, peak_total=8192)
    assert repr(usage) == "PeakMemoryUsagePerCore(peak_cb=4096, peak_l1=4096, peak_total=8192)"
    assert str(usage).splitlines()[1] == "  CB:    4096 bytes"
    shuffled = _program()[::-1]
    with pytest.raises(ttnn.ParameterError, match="node 0 has the counter 17"):
        ttnn.graph.extract_resource_usage_per_core(shuffled, 64)


def test_an_empty_graph_needs_nothing() -> None:
    ttnn.graph.begin_graph_capture()
    graph = ttnn.graph.end_graph_capture()
    assert [node["node_type"] for node in graph] == ["capture_start", "capture_end"]
    assert graph[0]["connections"] == [1]
    assert ttnn.graph.extract_peak_L1_memory_usage(graph) == 0
    assert ttnn.graph.extract_resource_usage_per_core(graph, 64) == PeakMemoryUsagePerCore(0, 0, 0)
    with pytest.raises(ttnn.ParameterError, match="no function of the graph has ended"):
        ttnn.graph.extract_output_tensors(graph)


def test_output_and_intermediate_tensors_are_counted() -> None:
    graph = _program()
    assert ttnn.graph.extract_output_tensors(graph) == {9}
    assert ttnn.graph.count_intermediate_and_output_tensors(graph) == (0, 1)
    (info,) = ttnn.graph.extract_output_info(graph)
    assert info == TensorInfo(ttnn.Shape([64, 64]), 8192, ttnn.BufferType.L1)
    assert repr(info) == "TensorInfo(shape=Shape([64, 64]), size=8192, type=L1)"
    # The tensor that was created does not come out: it is in between.
    graph[16]["connections"] = [2, 17]
    assert ttnn.graph.count_intermediate_and_output_tensors(graph) == (1, 1)


def test_program_tensors_are_counted_and_described(device: ttnn.MeshDevice) -> None:
    ttnn.graph.begin_graph_capture()
    a = ttnn.from_torch(np.ones((32, 64), np.float32), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.exp(ttnn.relu(a))
    graph = ttnn.graph.end_graph_capture()
    # a and its rectified values are in between.
    assert ttnn.graph.count_intermediate_and_output_tensors(graph) == (2, 1)
    (info,) = ttnn.graph.extract_output_info(graph)
    assert (info.shape, info.size, info.type) == (ttnn.Shape([32, 64]), 32 * 64 * 4, ttnn.BufferType.DRAM)


def test_levelized_graph_nests_device_operations(device: ttnn.MeshDevice) -> None:
    a = ttnn.from_torch(np.ones((32, 64), np.float32), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.graph.begin_graph_capture()
    b = ttnn.exp(a)
    ttnn.add(b, a)
    graph = ttnn.graph.end_graph_capture()
    names = [vertex["name"] for vertex in ttnn.graph.extract_levelized_graph(graph)]
    assert names == ["ttnn.exp", "ttnn.add"]
    deep = ttnn.graph.extract_levelized_graph(graph, max_level=2)
    by_name = {vertex["name"]: vertex for vertex in deep}
    unary, binary = by_name["UnaryDeviceOperation"], by_name["BinaryNgDeviceOperation"]
    assert by_name["ttnn.exp"]["internals"] == [unary["counter"]]
    assert by_name["ttnn.exp"]["output_shape"] == ["Shape([32, 64])"]
    # The result of exp is known by the outermost function that it comes out of.
    assert binary["counter"] in by_name["ttnn.exp"]["out_edges"]
    assert binary["in_edges"] == [by_name["ttnn.exp"]["counter"]]
    assert [vertex["counter"] for vertex in deep] == list(range(4))


def test_durations_are_extracted_from_a_graph() -> None:
    graph = _program()
    assert ttnn.graph.extract_total_duration_from_graph(graph) == 0.0
    graph[-1]["duration_ns"] = 2_000_000_000
    graph[16]["duration_ns"] = 500_000_000
    assert ttnn.graph.extract_total_duration_from_graph(graph) == 2.0
    assert ttnn.graph.extract_operation_durations(graph)["ttnn.first"] == 0.5


def test_graph_is_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    ttnn.graph.pretty_print(_program())
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "Capture Start",
        "Function Start: ttnn.first",
        "    Add Tensor: 1",
        "    Add Device Buffer",
        "    Function Start: tt::tt_metal::create_device_tensor",
    ]
    assert lines[-3:-1] == ["Function End:   ttnn.first", "Capture End"]
    with pytest.raises(ttnn.ParameterError, match="Unknown node type: x"):
        ttnn.graph.pretty_format(_graph(("x", {}, [])))


def test_graph_is_drawn_with_graphviz(tmp_path: Path) -> None:
    pytest.importorskip("graphviz")
    graph = ttnn.graph.visualize(_program())
    assert graph.source.count("subgraph") == 2
    assert "node_9 -> node_9" not in graph.source
    assert "node_16 -> node_9" in graph.source
    with pytest.raises(ttnn.ParameterError, match=r"file_name must end in one of \.svg, \.png, \.pdf, not in '\.gif'"):
        ttnn.graph.visualize(_program(), file_name=tmp_path / "graph.gif")
    with pytest.raises(ttnn.ParameterError, match="Call stack not empty"):
        ttnn.graph.visualize(_program()[:8])


@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot of graphviz is not installed")
def test_graph_plot_is_written_to_a_file(tmp_path: Path) -> None:
    pytest.importorskip("graphviz")
    ttnn.graph.visualize(_program(), file_name=tmp_path / "graph.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.svg"]
    assert "ttnn.first" in (tmp_path / "graph.svg").read_text()


def test_without_graphviz_there_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("graphviz")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ttnn.UnsupportedError, match="needs the program dot of graphviz, which is not installed"):
        ttnn.graph.visualize(_program(), file_name=tmp_path / "graph.svg")
