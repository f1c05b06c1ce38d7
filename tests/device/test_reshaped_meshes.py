"""Shapes of open meshes, and the chips that the host reaches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import ttnn
from ttnn.base.config import manage_config
from ttnn.base.exceptions import DeviceError
from ttnn.device.systems import named_systems


@contextmanager
def mesh(system: str, *shape: int) -> Iterator[ttnn.MeshDevice]:
    with manage_config("system", system):
        device = ttnn.open_mesh_device(ttnn.MeshShape(*shape))
        try:
            yield device
        finally:
            ttnn.close_mesh_device(device)


def test_shapes_of_one_row_follow_the_mesh() -> None:
    """The recorded calls, one after the other."""
    with mesh("t3k", 1, 8) as device:
        found = []
        for shape in ((2, 4), (1, 8), (4, 2), (1, 8), (8, 1)):
            device.reshape(ttnn.MeshShape(*shape))
            found.append(device.get_device_ids())
            assert repr(device) == f"MeshDevice({shape[0]}x{shape[1]} grid, 8 devices)"
        assert found == [
            [4, 0, 2, 6, 5, 1, 3, 7],
            [4, 0, 2, 6, 7, 3, 1, 5],
            [4, 5, 0, 1, 2, 3, 6, 7],
            [4, 5, 1, 3, 7, 6, 2, 0],
            [4, 5, 1, 3, 7, 6, 2, 0],
        ]


def test_shapes_that_are_none_of_the_system() -> None:
    with mesh("galaxy", 4, 8) as device:
        with pytest.raises(
            DeviceError, match=r"Requested mesh is too big and is not rotatable: MeshShape\(\[2, 16\]\)"
        ):
            device.reshape(ttnn.MeshShape(2, 16))
        assert device.shape == ttnn.MeshShape(4, 8)
    # Chips that the system mesh has not there keep their order, if they have links.
    t3k = named_systems()["t3k"]
    with pytest.raises(DeviceError, match=r"MeshShape\(\[2, 2\]\) makes chips 2 and 7 neighbours; they have no link"):
        t3k.reshaped((2, 3, 7, 6), (1, 4), (2, 2))
    assert t3k.reshaped((2, 6, 3, 7), (1, 4), (2, 2)) == (2, 6, 3, 7)


def test_a_closed_mesh_keeps_its_shape() -> None:
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    submesh = mesh.create_submesh(ttnn.MeshShape(1, 2))
    ttnn.close_mesh_device(mesh)
    for closed, shape in ((mesh, ttnn.MeshShape(1, 8)), (submesh, ttnn.MeshShape(2, 1))):
        with pytest.raises(DeviceError, match=r"^reshape: device \d is closed"):
            closed.reshape(shape)


def test_parts_go_to_the_coordinates_of_the_shape() -> None:
    values = np.arange(8 * 32 * 32, dtype=np.float32).reshape(8 * 32, 32)
    with mesh("t3k", 1, 8) as device:
        device.reshape(ttnn.MeshShape(2, 4))
        tensor = ttnn.Tensor(
            values, ttnn.float32, device, ttnn.TILE_LAYOUT, mesh_mapper=ttnn.ShardTensorToMesh(device, 0)
        )
        parts = [part.to_numpy() for part in ttnn.get_device_tensors(tensor)]
        np.testing.assert_array_equal(np.concatenate(parts), values)
        np.testing.assert_array_equal(tensor.to_numpy(ttnn.ConcatMeshToTensor(device, 0)), values)
        ids = [line.split()[1] for line in str(tensor).splitlines() if line.startswith("device_id")]
        assert ids == ["4,", "0,", "2,", "6,", "5,", "1,", "3,", "7,"]
        # The chips keep their data, and get other coordinates.
        device.reshape(ttnn.MeshShape(1, 8))
        parts = [part.to_numpy() for part in ttnn.get_device_tensors(tensor)]
        order = [0, 1, 2, 3, 7, 6, 5, 4]
        np.testing.assert_array_equal(np.concatenate(parts), values.reshape(8, 32, 32)[order].reshape(values.shape))


def test_chips_of_the_host() -> None:
    with mesh("t3k", 2, 4) as device:
        assert device.id() == 0
        assert ttnn.get_device_ids() == [*range(8)]
        assert (ttnn.get_num_devices(), ttnn.GetNumAvailableDevices()) == (8, 8)
        assert ttnn.get_pcie_device_ids() == [0, 1, 2, 3]
        assert (ttnn.get_num_pcie_devices(), ttnn.GetNumPCIeDevices()) == (4, 4)
        assert [ttnn.GetPCIeDeviceID(chip) for chip in range(8)] == [0, 1, 2, 3, 0, 1, 2, 3]
        with pytest.raises(DeviceError, match="no device 8; devices are"):
            ttnn.GetPCIeDeviceID(8)
        assert device.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(1, 0)).id() == 1
    assert ttnn.get_device_ids() == ttnn.get_pcie_device_ids() == [0]
