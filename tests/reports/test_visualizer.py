"""The official viewer, TT-NN Visualizer 0.108, shows the reports of this package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import ttnn
from testkit.visualizer import Viewer, assert_circular_buffers_are_below_the_buffers, viewer


class Shown(NamedTuple):
    viewer: Viewer
    memory: Path
    names: list[str]


def _run(device: ttnn.MeshDevice) -> None:
    """A small model: memory configs, deallocation, and a raising operator.

    Interleaved and sharded tensors in DRAM and L1.
    """

    def tensor(*shape: int, **options: Any) -> ttnn.Tensor:
        values = np.random.default_rng(7).random(shape, np.float32)
        return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **options)

    x = tensor(1, 1, 128, 256, memory_config=ttnn.L1_MEMORY_CONFIG)
    hidden = ttnn.linear(x, tensor(256, 256), memory_config=ttnn.L1_MEMORY_CONFIG)
    shards = ttnn.create_sharded_memory_config((1, 1, 128, 256), ttnn.CoreGrid(x=4, y=1), ttnn.ShardStrategy.HEIGHT)
    sharded = ttnn.gelu(ttnn.to_memory_config(hidden, shards))
    ttnn.deallocate(hidden)
    y = ttnn.softmax(ttnn.sharded_to_interleaved(sharded, ttnn.L1_MEMORY_CONFIG), dim=-1)
    with pytest.raises(ttnn.ShapeError):
        ttnn.matmul(y, tensor(32, 32))
    ttnn.to_torch(ttnn.layer_norm(ttnn.add(y, x)))


def _is_device_operation(name: str) -> bool:
    """The viewer's own rule."""
    return "(torch)" not in name and "ttnn." not in name and ("::" not in name or "Tensor::" in name)


def _device_operations(operations: list[dict[str, Any]]) -> list[str]:
    return [
        node["params"]["name"]
        for operation in operations
        for node in operation["device_operations"]
        if node["node_type"] == "function_start" and _is_device_operation(node["params"]["name"])
    ]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("reports")
    with viewer(folder) as running:
        before = ttnn.Config(ttnn.CONFIG)
        try:
            ttnn.CONFIG.root_report_path, ttnn.CONFIG.report_name = folder, Path("A small model")
            ttnn.CONFIG.enable_logging = ttnn.CONFIG.enable_detailed_buffer_report = True
            with ttnn.manage_device(0) as device, ttnn.profiler.profile() as profile:
                _run(device)
            profile.to_csv(folder / "performance")
            memory = ttnn.CONFIG.report_path
        finally:
            ttnn.CONFIG = before
        assert memory is not None
        running.open(memory, folder / "performance")
        yield Shown(running, memory, _device_operations(running.get("operations")))


@pytest.mark.parametrize(
    "path",
    [
        "instance", "operations", "operations/3", "tensors", "tensors/{tensor}", "buffers?buffer_type=1",
        "operation-buffers", "operation-buffers/3", "buffer-pages?operation_id=3",
        "buffer?address={address}&operation_id=3", "devices", "config", "cluster-descriptor", "mesh-descriptor",
        "report-metadata", "errors", "report-fingerprints", "performance/perf-results",
        "performance/perf-results/report", "performance/device-log", "performance/device-log/meta",
        "performance/device-log/zone/BRISC-KERNEL",
    ],
)  # fmt: skip
def test_viewer_answers_all_requests(shown: Shown, path: str) -> None:
    tensor = shown.viewer.get("tensors")[0]
    answer = shown.viewer.get(path.format(tensor=tensor["id"], address=tensor["address"]))
    assert answer


def test_what_is_not_there_is_not_found(shown: Shown) -> None:
    assert shown.viewer.status("operations/999") == 404
    assert shown.viewer.status("performance/perf-results/raw") == 200


def test_operations_are_the_calls_of_the_program(shown: Shown) -> None:
    operations = shown.viewer.get("operations")
    assert [operation["name"].removeprefix("ttnn.") for operation in operations] == [
        "from_torch", "from_torch", "linear", "to_memory_config", "gelu", "deallocate", "sharded_to_interleaved",
        "softmax", "from_torch", "matmul", "add", "layer_norm", "to_torch",
    ]  # fmt: skip
    assert [operation["id"] for operation in operations] == list(range(1, 14))
    assert Path(__file__).name in operations[2]["stack_trace"]
    failed = operations[9]
    assert failed["error"]["error_type"] == "RuntimeError"
    assert "inner dimensions differ" in failed["error"]["error_message"]
    assert sum(operation["error"] is not None for operation in operations) == 1
    assert {argument["name"]: argument["value"] for argument in operations[7]["arguments"]}["dim"] == "-1"


def test_tensors_know_their_producers_and_consumers(shown: Shown) -> None:
    operations = shown.viewer.get("operations")
    (result,) = operations[2]["outputs"]
    assert (result["producers"], result["consumers"]) == ([3], [4, 6])
    sharded = next(t for t in shown.viewer.get("tensors") if "HEIGHT_SHARDED" in t["memory_config"]["memory_layout"])
    assert sharded["memory_config"]["shard_spec"]["shape"] == [32, 256]
    assert sharded["buffer_type"] == 1


def test_buffers_are_those_that_exist(shown: Shown) -> None:
    listed = {operation["id"]: operation["buffers"] for operation in shown.viewer.get("operation-buffers")}
    in_l1 = {number: sum(b["buffer_type"] == 1 for b in buffers) for number, buffers in listed.items()}
    # After linear: the input and the result; the shards; those of gelu (its operand is gone at the next event).
    assert (in_l1[1], in_l1[3]) == (1, 2)
    freed = {b["address"] for b in listed[5]} - {b["address"] for b in listed[6]}
    (result,) = shown.viewer.get("operations")[2]["outputs"]
    assert result["address"] in freed
    shards = next(b for b in listed[4] if b["buffer_layout"] == 2)
    assert shards["size"] == 32 * 256 * 2


def test_pages_lie_on_the_cores_of_their_shards(shown: Shown) -> None:
    chunks = shown.viewer.get("buffer-pages?operation_id=4")
    sharded = next(t for t in shown.viewer.get("tensors") if "HEIGHT_SHARDED" in t["memory_config"]["memory_layout"])
    own = [chunk for chunk in chunks if chunk["address"] == sharded["address"]]
    assert [(chunk["core_x"], chunk["core_y"]) for chunk in own] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert {(chunk["num_pages"], chunk["chunk_size"]) for chunk in own} == {(8, 16384)}


def test_device_operations_are_the_rows_of_the_performance_report(shown: Shown) -> None:
    rows = shown.viewer.get("performance/perf-results")
    assert [row["OP_CODE"] for row in rows] == shown.names
    assert shown.names == [
        "MatmulDeviceOperation", "InterleavedToShardedDeviceOperation", "UnaryDeviceOperation",
        "ShardedToInterleavedDeviceOperation", "SoftmaxDeviceOperation", "BinaryNgDeviceOperation",
        "LayerNormDeviceOperation",
    ]  # fmt: skip
    report = shown.viewer.get("performance/perf-results/report")["report"]
    total = sum(float(row["device_time"]) for row in report)
    assert total == pytest.approx(sum(row["DEVICE_KERNEL_DURATION_[ns]"] for row in rows) / 1000)
    assert total > 0


def test_circular_buffers_are_below_the_buffers_in_l1(shown: Shown) -> None:
    (device,) = shown.viewer.get("devices")
    assert device["worker_l1_size"] == 1499136
    own, borrowed = assert_circular_buffers_are_below_the_buffers(shown.viewer)
    # Those of gelu, and one of each operation between shards and pages, lie in tensors.
    assert borrowed == 4
    assert own > borrowed


def test_a_folder_without_a_report_is_refused(shown: Shown, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="No memory report"):
        Viewer(shown.viewer.url).open(tmp_path)


def test_a_captured_graph_that_was_imported_is_shown_too(shown: Shown, tmp_path: Path) -> None:
    with ttnn.manage_device(0) as device:
        a = ttnn.from_torch(np.ones((64, 64), np.float32), layout=ttnn.TILE_LAYOUT, device=device)
        with ttnn.graph.full_graph_capture(tmp_path / "captured.json"):
            ttnn.exp(ttnn.matmul(a, a))
    ttnn.graph.import_report(tmp_path / "captured.json", tmp_path / "imported")
    other = Viewer(shown.viewer.url)
    other.open(tmp_path / "imported")
    operations = other.get("operations")
    assert [operation["name"] for operation in operations] == ["ttnn.matmul", "ttnn.exp"]
    assert _device_operations(operations) == ["MatmulDeviceOperation", "UnaryDeviceOperation"]
    assert operations[0]["outputs"][0]["consumers"] == [2]
    assert other.get("config")["report_name"] == "captured"
