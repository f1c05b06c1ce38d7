"""Faults of meshes and their fabric are named errors.

The mesh stays usable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, mesh_of, semaphores
from ttnn.base.config import manage_config
from ttnn.base.exceptions import DeviceError, FabricError, ParameterError

Halves = tuple[ttnn.MeshDevice, ttnn.MeshDevice, ttnn.MeshDevice]


def ones(mesh: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.ones([1, 1, 32, 32], layout=ttnn.TILE_LAYOUT, device=mesh)


@pytest.fixture
def halves() -> Iterator[Halves]:
    """Return a T3000 and its two rows."""
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:
        first, second = mesh.create_submeshes(ttnn.MeshShape(1, 4))
        yield mesh, first, second


def gather(x: ttnn.Tensor, given: list[ttnn.GlobalSemaphore]) -> ttnn.Tensor:
    return ttnn.experimental.all_gather_async(
        x, dim=0, multi_device_global_semaphore=given, topology=ttnn.Topology.Linear
    )


def several(mesh: ttnn.MeshDevice, count: int, value: int = 0) -> list[ttnn.GlobalSemaphore]:
    made = semaphores(mesh, count)
    ttnn.reset_global_semaphore_value(made[-1], value)
    return made


FAULTS: dict[str, tuple[Callable[[Halves], object], type[Exception], str]] = {
    "two meshes": (
        lambda h: ttnn.add(ones(h[1]), ones(h[2])),
        DeviceError,
        r"ttnn.add: the tensors are on different meshes, .* with devices \[4, 0, 2, 6\] and .* with \[5, 1, 3, 7\]",
    ),
    "mesh and submesh": (
        lambda h: ttnn.add(ones(h[0]), ones(h[2])),
        DeviceError,
        r"different meshes, MeshDevice\(2x4 grid, 8 devices\) .* and MeshDevice\(1x4 grid, 4 devices\)",
    ),
    "result on another mesh": (
        lambda h: ttnn.all_gather(ones(h[1]), dim=0, output_tensor=ones(h[2])),
        DeviceError,
        "ttnn.all_gather: the tensors are on different meshes",
    ),
    "too few semaphores": (
        lambda h: gather(ones(h[1]), several(h[1], 1)),
        ParameterError,
        "expected 2 global semaphores, got 1",
    ),
    "a semaphore that is not zero": (
        lambda h: gather(ones(h[1]), several(h[1], 2, 3)),
        ParameterError,
        r"the global semaphore at \d+ was set to 3; collectives begin at 0 and end at 0",
    ),
    "semaphores of another mesh": (
        lambda h: gather(ones(h[1]), several(h[2], 2)),
        DeviceError,
        r"the global semaphore at \d+ is on MeshDevice\(1x4 grid, 4 devices\), which has no chip 4",
    ),
    "an axis that is not there": (
        lambda h: ttnn.all_gather(ones(h[1]), dim=0, cluster_axis=2),
        FabricError,
        "out of range",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_named_error_and_the_mesh_stays_usable(fault: str, halves: Halves) -> None:
    call, error, message = FAULTS[fault]
    with pytest.raises(error, match=message):
        call(halves)
    for mesh in halves:
        assert all((part == 8 // (1 + (mesh is not halves[0]))).all() for part in by_chip(ttnn.all_reduce(ones(mesh))))
    made = gather(ones(halves[1]), several(halves[0], 2))
    assert [part.shape for part in by_chip(made)] == [(4, 1, 32, 32)] * 4


def test_tensors_of_a_closed_submesh_are_refused(halves: Halves) -> None:
    mesh, first, second = halves
    x = ones(second)
    ttnn.close_mesh_device(second)
    for call in (ttnn.exp, lambda x: ttnn.all_gather(x, dim=0)):
        with pytest.raises(DeviceError, match=r"the device of input_tensor \(Shape\(\[1, 1, 32, 32\]\)\) is closed"):
            call(x)
    with pytest.raises(DeviceError, match="the device is closed"):
        ones(second)
    for other in (mesh, first):
        assert all(np.array_equal(part, np.ones((1, 1, 32, 32))) for part in by_chip(ones(other)))


def test_a_collective_without_a_fabric_names_the_call_to_make() -> None:
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 4)) as mesh:
        for call in (ttnn.all_gather, ttnn.reduce_scatter):
            with pytest.raises(FabricError, match=r"call ttnn.set_fabric_config\(...\) before opening the mesh"):
                call(ones(mesh), dim=3 if call is ttnn.reduce_scatter else 0)
        assert all((part == 2).all() for part in by_chip(ttnn.add(ones(mesh), ones(mesh))))


def test_a_missing_chip_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with manage_config("system", "t3k"):
        monkeypatch.setenv("TT_VISIBLE_DEVICES", "0,1,3")
        with pytest.raises(
            DeviceError, match=r"chips \[0, 1, 3, 4, 5, 7\] of system t3k are no mesh: chip 2 is missing"
        ):
            ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
        monkeypatch.setenv("TT_VISIBLE_DEVICES", "0")
        with pytest.raises(DeviceError, match=r"mesh MeshShape\(\[2, 4\]\) does not fit system t3k\[0\]"):
            ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
        with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
            assert all((part == 1).all() for part in by_chip(ones(mesh)))
