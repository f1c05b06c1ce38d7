"""Official host functions, and those that always raise.

Official fixtures, helpers and models import them.
"""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError, MemoryConfigError, ParameterError, UnsupportedError

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "call",
    [
        "auto_register_ttnn_cpp_operations", "cluster.read_reg",
        "disaggregation.import_from_protobuf", "get_all_programs_perf_data", "attach_absent_mcast",
        "graph_report.run_pytest_graph_report_fixture",
        "GrayskullComputeKernelConfig", "matmul_select_program_factory",
    ],
)  # fmt: skip
def test_names_without_a_meaning_here_raise_when_they_are_called(call: str) -> None:
    found: Any = ttnn
    for part in call.split("."):
        found = getattr(found, part)
    assert found.__doc__.startswith("Always raise")
    with pytest.raises(UnsupportedError, match=call.rpartition(".")[2]):
        found()


@pytest.mark.parametrize(
    "name", ["binary", "ccl", "conv2d", "creation", "matmul", "moreh", "pool", "reduction", "transformer", "unary"]
)
def test_modules_of_categories_are_imported_by_name(name: str) -> None:
    assert importlib.import_module(f"ttnn.operations.{name}") is getattr(ttnn.operations, name)


def test_categories_have_operators_and_what_else_programs_take() -> None:
    assert ttnn.operations.matmul.linear is ttnn.linear
    assert ttnn.operations.unary.exp is ttnn.exp
    assert ttnn.operations.ccl.Topology is ttnn.Topology
    assert ttnn.operations.conv2d.get_conv_output_dim(7, 3, stride=2, pad=1) == 4
    assert ttnn._ttnn.operations.ccl.Topology is ttnn.Topology
    assert ttnn._ttnn.tensor.Tensor is ttnn.Tensor
    assert __import__("ttnn.distributed.distributed").distributed.ConcatMeshToTensor is ttnn.ConcatMeshToTensor


def test_one_process_is_the_cluster() -> None:
    ttnn.init_distributed_context()
    ttnn.distributed_context_barrier()
    assert (ttnn.distributed_context_get_rank(), ttnn.distributed_context_get_size()) == (0, 1)
    assert ttnn.distributed_context_allgather_int(7) == [7]
    assert ttnn.distributed_context_local_to_world_rank(0, 0) == 0
    with pytest.raises(ArgumentError, match="there is one group"):
        ttnn.distributed_context_subcontext_size(1)
    with pytest.raises(ArgumentError, match="dest must be one of 1 processes and not 0 itself, got 0"):
        ttnn.distributed_context_send_bytes(b"", 0)
    with pytest.raises(ArgumentError, match="source must be one of"):
        ttnn.distributed_context_recv_bytes(1, 1)


def test_all_tensors_of_a_device_are_deallocated(device: ttnn.MeshDevice) -> None:
    tensor = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    host = ttnn.from_torch(torch.ones(2, 2))
    ttnn.device.DeallocateBuffers(device)
    assert not tensor.is_allocated()
    assert host.is_allocated()
    with pytest.raises(ArgumentError, match=r"expected a ttnn\.MeshDevice, got int"):
        ttnn.device.DeallocateBuffers(3)  # type: ignore[arg-type]


def test_calls_to_the_driver_change_nothing(device: ttnn.MeshDevice) -> None:
    ttnn.SetRootDir(".")
    ttnn.enable_asynchronous_slow_dispatch(device)
    assert not ttnn.device.is_asynchronous_slow_dispatch_enabled(device)
    assert not ttnn.device.IsProgramRealtimeProfilerActive()
    with ttnn.device.setup_fast_dispatch(device):
        assert ttnn.ones((1, 1), device=device).item() == 1.0
    with pytest.raises(ArgumentError, match="SetRootDir: expected a path"):
        ttnn.SetRootDir(1)  # type: ignore[arg-type]


def test_element_size_and_padded_shapes() -> None:
    assert [ttnn.element_size(dtype) for dtype in (ttnn.bfloat16, ttnn.float32, ttnn.uint8)] == [2, 4, 1]
    with pytest.raises(ArgumentError, match="no elements of integral bytes"):
        ttnn.element_size(ttnn.bfloat8_b)
    assert ttnn.pad_to_tile_shape([1, 384, 49, 96]) == [1, 384, 64, 96]
    assert ttnn.pad_to_tile_shape([5]) == [32, 32]


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.uint8, ttnn.uint16, ttnn.int32])
def test_types_of_torch_are_those_of_to_torch(dtype: ttnn.DataType) -> None:
    layout = ttnn.TILE_LAYOUT if dtype is ttnn.bfloat8_b else ttnn.ROW_MAJOR_LAYOUT
    tensor = ttnn.from_torch(torch.ones(2, 2), dtype=dtype, layout=layout)
    assert ttnn.ttnn_dtype_to_torch_dtype(dtype) == ttnn.to_torch(tensor).dtype


def test_a_queue_is_pushed_and_popped() -> None:
    decorators = ttnn.decorators
    decorators.push_current_command_queue_id_for_thread(1)
    decorators.push_current_command_queue_id_for_thread(0)
    assert int(decorators.pop_current_command_queue_id_for_thread()) == 0
    assert int(decorators.get_current_command_queue_id_for_thread()) == 1
    assert int(decorators.pop_current_command_queue_id_for_thread()) == 1
    with pytest.raises(ArgumentError, match="no command queue was pushed"):
        decorators.pop_current_command_queue_id_for_thread()


def test_arguments_and_results_around_golden_functions(device: ttnn.MeshDevice) -> None:
    decorators = ttnn.decorators
    values = torch.tensor([[1.0, -2.0]])
    tensor = ttnn.from_torch(values, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    args, kwargs = decorators.default_preprocess_golden_function_inputs(([tensor], 3), {"other": tensor})
    assert torch.equal(args[0][0], values)
    assert args[1] == 3
    assert torch.equal(kwargs["other"], values)
    back = decorators.default_postprocess_golden_function_outputs([values * 2], (tensor,), {})
    assert (back[0].dtype, back[0].layout, back[0].device()) == (ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert back[0].to_list() == [[2.0, -4.0]]
    assert decorators.get_ttnn_tensors({"a": [tensor, 1], "b": values})[0] is tensor
    assert len(decorators.get_all_tensors((tensor, [values], 1))) == 2
    assert decorators.get_devices((tensor, 1)) == {device}
    assert decorators.get_inplace_output_tensors({"output_tensor": tensor, "x": 1})[0] is tensor
    with pytest.raises(ArgumentError, match="got a str"):
        decorators.default_postprocess_golden_function_outputs("x", (tensor,), {})


def test_results_are_compared_by_correlation() -> None:
    compare = ttnn.decorators.compare_tensors_using_pcc
    golden = torch.arange(4.0)
    assert compare("ttnn.x", golden, golden * 2, 0.99, "locally", True) == [(True, pytest.approx(1.0))]
    with pytest.raises(ttnn.ComparisonError, match=r"ttnn\.x: Comparing output tensor 1 against CPU locally failed"):
        compare("ttnn.x", [golden, golden], [golden, -golden], 0.99, "locally", True)
    with pytest.raises(ArgumentError, match="must be alike, got Tensor and list"):
        compare("ttnn.x", golden, [golden], 0.99, "locally", True)


def test_a_function_becomes_an_operator() -> None:
    def double(x: int) -> int:
        return 2 * x

    double.python_fully_qualified_name = "ttnn.double_of_a_test"  # type: ignore[attr-defined]
    operation = ttnn.register_cpp_operation(ttnn.operations, "double_of_a_test", double)
    assert operation(4) == ttnn.operations.double_of_a_test(4) == 8
    assert operation in ttnn.decorators.REGISTERED_OPERATIONS


def test_a_block_sharded_specification_of_a_set_of_one_rectangle() -> None:
    spec = ttnn.TensorSpec((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, buffer_type=ttnn.BufferType.L1)
    cores = ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))
    assert spec.block_sharded(ttnn.CoreRangeSet([cores])) == spec.block_sharded(cores)
    other = ttnn.CoreRange(ttnn.CoreCoord(4, 4), ttnn.CoreCoord(5, 5))
    with pytest.raises(MemoryConfigError, match="grid must be one rectangle of cores"):
        spec.block_sharded(ttnn.CoreRangeSet([cores, other]))


def test_a_norm_of_shards_gets_its_configuration() -> None:
    assert ttnn.create_layernorm_program_config() == ttnn.LayerNormDefaultProgramConfig()
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 3))])
    config = ttnn.create_layernorm_program_config(ttnn.ShardSpec(cores, [64, 128], ttnn.ShardOrientation.ROW_MAJOR))
    assert isinstance(config, ttnn.LayerNormShardedMultiCoreProgramConfig)
    assert (config.compute_with_storage_grid_size, config.block_h, config.block_w) == (ttnn.CoreCoord(8, 4), 2, 4)
    with pytest.raises(ArgumentError, match=r"shard_spec must be ShardSpec \| None, got int"):
        ttnn.create_layernorm_program_config(3)  # type: ignore[arg-type]


def test_cores_of_group_norm(device: ttnn.MeshDevice) -> None:
    grid = ttnn.CoreGrid(x=4, y=8)
    layouts = ttnn.TensorMemoryLayout
    cores = ttnn.get_group_norm_cores_across_channel
    assert cores(layouts.HEIGHT_SHARDED, grid) == 1
    assert cores(layouts.BLOCK_SHARDED, grid) == 8
    assert cores(layouts.BLOCK_SHARDED, grid, ttnn.ShardOrientation.ROW_MAJOR) == 4
    assert cores(layouts.INTERLEAVED, grid) == 32
    # 7 columns of cores hold 2 columns of channels three times: as many as there are rows of tiles.
    found = ttnn.determine_expected_group_norm_dram_grid_size(
        device=device, num_channels=320, num_groups=32, input_nhw=96
    )
    assert (found.x, found.y) == (7, 1)
    with pytest.raises(ParameterError, match="must be a multiple of 32"):
        ttnn.determine_expected_group_norm_dram_grid_size(device=device, num_channels=33, num_groups=3, input_nhw=96)


def test_meshes_and_tensors_as_tables(device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    ttnn.visualize_mesh_device(device)
    ttnn.visualize_tensor(ttnn.ones((2, 3), dtype=ttnn.bfloat16, device=device))
    ttnn.visualize_system_mesh()
    text = capsys.readouterr().out
    assert "MeshDevice(rows=1, cols=1)" in text
    assert "[:, :]" in text
    assert "Shape: [2, 3]" in text
    assert "Dtype: BFLOAT16" in text
    mesh = ttnn.MeshShape(1, 1)
    assert ttnn.compute_distribution_to_mesh_mapping(mesh, mesh) == [ttnn.MeshCoordinate(0, 0)]
    with pytest.raises(ArgumentError, match="distribution_shape must be a MeshShape, got 3"):
        ttnn.compute_distribution_to_mesh_mapping(3, mesh)


def test_reflection_and_dot_access() -> None:
    assert ttnn.reflection.pop_argument("a", [1, 2], {"b": 3}) == (1, [2], {"b": 3})
    assert ttnn.reflection.pop_argument("b", [], {"b": 3, "c": 4}) == (3, [], {"c": 4})
    with pytest.raises(ArgumentError, match="the call has no argument 'b'"):
        ttnn.reflection.pop_argument("b", [], {})
    tree = ttnn.dot_access.make_dot_access_dict({"a": {"b": 1}, "c": {"d": 2}.items()})
    assert tree.a.b == 1
    del tree.a
    with pytest.raises(AttributeError, match="has no 'a'"):
        _ = tree.a


def test_configurations_as_dictionaries() -> None:
    as_dict = ttnn.config_serialization
    assert as_dict.memory_config_to_dict(ttnn.L1_MEMORY_CONFIG)["buffer_type"] == "BufferType.L1"
    compute = as_dict.compute_kernel_config_to_dict(ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=True))
    assert (compute["fp32_dest_acc_en"], compute["throttle_level"]) == (True, "ThrottleLevel.NO_THROTTLE")
    program = as_dict.program_config_to_dict(ttnn.LayerNormDefaultProgramConfig(use_welford=True))
    assert program["type"] == "LayerNormDefaultProgramConfig"
    assert program["use_welford"] is True
    with pytest.raises(ArgumentError, match="expected a MemoryConfig, got int"):
        as_dict.memory_config_to_dict(3)


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Path]:
    with ttnn.manage_config("root_report_path", tmp_path):
        ttnn.operation_tracer.enable_tracing()
        try:
            yield tmp_path / "operation_parameters"
        finally:
            ttnn.operation_tracer.enable_tracing(False)
            ttnn.operation_tracer.enable_tensor_value_serialization(False)


def test_calls_are_logged_as_files(device: ttnn.MeshDevice, traced: Path) -> None:
    tensor = ttnn.from_torch(torch.tensor([[1.0, 2.0]]), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.operation_tracer.enable_tensor_value_serialization()
    # `hardswish` calls other operators, which belong to it.
    ttnn.hardswish(tensor, memory_config=ttnn.L1_MEMORY_CONFIG)
    files = sorted(traced.glob("*.json"), key=lambda path: int(path.name.split("_")[0]))
    calls = [json.loads(file.read_text()) for file in files]
    assert [call["operation_name"] for call in calls] == ["ttnn.from_torch", "ttnn.hardswish"]
    made, activated = calls
    assert made["args"][0]["value"] == {"type": "torch.Tensor", "shape": [1, 2], "dtype": "torch.float32"}
    assert made["kwargs"]["device"]["type"] == "MeshDevice"
    operand = activated["args"][0]["value"]
    assert operand["values"] == [[1.0, 2.0]]
    assert operand["mesh_device"]["shape"] == [1, 1]
    assert activated["kwargs"]["memory_config"]["buffer_type"] == "BufferType.L1"
    assert activated["return_value"]["shape"] == [1, 2]


def test_nothing_is_logged_when_tracing_is_off(device: ttnn.MeshDevice, traced: Path) -> None:
    ttnn.operation_tracer._ENABLE_TRACE = False
    assert not ttnn.operation_tracer.is_tracing_enabled()
    ttnn.ones((1, 1), device=device)
    assert not traced.exists()


def test_distances_in_units_in_the_last_place() -> None:
    comparison = ttnn.comparison
    ones = torch.tensor([1.0, 2.0, 0.0], dtype=torch.bfloat16)
    assert comparison.ulp(ones)[:2].tolist() == [2.0**-7, 2.0**-6]
    limit = torch.tensor([torch.finfo(torch.bfloat16).max], dtype=torch.bfloat16)
    assert bool(torch.isfinite(comparison.ulp(limit)).all())
    off = ones + torch.tensor([2.0**-7, 0.0, 0.0], dtype=torch.bfloat16)
    assert comparison.comp_ulp(ones, off, 1) == (True, "Max ULP Delta: 1.0")
    within, text = comparison.comp_ulp(ones, off, 0.5)
    assert not within
    assert "@ [0] = |1.0078125 - 1.0| / 0.0078125" in text
    broken = torch.tensor([1.0, float("nan")])
    assert comparison.comp_ulp(broken, broken, 0) == (False, "Calculated tensor contains non-finite values")
    assert comparison.comp_ulp(broken, broken, 0, allow_nonfinite=True)[0]
    assert comparison.comp_ulp(torch.tensor([1.0, 2.0]), broken, 9, allow_nonfinite=True)[1].startswith(
        "Tensors are not"
    )


def test_correlation_of_tensors() -> None:
    pcc = ttnn.comparison.comp_pcc
    values = torch.tensor(np.random.default_rng(3).standard_normal(64))
    assert pcc(values, values) == (True, 1.0)
    matches, found = pcc(values, -values)
    assert not matches
    assert found == pytest.approx(-1.0)
    nan = torch.full((4,), float("nan"))
    assert pcc(nan, nan) == (True, 1.0)
    assert pcc(nan, torch.ones(4)) == (False, 0.0)
    assert pcc(torch.zeros(4), torch.ones(4)) == (False, 0.0)
    assert pcc(torch.ones(4), torch.ones(4) * 1.00001) == (True, 1.0)
    assert pcc(torch.ones(4), torch.full((4,), 1.1)) == (False, 0.0)


def test_arguments_of_captured_calls_as_json() -> None:
    convert = ttnn.graph_tracer_utils.GraphTracerUtils.serialize_arguments_to_json
    memory = (
        "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,shard_spec=std::nullopt)"
    )
    found = convert("op", ["Shape([1, 4, 2048, 128])", "DataType::BFLOAT16", memory, "{}", "f(a, b)"])
    assert found is not None
    shape, dtype, config, nothing, other = found["arguments"]
    assert shape == {"arg0": {"Shape": [1, 4, 2048, 128]}}
    assert dtype == {"arg1": "DataType::BFLOAT16"}
    assert config["arg2"]["MemoryConfig"]["buffer_type"] == "BufferType::L1"
    assert config["arg2"]["MemoryConfig"]["shard_spec"] == "std::nullopt"
    assert nothing == {"arg3": "{}"}
    assert "f(a, b)" in other["UnparsedElement"]["element_info"]
    assert convert("", []) is None


def test_the_queue_of_another_thread_is_its_own() -> None:
    ttnn.decorators.push_current_command_queue_id_for_thread(1)
    try:
        found: list[int] = []
        get = ttnn.decorators.get_current_command_queue_id_for_thread
        thread = threading.Thread(target=lambda: found.append(int(get())))
        thread.start()
        thread.join()
        assert found == [0]
    finally:
        ttnn.decorators.pop_current_command_queue_id_for_thread()
