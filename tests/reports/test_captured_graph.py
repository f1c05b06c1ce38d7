"""Captured graphs: nodes and connections of functions, tensors and memory."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.meshes import different, mesh_of
from ttnn.base.observers import OBSERVERS
from ttnn.profiler import describe
from ttnn.profiler.device_operation import DeviceOperation
from ttnn.profiler.plan import Plan

Node = dict[str, Any]


def _tensor(device: ttnn.MeshDevice, shape: tuple[int, ...] = (64, 64), **options: Any) -> ttnn.Tensor:
    return ttnn.from_torch(
        np.ones(shape, np.float32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options
    )


def _names(graph: list[Node]) -> list[str]:
    return ttnn.graph.extract_calltrace(graph)


def _of_type(graph: list[Node], kind: str) -> list[Node]:
    return [node for node in graph if node["node_type"] == kind]


def _assert_sound(graph: list[Node]) -> None:
    """Nested functions, right places, node connections, text parameters."""
    opened: list[Node] = []
    for place, node in enumerate(graph):
        assert node["counter"] == node["id"] == place
        assert all(0 <= other < len(graph) for other in (*node["connections"], *node["input_tensors"]))
        assert all(isinstance(value, str) for value in node["params"].values())
        assert all(graph[other]["node_type"] == "tensor" for other in node["input_tensors"])
        if node["node_type"] == "function_start":
            opened.append(node)
            assert node["stacking_level"] == len(opened)
        elif node["node_type"] == "function_end":
            start = opened.pop()
            assert start["params"]["name"] == node["params"]["name"]
            assert place in start["connections"]
            assert start["stacking_level"] == node["stacking_level"]
    assert not opened
    assert (graph[0]["node_type"], graph[-1]["node_type"]) == ("capture_start", "capture_end")
    json.dumps(graph)


def test_captured_add_has_its_tensors_and_buffers(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    b = ttnn.add(a, a)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    assert [node["node_type"] for node in graph] == [
        "capture_start", "function_start", "function_start", "tensor", "buffer", "function_start", "buffer",
        "buffer_allocate", "function_end", "tensor", "circular_buffer_deallocate_all",
        *["circular_buffer_allocate"] * 3, "program_execution", "function_end", "function_end", "capture_end",
    ]  # fmt: skip
    assert _names(graph) == ["ttnn.add", "BinaryNgDeviceOperation", "tt::tt_metal::create_device_tensor"]
    taken, made = _of_type(graph, "tensor")
    assert taken["params"]["tensor_id"] == str(a.tensor_id)
    assert made["params"]["tensor_id"] == str(b.tensor_id)
    start = graph[2]
    # The same tensor twice has one node, and is an input twice.
    assert start["input_tensors"] == [taken["counter"]] * 2
    assert taken["connections"] == [start["counter"]] * 2
    assert made["counter"] in graph[-2]["connections"]
    allocated = _of_type(graph, "buffer_allocate")[0]["params"]
    assert allocated == {
        "address": str(b.buffer_address()),
        "buffer_type": "0",
        "device_id": "0",
        "layout": "INTERLEAVED",
        "max_size_per_bank": "2048",
        "num_cores": "0",
        "page_size": "2048",
        "size": "8192",
        "type": "DRAM",
    }


def test_a_capture_changes_no_value_and_leaves_no_trace(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    before = ttnn.gelu(ttnn.multiply(a, 1.5)).to_numpy()
    ttnn.graph.begin_graph_capture()
    captured = ttnn.gelu(ttnn.multiply(a, 1.5)).to_numpy()
    ttnn.graph.end_graph_capture()
    assert not OBSERVERS
    assert not ttnn.graph.is_graph_capture_active()
    assert before.tobytes() == captured.tobytes() == ttnn.gelu(ttnn.multiply(a, 1.5)).to_numpy().tobytes()


def test_transfers_and_deallocations_are_functions(device: ttnn.MeshDevice) -> None:
    ttnn.graph.begin_graph_capture()
    a = _tensor(device, memory_config=ttnn.L1_MEMORY_CONFIG)
    address = a.buffer_address()
    ttnn.to_torch(a)
    ttnn.deallocate(a)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    assert _names(graph) == [
        "ttnn::convert_python_tensor_to_tt_tensor",
        "Tensor::to_device",
        "tt::tt_metal::create_device_tensor",
        "Tensor::cpu",
        "tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor",
        "Tensor::deallocate",
    ]
    freed = _of_type(graph, "buffer_deallocate")
    assert [node["params"]["address"] for node in freed] == [str(address)]
    start = next(n for n in graph if n["node_type"] == "function_start" and n["params"]["name"] == "Tensor::deallocate")
    assert freed[0]["counter"] in start["connections"]


def test_tensors_that_end_release_their_buffers(device: ttnn.MeshDevice) -> None:
    ttnn.graph.begin_graph_capture()
    kept = _tensor(device)
    lost = _tensor(device)
    number = str(lost.buffer_address())
    del lost
    ttnn.relu(kept)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    freed = [node["params"]["address"] for node in _of_type(graph, "buffer_deallocate")]
    # The tensor that was lost, and the result that nobody took. The one that is kept has its buffer.
    assert number in freed
    assert str(kept.buffer_address()) not in freed
    assert len(freed) == 2


def test_operators_in_operators_are_device_operations_of_the_outer_one(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    ttnn.mse_loss(a, a, reduction=ttnn.LossReductionMode.SUM)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    names = _names(graph)
    assert names[0] == "ttnn.mse_loss"
    assert [name for name in names if name.startswith("ttnn.")] == ["ttnn.mse_loss"]
    assert "BinaryNgDeviceOperation" in names
    assert "ReduceDeviceOperation" in names


def test_a_view_runs_no_device_operation(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    ttnn.reshape(a, (1, 64, 64))
    graph = ttnn.graph.end_graph_capture()
    assert _names(graph) == ["ttnn.reshape"]
    assert not _of_type(graph, "program_execution")


def test_failed_call_ends_aborted(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    with pytest.raises(ttnn.ShapeError):
        ttnn.matmul(a, _tensor(device, (32, 32)))
    ttnn.exp(a)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    ends = {node["params"]["name"]: node["params"].get("aborted") for node in _of_type(graph, "function_end")}
    assert ends["ttnn.matmul"] == "true"
    assert ends["ttnn.exp"] is None
    (error,) = _of_type(graph, "error")
    assert (error["params"]["error_type"], error["params"]["error_operation"]) == ("ShapeError", "ttnn.matmul")


@pytest.mark.parametrize("chip", ["n150", "p150"])
def test_without_dispatch_nothing_is_allocated_or_run(chip: str) -> None:
    with ttnn.manage_device(0, chip=chip) as device:
        a = _tensor(device)
        state = device.engine.state_hash()
        programs = device.num_program_cache_entries()
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
        b = _tensor(device, memory_config=ttnn.L1_MEMORY_CONFIG)
        c = ttnn.matmul(ttnn.add(a, b), b)
        d = ttnn.softmax(ttnn.transpose(c, 0, 1), dim=-1)
        assert not d.to_numpy().any()
        assert d.is_allocated()
        graph = ttnn.graph.end_graph_capture()
        _assert_sound(graph)
        assert device.engine.state_hash() == state
        assert device.num_program_cache_entries() == programs
        assert {node["params"]["address"] for node in _of_type(graph, "buffer_allocate")} == {"0"}
        assert not _of_type(graph, "program_execution")
        assert [name for name in _names(graph) if name.endswith("DeviceOperation")] == [
            "BinaryNgDeviceOperation", "MatmulDeviceOperation", "TransposeDeviceOperation", "SoftmaxDeviceOperation",
        ]  # fmt: skip
        # What was made without memory cannot be used afterwards.
        assert not c.is_allocated()
        with pytest.raises(ttnn.StorageError, match="was deallocated"):
            ttnn.exp(c)
        assert ttnn.add(a, a).to_numpy().all()


def test_both_modes_see_the_same(device: ttnn.MeshDevice) -> None:
    def captured(mode: ttnn.graph.RunMode) -> list[Node]:
        ttnn.graph.begin_graph_capture(mode)
        a = _tensor(device, (2, 96, 70), memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.sum(ttnn.multiply(a, a), dim=-1)
        del a
        return ttnn.graph.end_graph_capture()

    run, blocked = (captured(mode) for mode in ttnn.graph.RunMode)
    assert _names(run) == _names(blocked)
    kinds = [Counter(node["node_type"] for node in graph) for graph in (run, blocked)]
    assert kinds[0] - kinds[1] == Counter(program_execution=2)
    assert not kinds[1] - kinds[0]
    for kind in ("buffer_allocate", "buffer_deallocate"):
        facts = [[{**n["params"], "address": ""} for n in _of_type(graph, kind)] for graph in (run, blocked)]
        assert facts[0] == facts[1]
    assert ttnn.graph.extract_peak_L1_memory_usage(run) == ttnn.graph.extract_peak_L1_memory_usage(blocked)


def test_nested_captures_record_their_own_calls(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    ttnn.exp(a)
    ttnn.graph.begin_graph_capture()
    ttnn.relu(a)
    inner = ttnn.graph.end_graph_capture()
    ttnn.abs(a)
    outer = ttnn.graph.end_graph_capture()
    assert [name for name in _names(inner) if name.startswith("ttnn.")] == ["ttnn.relu"]
    assert [name for name in _names(outer) if name.startswith("ttnn.")] == ["ttnn.exp", "ttnn.relu", "ttnn.abs"]
    with pytest.raises(ttnn.ParameterError, match="end_graph_capture: no capture is open"):
        ttnn.graph.end_graph_capture()


def test_other_threads_are_not_captured(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    thread = threading.Thread(target=ttnn.exp, args=(a,))
    thread.start()
    thread.join()
    graph = ttnn.graph.end_graph_capture()
    assert _names(graph) == []


def test_repeated_calls_are_captured_and_fast_again_afterwards(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    for _ in range(3):
        ttnn.exp(a)
    assert any(prepared is not None for prepared in device._resolved.values())
    kept = dict(device._resolved)
    ttnn.graph.begin_graph_capture()
    ttnn.exp(a)
    graph = ttnn.graph.end_graph_capture()
    assert "UnaryDeviceOperation" in _names(graph)
    assert device._resolved == kept


def test_device_operations_record_their_arguments(device: ttnn.MeshDevice) -> None:
    a = ttnn.from_torch(np.ones((1, 32, 4, 16), np.float32), dtype=ttnn.bfloat16, device=device)
    ttnn.graph.begin_graph_capture()
    ttnn.transpose(a, 1, 2)
    graph = ttnn.graph.end_graph_capture()
    (start,) = (node for node in graph if node["params"].get("name") == "PermuteDeviceOperation" and node["arguments"])
    assert "dims=SmallVector([0, 2, 1, 3])" in start["arguments"][0]
    assert start["arguments"][1].startswith("{Tensor(shape=Shape([1, 32, 4, 16]),dtype=DataType::BFLOAT16")
    made = ttnn.graph_tracer_utils.GraphTracerUtils.serialize_graph(graph)["content"][1]
    assert made["operation"] == "tt::tt_metal::create_device_tensor"
    assert made["arguments"][0]["arg0"]["Shape"] == [1, 4, 32, 16]
    assert made["arguments"][4]["arg4"]["MemoryConfig"]["buffer_type"] == "BufferType::DRAM"


def test_unknown_run_mode_raises() -> None:
    with pytest.raises(ttnn.ArgumentError, match=r"run_mode must be a ttnn\.graph\.RunMode, got 1"):
        ttnn.graph.begin_graph_capture(1)  # type: ignore[arg-type]
    assert not ttnn.graph.is_graph_capture_active()


def test_matmul_records_its_circular_buffers(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    ttnn.matmul(a, a)
    graph = ttnn.graph.end_graph_capture()
    buffers = [node["params"] for node in _of_type(graph, "circular_buffer_allocate")]
    # One after the other from the first free address: two tiles of each operand, one of the result.
    assert [(cb["address"], cb["size"]) for cb in buffers] == [
        ("105824", "4096"), ("109920", "4096"), ("114016", "2048"),
    ]  # fmt: skip
    assert {cb["core_range_set"] for cb in buffers} == {"{[(x=0,y=0) - (x=3,y=0)]}"}
    # The figure that was recorded on an n150.
    assert ttnn.graph.extract_peak_L1_memory_usage(graph) == 10240


def test_circular_buffers_of_shards_take_no_room(device: ttnn.MeshDevice) -> None:
    shards = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.HEIGHT)
    a = _tensor(device, memory_config=shards)
    ttnn.graph.begin_graph_capture()
    b = ttnn.add(a, a)
    graph = ttnn.graph.end_graph_capture()
    buffers = [node["params"] for node in _of_type(graph, "circular_buffer_allocate")]
    borrowed = {cb["address"] for cb in buffers if cb["globally_allocated"] == "1"}
    assert borrowed == {str(a.buffer_address()), str(b.buffer_address())}


def test_device_operations_are_the_rows_of_a_profile(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    with ttnn.profiler.profile() as profile:
        ttnn.graph.begin_graph_capture()
        ttnn.mse_loss(ttnn.softmax(ttnn.linear(a, a, bias=_tensor(device, (1, 64))), dim=-1), a)
        ttnn.layer_norm(ttnn.transpose(a, 0, 1))
        graph = ttnn.graph.end_graph_capture()
    functions = [name for name in _names(graph) if "::" not in name and not name.startswith("ttnn.")]
    assert functions == [row.plan.name for row in profile.rows]
    assert len(functions) >= 5


def test_programs_of_the_caller_do_not_run_without_dispatch(device: ttnn.MeshDevice) -> None:
    a = _tensor(device)
    program = ttnn.ProgramDescriptor([ttnn.KernelDescriptor("no kernel", core_ranges=ttnn.CoreRangeSet([]))])
    with pytest.raises(ttnn.TtnnError):
        ttnn.generic_op([a, a], program)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    b = _tensor(device)
    assert ttnn.generic_op([a, b], program) is b
    ttnn.graph.end_graph_capture()


def test_the_extension_module_has_the_same_functions() -> None:
    assert ttnn._ttnn.graph.RunMode is ttnn.graph.RunMode
    assert ttnn._ttnn.graph.begin_graph_capture is ttnn.graph.begin_graph_capture


def test_a_device_operation_without_a_plan_has_a_name_and_no_circular_buffers(
    device: ttnn.MeshDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(op: DeviceOperation) -> Plan:
        raise ttnn.UnsupportedError(f"{op.name}: says the test", "unimplemented")

    monkeypatch.setattr(describe, "make_plan", refusing)
    a = _tensor(device)
    ttnn.graph.begin_graph_capture()
    ttnn.moreh_matmul(a, a)
    graph = ttnn.graph.end_graph_capture()
    _assert_sound(graph)
    assert "MorehMatmulOperation" in _names(graph)
    assert not _of_type(graph, "circular_buffer_allocate")


def test_tensors_of_a_mesh_name_their_chips() -> None:
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        whole = different(mesh, (1, 1, 32, 64))
        part = ttnn.get_device_tensors(whole)[5]
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
        gathered = ttnn.all_gather(whole, 3, cluster_axis=1)
        ttnn.add(part, 1.0)
        nodes = _of_type(ttnn.graph.end_graph_capture(), "tensor")
        parts = {node["params"]["tensor_id"]: json.loads(node["params"]["device_tensors"]) for node in nodes}
        for tensor, chips in ((whole, mesh.chips), (gathered, mesh.chips), (part, mesh.chips[5:6])):
            places = {"mesh_device_id": mesh.id(), "address": tensor.buffer_address()}
            assert parts[str(tensor.tensor_id)] == [{"device_id": chip.id, **places} for chip in chips]
