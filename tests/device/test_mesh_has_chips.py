"""A mesh has chips: chip properties, and actions on all chips."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ttnn
from ttnn import _engine
from ttnn.base.exceptions import AddressError, DeviceError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.chip import Chip, power_up
from ttnn.device.dispatch import Dispatch

BY_ROWS = Dispatch(ttnn.DispatchCoreType.WORKER, ttnn.DispatchCoreAxis.ROW)
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
def test_a_chip_answers_what_it_is(
    name: str, arch: ttnn.Arch, grid: tuple[int, int], axis: ttnn.DispatchCoreAxis
) -> None:
    dispatch = Dispatch(ttnn.DispatchCoreType.WORKER, axis)
    engine, (first, second) = power_up([3, 5], name, {}, dispatch)
    for place, chip in enumerate((first, second)):
        assert (chip.id, chip.place, chip.arch, chip.grid, chip.dispatch) == (
            3 + 2 * place,
            place,
            arch,
            grid,
            dispatch,
        )
        assert chip.facts == _engine.chip_info(name)
        assert chip.engine.places == [place]
    assert engine.places == [0, 1]
    engine.close()
    assert not first.engine.is_open


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
    assert [chip.engine.is_open for chip in mesh.chips] == [False]
    with pytest.raises(DeviceError, match=r"^close_device: device 7 is closed"):
        mesh.close()


def test_a_capture_stops_all_chips_until_it_ends(mesh: ttnn.MeshDevice) -> None:
    trace = ttnn.begin_trace_capture(mesh)
    assert all(chip.engine.failure is not None for chip in mesh.chips)
    ttnn.end_trace_capture(mesh, trace)
    assert all(chip.engine.failure is None for chip in mesh.chips)


def test_a_buffer_has_contents_on_each_chip() -> None:
    engine, chips = power_up([0, 1, 2], "n150", {}, BY_ROWS)
    raw = [np.full(TILES.raw_bytes, number, np.uint8) for number in range(4)]
    row = TILES.page_grid[1] * TILES.page_bytes
    buffer = engine.allocate_interleaved(0, TILES.page_bytes, TILES.num_pages, 2)
    buffer.write(raw[3], row)
    buffer.write(raw[1], row, place=1)
    part = buffer.on([0, 2])
    part.write(raw[2], row, place=2)
    read = [buffer.read(row, 2, place=chip.place)[0] for chip in chips]
    assert read == [3, 1, 2]
    assert (buffer.places, part.places, part.address) == ([0, 1, 2], [0, 2], buffer.address)
    with pytest.raises(DeviceError, match=r"no chips at places \[1\]; there are chips at \[0, 2\]"):
        part.read(row, 2, place=1)
    buffer.deallocate()
    assert not part.is_allocated
    engine.close()


def test_unwritten_pages_are_known_by_chip() -> None:
    engine, _ = power_up([0, 1], "n150", {}, BY_ROWS)
    buffer = engine.allocate_interleaved(0, 64, 1, 1)
    buffer.write(np.zeros(64, np.uint8), 64, place=1)
    assert buffer.read(64, 1, require_written=True, place=1).size == 64
    with pytest.raises(AddressError, match="never written"):
        buffer.read(64, 1, require_written=True, place=0)
    engine.close()
