"""A mesh has chips: chip properties, and actions on all chips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import ttnn
from ttnn import _engine
from ttnn.base.exceptions import DeviceError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.chip import Chip
from ttnn.tensor import transfer

TILES = TensorSpec.of((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT)


@pytest.fixture
def mesh() -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=7)
    yield opened
    if opened.is_open:
        ttnn.close_device(opened)


def test_a_mesh_is_no_chip() -> None:
    assert not issubclass(ttnn.MeshDevice, Chip)


def test_a_mesh_of_one_has_one_chip(mesh: ttnn.MeshDevice) -> None:
    assert [type(chip) for chip in mesh.chips] == [Chip]
    assert (mesh.get_num_devices(), mesh.get_device_ids(), mesh.shape) == (1, [7], ttnn.MeshShape(1, 1))
    assert repr(mesh) == "MeshDevice(1x1 grid, 1 devices)"


@pytest.mark.parametrize(
    ("name", "arch", "grid", "axis"),
    [
        ("n150", ttnn.Arch.WORMHOLE_B0, (8, 8), ttnn.DispatchCoreAxis.ROW),
        ("p150", ttnn.Arch.BLACKHOLE, (13, 10), ttnn.DispatchCoreAxis.COL),
    ],
)
def test_a_chip_answers_what_it_is(name: str, arch: ttnn.Arch, grid: tuple[int, int], axis: object) -> None:
    chip = Chip(3, name, {})
    assert (chip.id, chip.arch, chip.grid, chip.dispatch_axis) == (3, arch, grid, axis)
    assert chip.facts == _engine.chip_info(name)
    assert chip.is_open
    chip.close()
    assert not chip.is_open


def test_a_mesh_answers_through_its_chip(mesh: ttnn.MeshDevice) -> None:
    (chip,) = mesh.chips
    assert mesh.engine is chip.engine
    assert mesh.chip is chip.facts
    assert (mesh.id(), mesh.arch()) == (chip.id, chip.arch)
    assert mesh.chip_at("test", ttnn.MeshCoordinate(0, 0)) is chip
    core = mesh.worker_core_from_logical_core((7, 7))
    assert core == chip.worker_core_from_logical_core((7, 7))
    assert mesh.logical_core_from_worker_core(core) == ttnn.CoreCoord(7, 7)
    with pytest.raises(DeviceError, match=r"^test: MeshCoordinate\(\[0, 1\]\) is outside the mesh MeshShape"):
        mesh.chip_at("test", ttnn.MeshCoordinate(0, 1))


def test_closing_a_mesh_closes_its_chips(mesh: ttnn.MeshDevice) -> None:
    ttnn.close_device(mesh)
    assert not mesh.is_open
    assert [chip.is_open for chip in mesh.chips] == [False]
    with pytest.raises(DeviceError, match=r"^close_device: device 7 is closed"):
        mesh.close()


def test_a_capture_stops_all_chips_until_it_ends(mesh: ttnn.MeshDevice) -> None:
    trace = ttnn.begin_trace_capture(mesh)
    assert all(chip.engine.failure is not None for chip in mesh.chips)
    ttnn.end_trace_capture(mesh, trace)
    assert all(chip.engine.failure is None for chip in mesh.chips)


def test_a_tensor_has_a_buffer_for_each_chip(mesh: ttnn.MeshDevice) -> None:
    buffers = transfer.allocate(TILES, mesh)
    assert len(buffers) == len(mesh.chips)
    values = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64).bfloat16()
    raw = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT)._require_host("test")
    transfer.write(buffers, TILES, raw)
    for buffer in buffers:
        assert transfer.read([buffer], TILES).tobytes() == raw.tobytes()


def test_two_chips_keep_the_same_bytes_of_a_replicated_tensor() -> None:
    # Chips without a mesh: meshes of several are not implemented, the functions below them are.
    chips = [Chip(number, "n150", {}) for number in (0, 1)]
    raw = ttnn.from_torch(torch.full((64, 64), 3.0), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)._require_host("test")
    buffers = [chip.engine.allocate_interleaved(0, TILES.page_bytes, TILES.num_pages, 2) for chip in chips]
    assert buffers[0].address == buffers[1].address
    transfer.write(buffers, TILES, raw)
    assert [transfer.read([buffer], TILES).tobytes() for buffer in buffers] == [raw.tobytes()] * 2
    for chip in chips:
        chip.close()
