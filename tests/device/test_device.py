"""Devices: opening, closing, chip properties, memory layout, one-chip mesh refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttnn
from ttnn import _engine
from ttnn.device.device_info import get_device_info
from ttnn.device.lifecycle import get_dispatch_core_axis, get_optimal_dram_bank_to_logical_worker_assignment

CHIPS = {
    "n150": (ttnn.Arch.WORMHOLE_B0, (8, 8), 12, 1_499_136, 105_824, 32),
    "n300": (ttnn.Arch.WORMHOLE_B0, (8, 8), 12, 1_499_136, 105_824, 32),
    "galaxy": (ttnn.Arch.WORMHOLE_B0, (8, 9), 12, 1_499_136, 105_824, 32),
    "p100": (ttnn.Arch.BLACKHOLE, (11, 10), 7, 1_572_864, 111_744, 64),
    "p150": (ttnn.Arch.BLACKHOLE, (13, 10), 8, 1_572_864, 111_744, 64),
    "p300": (ttnn.Arch.BLACKHOLE, (11, 10), 8, 1_572_864, 111_744, 64),
}


def recorded(golden: Path) -> dict[str, Any]:
    """Return what the official package reported about each board."""
    devices: dict[str, Any] = json.loads((golden / "host" / "host_behaviour.json").read_text())["devices"]
    return devices


@pytest.mark.parametrize("chip", CHIPS)
def test_a_chip_is_what_its_data_says(chip: str) -> None:
    arch, grid, banks, l1_bytes, l1_base, circular_buffers = CHIPS[chip]
    with ttnn.manage_device(0, chip=chip) as device:
        assert device.arch() is arch
        assert device.compute_with_storage_grid_size() == grid
        assert device.core_grid == ttnn.CoreGrid(x=grid[0], y=grid[1])
        assert device.dram_grid_size() == (banks, 1)
        assert device.chip["circular_buffers"] == circular_buffers
        view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
        assert view.num_banks == grid[0] * grid[1]
        assert view.total_bytes_per_bank == l1_bytes - l1_base
        assert ttnn.get_allocator_base_address(device, ttnn.BufferType.L1) == l1_base
        corner = ttnn.CoreCoord(grid[0] - 1, grid[1] - 1)
        assert device.logical_core_from_worker_core(device.worker_core_from_logical_core(corner)) == corner


def test_chip_names_and_sizes() -> None:
    assert _engine.chip_names() == list(CHIPS)
    n150, p150 = _engine.chip_info("n150"), _engine.chip_info("p150")
    assert (n150["aiclk_mhz"], p150["aiclk_mhz"]) == (1000, 1350)
    assert n150["dram_bank_bytes"] - n150["dram_base"] == 1_072_693_184
    assert p150["dram_bank_bytes"] - p150["dram_base"] == 4_277_141_376
    assert (n150["harvested"], p150["harvested"]) == (("rows", 1), ("columns", 0))


@pytest.mark.parametrize("chip", ["n150", "p150"])
def test_coordinates_are_the_recorded_ones(chip: str, golden: Path) -> None:
    expected = recorded(golden)[chip]
    with ttnn.manage_device(0, chip=chip) as device:
        assert str(device.arch()) == expected["arch"]
        assert list(device.chip["grid"]) == expected["grid"]
        assert list(device.chip["dram_grid"]) == expected["dram_grid"]
        assert device.chip["l1_alignment"] == expected["l1_alignment"]
        assert device.chip["dram_alignment"] == expected["dram_alignment"]
        assert device.chip["max_worker_l1_unreserved"] == expected["max_worker_l1_unreserved"]
        assert ttnn.get_allocator_base_address(device, ttnn.BufferType.DRAM) == expected["base_dram"]
        assert ttnn.get_allocator_base_address(device, ttnn.BufferType.L1) == expected["base_l1"]
        for logical, (x, y) in expected["worker_coords"].items():
            core = ttnn.CoreCoord(*(int(part) for part in logical.split(",")))
            assert device.worker_core_from_logical_core(core) == (x, y)
        for bank, (x, y) in enumerate(expected["dram_cores"]):
            assert device.dram_core_from_logical_core(ttnn.CoreCoord(bank, 0)) == (x, y)
        for noc, name in ((ttnn.NOC.RISCV_0_default, "noc0"), (ttnn.NOC.RISCV_1_default, "noc1")):
            workers = get_optimal_dram_bank_to_logical_worker_assignment(device, noc)
            assert [[core.x, core.y] for core in workers] == expected[f"optimal_dram_workers_{name}"]


@pytest.mark.parametrize("chip", ["n150", "p150"])
def test_addresses_are_the_recorded_ones(chip: str, golden: Path) -> None:
    expected = recorded(golden)[chip]
    with ttnn.manage_device(0, chip=chip) as device:
        buffers = []
        for step in expected["allocation_sequence"]:
            kind = ttnn.BufferType[step["buffer"].removeprefix("BufferType.")]
            buffers.append(device.engine.allocate_interleaved(kind.value, step["page"], step["pages"]))
            assert (buffers[-1].address, buffers[-1].aligned_page_bytes) == (step["address"], step["aligned_page"])
        second = expected["allocation_sequence"][1]
        buffers[1].deallocate()
        again = device.engine.allocate_interleaved(0, second["page"], second["pages"])
        assert again.address == expected["realloc_after_free_second"]


def test_sfpu_constants_are_the_recorded_ones(device: ttnn.MeshDevice) -> None:
    assert device.sfpu_eps() == 1.1920899822825959e-07
    assert device.sfpu_nan() == 7.0039998997052e19
    assert device.sfpu_inf() == 1.7013999693950742e38


def test_figures_follow_the_chosen_generation() -> None:
    with ttnn.manage_config("arch_name", "wormhole_b0"):
        assert (ttnn.get_max_worker_l1_unreserved_size(), ttnn.get_dram_alignment()) == (1_463_968, 32)
        assert ttnn.get_arch_name() == "wormhole_b0"
        assert ttnn.is_wormhole_b0()
        assert not ttnn.is_blackhole()
    with ttnn.manage_config("arch_name", "blackhole"):
        assert (ttnn.get_max_worker_l1_unreserved_size(), ttnn.get_dram_alignment()) == (1_531_776, 64)
        assert ttnn.get_l1_alignment() == 16
        with ttnn.manage_device(0) as device:
            assert device.chip["name"] == "p150"
            assert ttnn.is_blackhole(device)


def test_mesh_of_one_chip_has_its_shape_and_devices(device: ttnn.MeshDevice) -> None:
    assert repr(device) == "MeshDevice(1x1 grid, 1 devices)"
    assert (device.shape, repr(device.shape), device.shape.mesh_size()) == (
        ttnn.MeshShape(1, 1),
        "MeshShape([1, 1])",
        1,
    )
    assert (device.id(), device.get_num_devices(), device.get_device_ids()) == (0, 1, [0])
    assert device.get_device_id(ttnn.MeshCoordinate(0, 0)) == 0
    assert device.get_submeshes() == []
    device.reshape(ttnn.MeshShape([1, 1]))
    device.quiesce_devices()
    assert ttnn.Device is ttnn.MeshDevice


def test_cards_exist_when_they_are_open(device: ttnn.MeshDevice) -> None:
    assert (ttnn.get_device_ids(), ttnn.GetNumAvailableDevices()) == ([0], 1)
    with ttnn.manage_device(3, chip="p150") as second:
        assert (ttnn.get_device_ids(), ttnn.get_num_devices(), second.id()) == ([0, 3], 2, 3)
        assert ttnn.GetPCIeDeviceID(3) == 3
    assert ttnn.get_device_ids() == [0]


def test_every_open_function_opens_a_device() -> None:
    ttnn.CloseDevice(ttnn.CreateDevice(0, 2, 32768))
    ttnn.CloseDevices(ttnn.CreateDevices([0, 1]))
    ttnn.close_mesh_device(ttnn.open_mesh_device(ttnn.MeshShape(1, 1), l1_small_size=16384))
    with ttnn.create_mesh_device(physical_device_ids=[2]) as device:
        assert device.id() == 2
    with ttnn.manage_device(device_id=0) as device:
        assert device.is_open
    assert not device.is_open


def test_unreferenced_device_can_be_opened_again() -> None:
    ttnn.open_device(device_id=0)
    second = ttnn.open_device(device_id=0)
    assert second.is_open
    ttnn.close_device(second)
    assert not second.is_open


def test_opening_several_leaves_none_open_if_one_fails() -> None:
    with ttnn.manage_device(1), pytest.raises(ttnn.DeviceError):
        ttnn.CreateDevices([0, 1])
    assert ttnn.get_device_ids() == [0]
    ttnn.close_device(ttnn.open_device(device_id=0))


def test_default_device_is_set_and_cleared(device: ttnn.MeshDevice) -> None:
    assert ttnn.GetDefaultDevice() is None
    ttnn.SetDefaultDevice(device)
    assert ttnn.GetDefaultDevice() is device
    ttnn.SetDefaultDevice(None)
    assert ttnn.GetDefaultDevice() is None
    ttnn.SetDefaultDevice(device)
    ttnn.close_device(device)
    assert ttnn.GetDefaultDevice() is None


def test_dispatch_cores_are_the_chips_own() -> None:
    own = ttnn.DispatchCoreConfig()
    assert (own.type, own.axis) == (ttnn.DispatchCoreType.WORKER, ttnn.DispatchCoreAxis.ROW)
    assert own == ttnn.DispatchCoreConfig(axis=ttnn.DispatchCoreAxis.ROW)
    for chip, axis in (("n150", ttnn.DispatchCoreAxis.ROW), ("p150", ttnn.DispatchCoreAxis.COL)):
        device = ttnn.open_device(device_id=0, dispatch_core_config=own, chip=chip)
        assert get_dispatch_core_axis(device) is axis
        ttnn.close_device(device)
    by_rows = ttnn.DispatchCoreConfig(axis=ttnn.DispatchCoreAxis.ROW)
    with pytest.raises(ttnn.UnsupportedError, match="ROW dispatch core axis is not supported for blackhole"):
        ttnn.open_device(device_id=0, dispatch_core_config=by_rows, chip="p150")


@pytest.mark.parametrize(("chip", "grid"), [("n150", (7, 9)), ("n300", (7, 8))])
def test_dispatch_takes_a_column_if_asked_to(chip: str, grid: tuple[int, int]) -> None:
    columns = ttnn.DispatchCoreConfig(axis=ttnn.DispatchCoreAxis.COL)
    device = ttnn.open_device(device_id=0, dispatch_core_config=columns, chip=chip)
    assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(*grid)
    assert get_dispatch_core_axis(device) is ttnn.DispatchCoreAxis.COL
    info = get_device_info(device)
    assert (info.num_x_cores, info.num_y_cores) == (8, grid[1])
    last = ttnn.CoreCoord(grid[0] - 1, grid[1] - 1)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(last, last)])
    shards = ttnn.ShardSpec(cores, (32, 32), ttnn.ShardOrientation.ROW_MAJOR)
    place = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
    one = ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=place)
    assert ttnn.to_torch(ttnn.add(one, one)).tolist() == [[2.0] * 32] * 32
    ttnn.close_device(device)


def test_the_program_cache_counts(device: ttnn.MeshDevice) -> None:
    small, large = (
        ttnn.ones([size, size], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for size in (32, 64)
    )
    device.clear_program_cache()
    counts = []
    for call in (
        lambda: ttnn.exp(small),
        lambda: ttnn.exp(small),  # the same program
        lambda: ttnn.exp(large),
        lambda: ttnn.exp(large, memory_config=ttnn.L1_MEMORY_CONFIG),
        lambda: ttnn.add(small, 1),
        lambda: ttnn.add(small, 2.5),  # the number is an argument of the program
        lambda: ttnn.matmul(small, small),
        lambda: ttnn.sum(small, dim=0),
        lambda: ttnn.sum(small, dim=1),
        lambda: ttnn.unsqueeze(small, 0),  # a view
        lambda: ttnn.to_torch(small),
    ):
        call()
        counts.append(device.num_program_cache_entries())
    assert counts == [1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 7]
    device.set_program_cache_misses_allowed(False)
    ttnn.exp(small)
    with pytest.raises(ttnn.DeviceError, match="program cache misses are not allowed"):
        ttnn.sqrt(small)
    device.set_program_cache_misses_allowed(True)
    device.clear_program_cache()
    assert device.num_program_cache_entries() == 0
    device.disable_and_clear_program_cache()
    ttnn.exp(small)
    assert device.num_program_cache_entries() == 0
    device.enable_program_cache()
    ttnn.exp(small)
    assert device.num_program_cache_entries() == 1


def test_memory_views_show_fragmentation(device: ttnn.MeshDevice) -> None:
    buffers = [device.engine.allocate_interleaved(1, 2048, 64) for _ in range(3)]
    buffers[1].deallocate()
    view = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    assert (view.total_bytes_allocated_per_bank, view.total_bytes_free_per_bank) == (4096, 1_389_216)
    assert view.largest_contiguous_bytes_free_per_bank == 1_387_168
    by_address = [(block["address"], block["size"], block["allocated"]) for block in view.block_table]
    assert by_address == [
        ("105824", "1387168", "no"),
        ("1492992", "2048", "yes"),
        ("1495040", "2048", "no"),
        ("1497088", "2048", "yes"),
    ]
    links = {block["blockID"]: block for block in view.block_table}
    first = view.block_table[0]
    assert first["prevID"] == "-1"
    assert links[first["nextID"]]["address"] == "1492992"
    assert device.engine.block_table(1) == view.block_table
    assert device.engine.lowest_l1_address() == 1_492_992


def test_memory_dump_writes_a_summary_per_buffer_type(device: ttnn.MeshDevice, tmp_path: Path) -> None:
    kept = device.engine.allocate_interleaved(0, 2048, 100)
    with ttnn.manage_config("root_report_path", tmp_path / "reports"):
        ttnn.dump_device_memory_state(device, prefix="before_")
    with (tmp_path / "reports" / "before_memory_usage_summary.csv").open() as file:
        rows = {row["buffer_type"]: row for row in csv.DictReader(file)}
    assert rows["DRAM"]["allocated"] == str(9 * 2048)
    assert rows["L1_SMALL"]["total"] == "0"
    with (tmp_path / "reports" / "before_memory_buffers.csv").open() as file:
        assert [row["address"] for row in csv.DictReader(file)] == [str(kept.address)]
    assert len((tmp_path / "reports" / "before_memory_blocks.csv").read_text().splitlines()) == 1 + 2 + 1


def test_reserved_regions_reduce_the_free_memory(device: ttnn.MeshDevice) -> None:
    ttnn.close_device(device)
    opened = ttnn.open_device(device_id=0, l1_small_size=32768, trace_region_size=1 << 20, worker_l1_size=1_000_000)
    sizes = [ttnn.get_memory_view(opened, kind).total_bytes_per_bank for kind in ttnn.BufferType]
    assert sizes == [1_072_693_184 - (1 << 20), 1_000_000 - 32768, 32768, 1 << 20]
    ttnn.close_device(opened)


def test_pages_keep_their_bytes_in_any_placement(device: ttnn.MeshDevice) -> None:
    data = np.random.default_rng(1).integers(0, 256, 24 * 2048, dtype=np.uint8)
    cores = [(0, 0), (5, 1), (2, 7), (7, 7)]
    for buffer in (
        device.engine.allocate_interleaved(0, 2048, 24, 6),
        device.engine.allocate_interleaved(1, 2048, 24, 6),
        device.engine.allocate_sharded(1, 2048, (4, 6), (2, 3), cores),
    ):
        data.flags.writeable = False
        buffer.write(data, 6 * 2048)
        assert np.array_equal(buffer.read(6 * 2048, 4, require_written=True), data)


def test_synchronize_accepts_queues_and_sub_devices(device: ttnn.MeshDevice) -> None:
    ttnn.synchronize_device(device)
    ttnn.synchronize_device(device, cq_id=ttnn.QueueId(0))
    with pytest.raises(ttnn.DeviceError, match="has 1 command queues, not 1"):
        ttnn.synchronize_device(device, 1)
    ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(0)])
    with pytest.raises(ttnn.DeviceError, match="sub-device 1 of 1 does not exist"):
        ttnn.synchronize_device(device, sub_device_ids=[ttnn.SubDeviceId(1)])


def test_a_device_of_one_chip_is_a_mesh(device: ttnn.MeshDevice) -> None:
    whole = device.create_submesh(ttnn.MeshShape(1, 1))
    assert (whole.get_device_ids(), device.get_submeshes()) == (device.get_device_ids(), [whole])
    assert [part.shape for part in device.create_submeshes(ttnn.MeshShape(1, 1))] == [device.shape]
    assert str(device.get_fabric_node_id(ttnn.MeshCoordinate(0, 0))) == "FabricNodeId(M0, D0)"
    assert (device.get_system_mesh_id(), device.get_view().num_devices()) == (0, 1)


def test_mesh_coordinates_behave_like_sequences() -> None:
    shape = ttnn.MeshShape([2, 3])
    assert (list(shape), len(shape), shape[1], shape.dims(), shape.mesh_size()) == ([2, 3], 2, 3, 2, 6)
    assert ttnn.MeshCoordinate(0, 1) == ttnn.MeshCoordinate([0, 1])
    assert hash(ttnn.MeshCoordinate(0, 1)) == hash(ttnn.MeshCoordinate([0, 1]))
    assert repr(ttnn.MeshCoordinate(0, 1)) == "MeshCoordinate([0, 1])"
    assert (int(ttnn.QueueId(1)), repr(ttnn.QueueId(1))) == (1, "QueueId(1)")
    with pytest.raises(ttnn.IndexRangeError):
        shape[2]
    assert (repr(ttnn.MeshShape(2, 3, 4)), repr(ttnn.MeshShape([8]))) == ("MeshShape([2, 3, 4])", "MeshShape([8])")
    for bad in ((), (-1, 2), ("a",), (1.5, 2), (8,), (1, 2, 3, 4)):
        with pytest.raises(ttnn.ArgumentError):
            ttnn.MeshShape(*bad)


def test_trace_functions_reject_tensors(device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    for call in (ttnn.release_trace, ttnn.execute_trace, ttnn.end_trace_capture):
        with pytest.raises(ttnn.ArgumentError, match="expected the id of a trace"):
            call(device, torch.ones(2))
