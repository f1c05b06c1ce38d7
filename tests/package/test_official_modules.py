"""Official fixtures' modules and names besides operators."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import ArgumentError


@pytest.fixture
def restored() -> Iterator[None]:
    before = ttnn.Config(ttnn.CONFIG)
    yield
    ttnn.CONFIG = before


@pytest.mark.parametrize(
    "name", ["_ttnn", "cluster", "core", "database", "device", "distributed", "operations.activations", "types"]
)
def test_official_modules_are_imported_with_the_package(name: str) -> None:
    found: object = ttnn
    for part in name.split("."):
        found = getattr(found, part)
    assert importlib.import_module(f"ttnn.{name}") is found


def test_an_assigned_configuration_gives_its_switches(restored: None) -> None:
    one = ttnn.CONFIG
    changed = ttnn.Config(one)
    changed.comparison_mode_pcc = 0.5
    ttnn.CONFIG = changed
    assert ttnn.CONFIG is one
    assert one.comparison_mode_pcc == 0.5
    with pytest.raises(ttnn.ConfigError, match="expected a Config, got dict"):
        ttnn.CONFIG = {}  # type: ignore[assignment]


def test_a_convolution_has_the_official_defaults() -> None:
    config = ttnn.Conv2dConfig(activation=ttnn.UnaryOpType.RELU, shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    assert ttnn.Conv1dConfig is ttnn.Conv2dConfig
    assert (config.reallocate_halo_output, config.act_block_w_div, config.output_layout) == (True, 1, ttnn.TILE_LAYOUT)
    assert config.activation == ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    assert ttnn.Conv2dConfig.from_json(config.to_json()) == config
    with pytest.raises(ArgumentError, match=r"shard_layout must be TensorMemoryLayout \| None, got int 3"):
        config.shard_layout = 3  # type: ignore[assignment]


def test_slices_of_a_convolution() -> None:
    assert ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceWidth).num_slices == 0
    assert ttnn.Op2DSliceConfig.SliceTypeEnum.L1Full is ttnn.Op2DL1Full
    assert str(ttnn.Conv2dL1Full) == "SliceTypeEnum.L1Full"


def test_blocks_of_a_3d_convolution() -> None:
    config = ttnn.Conv3dConfig(dilation=(1, 2, 2), compute_with_storage_grid_size=[8, 4])
    assert config.dilation == [1, 2, 2]
    assert config.compute_with_storage_grid_size == ttnn.CoreCoord(8, 4)
    assert hash(config) == hash(ttnn.Conv3dConfig.from_json(config.to_json()))
    with pytest.raises(ArgumentError, match="dilation must be integers of at least 0"):
        config.dilation = [1, -1, 1]


def test_the_cluster_is_one_board() -> None:
    for chip in ("n150", "p150"):
        with ttnn.manage_device(0, chip=chip):
            assert ttnn.cluster.get_cluster_type() is ttnn.cluster.ClusterType[chip.upper()]
    assert ttnn._ttnn.multi_device.SystemMeshDescriptor().shape() == ttnn.MeshShape(1, 1)
    described = Path(ttnn.cluster.serialize_cluster_descriptor()).read_text()
    assert described.startswith("arch:\n  0: Wormhole\nchips:\n")


def test_fabric_is_disabled_by_default() -> None:
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
    assert ttnn.get_fabric_config() is ttnn.FabricConfig.DISABLED
    assert not ttnn.using_distributed_env()
    with pytest.raises(ttnn.FabricError, match="there is no fabric"):
        ttnn.get_tt_fabric_max_payload_size_bytes()


def test_pages_of_all_buffers_in_l1(device: ttnn.MeshDevice) -> None:
    reports = ttnn._ttnn.reports
    before = len(reports.get_buffer_pages(device))
    values = np.zeros((2, 64, 70), np.float32)
    half_made = ttnn.Tensor.__new__(ttnn.Tensor)  # what a constructor that raised leaves behind
    dram = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    tensor = ttnn.to_memory_config(dram, ttnn.L1_MEMORY_CONFIG)
    pages = [page for page in reports.get_buffer_pages([device]) if page.address == tensor.buffer_address()]
    assert len(reports.get_buffer_pages(device)) - before == len(pages) == 2 * 2 * 3
    assert [page.page_index for page in pages] == list(range(12))
    del half_made
    # Twelve of the banks have a page each: bank n is the n-th core, row by row.
    assert [(page.core_x, page.core_y, page.bank_id) for page in pages[7:9]] == [(7, 0, 7), (0, 1, 8)]
    assert {page.page_address for page in pages} == {tensor.buffer_address()}
    listed = {(buffer.address, buffer.buffer_type) for buffer in reports.get_buffers(device)}
    assert {(dram.buffer_address(), ttnn.BufferType.DRAM), (tensor.buffer_address(), ttnn.BufferType.L1)} <= listed
    with pytest.raises(ArgumentError, match=r"get_buffer_pages: expected a ttnn\.MeshDevice, got int"):
        reports.get_buffer_pages([3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "activation", ["relu", "relu_approx", ttnn.UnaryOpType.RELU, ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]
)
def test_golden_functions_of_activations(activation: object) -> None:
    golden = ttnn.operations.activations.get_golden_function_for_activation(activation)
    assert golden is not None
    assert golden(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]
    assert ttnn.operations.activations.get_golden_function_for_activation(None) is None
    with pytest.raises(ArgumentError, match="no operator is called relux"):
        ttnn.operations.activations.get_golden_function_for_activation("relux")


def test_tracer_without_a_trace_raises_argument_error() -> None:
    ttnn.tracer.disable_tracing()
    assert not ttnn.tracer.is_tracing_enabled()
    with pytest.raises(ArgumentError, match="there is no traced tensor"):
        ttnn.tracer.get_graph()


def test_divup_and_roundup_round_up() -> None:
    assert (ttnn.core.divup(7, 2), ttnn.core.roundup(33, 32)) == (4, 64)
