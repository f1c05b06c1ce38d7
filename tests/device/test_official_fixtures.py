"""Official fixture calls: opening, attributes, and the cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import ttnn


class CacheEntries:
    """A program cache entry counter, attached as by fixtures."""

    def __init__(self, device: ttnn.MeshDevice) -> None:
        self.device = device
        self.total = 0

    def measured(self, run: Any) -> None:
        before = self.device.num_program_cache_entries()
        run()
        self.total += self.device.num_program_cache_entries() - before


@pytest.fixture
def default_device() -> Any:
    given = ttnn.GetDefaultDevice()
    yield
    ttnn.SetDefaultDevice(given)


def test_device_fixture_counts_cache_entries_of_an_operator(default_device: None) -> None:
    assert ttnn.GetNumPCIeDevices() > 0
    assert ttnn.GetPCIeDeviceID(0) == 0
    assert ttnn.cluster.get_cluster_type() not in (ttnn.cluster.ClusterType.TG, ttnn.cluster.ClusterType.GALAXY)
    device = ttnn.CreateDevice(device_id=1, dispatch_core_config=ttnn.DispatchCoreConfig(None, None))
    ttnn.SetDefaultDevice(device)
    device.cache_entries_counter = CacheEntries(device)
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    for _ in range(2):
        device.cache_entries_counter.measured(lambda: ttnn.relu(x))
    assert device.cache_entries_counter.total == 1
    device.disable_and_clear_program_cache()
    ttnn.SetDefaultDevice(None)
    assert ttnn.GetDefaultDevice() is None
    ttnn.close_device(device)


def test_mesh_fixture_of_one_chip(default_device: None) -> None:
    chips = ttnn._ttnn.multi_device.SystemMeshDescriptor().shape().mesh_size()
    assert chips == ttnn.get_num_devices() == len(ttnn.get_pcie_device_ids()) == len(ttnn.get_device_ids())
    assert not ttnn.using_distributed_env()
    ttnn.set_fabric_config(
        ttnn.FabricConfig.DISABLED,
        ttnn.FabricReliabilityMode.STRICT_INIT,
        None,
        ttnn.FabricTensixConfig.DISABLED,
        ttnn.FabricUDMMode.DISABLED,
        ttnn.FabricManagerMode.DEFAULT,
    )
    mesh = ttnn.open_mesh_device(
        mesh_shape=ttnn.MeshShape(1, chips), dispatch_core_config=ttnn.DispatchCoreConfig(None, None)
    )
    mesh.cache_entries_counter = CacheEntries(mesh)
    assert mesh.cache_entries_counter.device is mesh
    assert mesh.get_num_devices() == chips
    for submesh in mesh.get_submeshes():
        ttnn.close_mesh_device(submesh)
    ttnn.close_mesh_device(mesh)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def test_attributes_of_a_device_are_its_own() -> None:
    first, second = ttnn.open_device(device_id=1), ttnn.open_device(device_id=2)
    first.note = 1
    assert first.note == 1
    assert not hasattr(second, "note")
    ttnn.close_device(first)
    assert first.note == 1
    ttnn.close_device(second)


def test_device_with_attributes_that_refer_to_it_is_freed() -> None:
    import gc
    import weakref

    device = ttnn.open_device(device_id=1)
    device.counter = CacheEntries(device)
    ttnn.close_device(device)
    seen = weakref.ref(device)
    del device
    gc.collect()
    assert seen() is None


def test_router_configuration_of_the_fabric_is_accepted() -> None:
    router = ttnn.FabricRouterConfig()
    router.max_packet_payload_size_bytes = 4352
    ttnn.set_fabric_config(
        ttnn.FabricConfig.DISABLED,
        ttnn.FabricReliabilityMode.STRICT_INIT,
        None,
        ttnn.FabricTensixConfig.DISABLED,
        ttnn.FabricUDMMode.DISABLED,
        ttnn.FabricManagerMode.DEFAULT,
        router,
    )
    assert router.max_packet_payload_size_bytes == 4352
    assert ttnn.get_fabric_config() is ttnn.FabricConfig.DISABLED


def test_fixture_around_a_test_restores_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    import ttnn.database

    original = ttnn.Config(ttnn.CONFIG)
    with ttnn.manage_config("report_name", "file.py::test: 2026-03-12 (UTC)"):
        assert str(ttnn.CONFIG.report_name) == "file.py::test: 2026-03-12 (UTC)"
        ttnn.database.DEVICE_IDS_IN_DATABASE.clear()
    assert ttnn.CONFIG.report_name == original.report_name
    assert ttnn.database.SQLITE_CONNECTION is None
    ttnn.tracer.disable_tracing()
    monkeypatch.setattr(ttnn, "CONFIG", original)
    assert ttnn.CONFIG.report_name == original.report_name


def test_flag_of_trace_params_records_the_parameters_of_operators(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import ttnn.operation_tracer

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ttnn.operation_tracer, "_ENABLE_TRACE", True)
    device = ttnn.open_device(device_id=1)
    ttnn.relu(ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device))
    ttnn.close_device(device)
    monkeypatch.setattr(ttnn.operation_tracer, "_ENABLE_TRACE", False)
    assert any("ttnn_relu" in file.name for file in tmp_path.rglob("*.json"))


@pytest.mark.skipif("TT_METAL_HOME" not in os.environ, reason="TT_METAL_HOME names no checkout of tt-metal")
@pytest.mark.parametrize(
    "test",
    [
        "operations/eltwise/test_relational.py::test_gtz",
        "base_functionality/test_global_semaphore.py",
        "base_functionality/test_multi_device_trace.py",
    ],
)
def test_official_tests_run_unmodified(test: str, tmp_path: Path) -> None:
    checkout = os.environ["TT_METAL_HOME"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={tmp_path / 'report.xml'}"]
    run = subprocess.run(
        [*command, f"tests/ttnn/unit_tests/{test}"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": checkout},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]
