"""The fabric: configurations, topologies, links, and faults of links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ttnn
from ttnn.base.config import manage_config
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    FabricError,
    ParameterError,
    StorageError,
    UnsupportedError,
)
from ttnn.device.fabric_state import FABRIC

DISABLED, LINE, RING = (ttnn.FabricConfig[name] for name in ("DISABLED", "FABRIC_1D", "FABRIC_1D_RING"))
MESH, TORUS = ttnn.FabricConfig.FABRIC_2D, ttnn.FabricConfig.FABRIC_2D_TORUS_XY
STRICT, RELAXED = ttnn.FabricReliabilityMode.STRICT_INIT, ttnn.FabricReliabilityMode.RELAXED_INIT
Topology = ttnn.Topology


@pytest.fixture(autouse=True)
def _no_fabric_afterwards() -> Iterator[None]:
    yield
    ttnn.set_fabric_config(DISABLED)
    FABRIC.down.clear()


@contextmanager
def mesh(system: str, *shape: int, fabric: ttnn.FabricConfig = DISABLED, **options: Any) -> Iterator[ttnn.MeshDevice]:
    with manage_config("system", system):
        ttnn.set_fabric_config(fabric, **options)
        device = ttnn.open_mesh_device(ttnn.MeshShape(*shape))
        try:
            yield device
        finally:
            ttnn.close_mesh_device(device)
            ttnn.set_fabric_config(DISABLED)


def topology(device: ttnn.MeshDevice, *asked: Any) -> ttnn.Topology:
    return ttnn.get_usable_topology(ttnn.zeros((32, 32), device=device, layout=ttnn.TILE_LAYOUT), *asked)


@pytest.mark.parametrize(
    ("system", "shape", "fabric", "expected"),
    [
        # Of all chips, of columns, of rows.
        ("t3k", (2, 4), LINE, (Topology.Linear, Topology.Linear, Topology.Linear)),
        ("t3k", (2, 4), RING, (Topology.Ring, Topology.Linear, Topology.Linear)),
        ("t3k", (1, 8), RING, (Topology.Ring, Topology.Linear, Topology.Ring)),
        ("t3k", (1, 4), RING, (Topology.Linear, Topology.Linear, Topology.Linear)),
        ("t3k", (2, 4), MESH, (Topology.Mesh, Topology.Mesh, Topology.Mesh)),
        ("n300", (1, 2), RING, (Topology.Linear, Topology.Linear, Topology.Linear)),
        ("galaxy", (4, 8), TORUS, (Topology.Torus, Topology.Mesh, Topology.Mesh)),
        ("galaxy_torus", (4, 8), TORUS, (Topology.Torus, Topology.Torus, Topology.Torus)),
        ("galaxy_torus", (8, 4), RING, (Topology.Ring, Topology.Ring, Topology.Ring)),
        ("galaxy_torus", (8, 4), ttnn.FabricConfig.FABRIC_2D_TORUS_X, (Topology.Torus, Topology.Mesh, Topology.Torus)),
        # The ends of its rows have links, which only a torus uses.
        ("p150_x8", (2, 4), RING, (Topology.Ring, Topology.Linear, Topology.Linear)),
        ("p150_x8", (2, 4), TORUS, (Topology.Torus, Topology.Mesh, Topology.Torus)),
        ("blackhole_galaxy", (8, 4), RING, (Topology.Ring, Topology.Ring, Topology.Ring)),
    ],
)
def test_usable_topologies(
    system: str, shape: tuple[int, int], fabric: ttnn.FabricConfig, expected: tuple[ttnn.Topology, ...]
) -> None:
    with mesh(system, *shape, fabric=fabric) as device:
        assert tuple(topology(device, None, axis) for axis in (None, 0, 1)) == expected
        assert topology(device, Topology.Linear, 1) is Topology.Linear
        assert topology(device, Topology.Mesh, 7) is Topology.Mesh


def test_topologies_without_a_fabric() -> None:
    with mesh("t3k", 1, 8) as device:
        assert topology(device, Topology.Ring) is Topology.Linear
        assert topology(device, Topology.Torus) is Topology.Mesh
        with pytest.raises(FabricError) as raised:
            topology(device)
        assert "call ttnn.set_fabric_config(...) before opening the mesh" in str(raised.value)
        assert raised.value.vendor == "Trying to get un-initialized fabric context"
        with pytest.raises(FabricError) as raised:
            topology(device, Topology.Ring, 2)
        assert raised.value.vendor == "ShapeBase[] index out of range. 2 not in [-4, 2)"
        with pytest.raises(ArgumentError, match="cluster_axis must be an int from 0 on or None, got -1"):
            topology(device, Topology.Ring, -1)
        with pytest.raises(ArgumentError, match=r"topology must be a ttnn.Topology, got 'Ring'"):
            topology(device, "Ring")
    with pytest.raises(ArgumentError, match=r"expected a ttnn.Tensor, got int"):
        ttnn.get_usable_topology(3)
    with pytest.raises(StorageError, match="the tensor is on the host"):
        ttnn.get_usable_topology(ttnn.zeros((1,)))


def test_sizes_of_packets() -> None:
    for function in (ttnn.get_tt_fabric_packet_header_size_bytes, ttnn.get_tt_fabric_max_payload_size_bytes):
        with pytest.raises(FabricError, match=f"{function.__name__}: there is no fabric"):
            function()
    sizes = {("t3k", LINE): 48, ("t3k", RING): 48, ("galaxy", RING): 64, ("galaxy", LINE): 48, ("t3k", MESH): 96}
    for (system, fabric), size in {**sizes, ("galaxy", TORUS): 96}.items():
        with manage_config("system", system):
            ttnn.set_fabric_config(fabric)
            assert ttnn.get_tt_fabric_packet_header_size_bytes() == size
            assert ttnn.get_tt_fabric_max_payload_size_bytes() == 4352
            ttnn.set_fabric_config(DISABLED)
    router = ttnn.FabricRouterConfig()
    router.max_packet_payload_size_bytes = 7616
    ttnn.set_fabric_config(LINE, router_config=router)
    assert ttnn.get_tt_fabric_max_payload_size_bytes() == 7616


def test_numbers_of_links() -> None:
    with mesh("t3k", 2, 4) as device:
        assert [ttnn.get_num_links(device, axis) for axis in (None, 0, 1)] == [1, 1, 1]
        with pytest.raises(FabricError, match=r"cluster_axis must be one of 2 axes, got 2\ninfo:\nShapeBase"):
            ttnn.get_num_links(device, 2)
        with pytest.raises(ArgumentError, match=r"expected a ttnn.MeshDevice, got int"):
            ttnn.get_num_links(3)
    with mesh("p150_x4", 1, 4) as device:
        assert [ttnn.get_num_links(device, axis) for axis in (None, 0, 1)] == [4, 1, 4]
    with mesh("galaxy", 8, 4, fabric=LINE, num_planes=3) as device:
        assert ttnn.get_num_links(device, 0) == 3


def test_the_system_of_an_open_mesh() -> None:
    with mesh("n300", 1, 2):
        assert ttnn.cluster.get_cluster_type() is ttnn.cluster.ClusterType.N300
        assert repr(ttnn.get_all_fabric_mesh_ids()) == "[MeshId(0)]"
        assert ttnn.get_physical_mesh_shapes() == {0: [2, 1]}
        descriptor = ttnn._ttnn.multi_device.SystemMeshDescriptor()
        assert (descriptor.shape(), descriptor.all_local()) == (ttnn.MeshShape(2, 1), True)
        assert descriptor.is_local(ttnn.MeshCoordinate(1, 0))
        assert not descriptor.is_local(ttnn.MeshCoordinate(0, 1))
        assert ttnn.get_all_mgd_fabric_types() == [ttnn.FabricType.MESH]
        assert ttnn.distributed_context_is_initialized()
    with manage_config("system", "galaxy_torus"):
        assert ttnn.get_all_mgd_fabric_types() == [ttnn.FabricType.TORUS_XY]


def test_one_fabric_at_a_time() -> None:
    ttnn.set_fabric_config(LINE)
    ttnn.set_fabric_config(LINE)
    assert ttnn.get_fabric_config() is LINE
    with pytest.raises(DeviceError) as raised:
        ttnn.set_fabric_config(MESH)
    assert raised.value.vendor == "Tried to override previous value of fabric config: FABRIC_1D, with: FABRIC_2D"
    assert "set it to DISABLED before FabricConfig.FABRIC_2D" in str(raised.value)
    device = ttnn.open_device(device_id=0)
    try:
        ttnn.set_fabric_config(LINE)
        with pytest.raises(DeviceError, match=r"MeshDevice\(1x1 grid, 1 devices\) is open; set the fabric before"):
            ttnn.set_fabric_config(DISABLED)
    finally:
        ttnn.close_device(device)
    ttnn.set_fabric_config(DISABLED)
    assert ttnn.get_fabric_config() is DISABLED


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ttnn.set_fabric_config(3), ArgumentError, "config must be a FabricConfig, got int 3"),
        (lambda: ttnn.set_fabric_config(LINE, 0), ArgumentError, "reliability_mode must be a FabricReliabilityMode"),
        (lambda: ttnn.set_fabric_config(LINE, num_planes="2"), ArgumentError, "num_planes must be an int, got '2'"),
        (lambda: ttnn.set_fabric_config(LINE, num_planes=0), ParameterError, "num_planes must be between 1 and 255"),
        (
            lambda: ttnn.set_fabric_config(LINE, ttnn.FabricReliabilityMode.DYNAMIC_RECONFIG),
            UnsupportedError,
            "FabricReliabilityMode.DYNAMIC_RECONFIG is not modelled",
        ),
        (
            lambda: ttnn.set_fabric_config(LINE, fabric_udm_mode=ttnn.FabricUDMMode.ENABLED),
            UnsupportedError,
            "FabricUDMMode.ENABLED is not modelled",
        ),
        (lambda: ttnn.set_fabric_config(ttnn.FabricConfig.CUSTOM), UnsupportedError, "FabricConfig.CUSTOM is not"),
        (lambda: ttnn.set_fabric_config(LINE, router_config=3), ArgumentError, "router_config must be a FabricR"),
        (
            lambda: ttnn.set_fabric_config(LINE, router_config=ttnn.FabricRouterConfig(100)),
            ParameterError,
            "max_packet_payload_size_bytes must be a multiple of 16 up to 65536, got 100",
        ),
    ],
)  # fmt: skip
def test_arguments_of_the_fabric(call: Callable[[], None], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)
    assert ttnn.get_fabric_config() is DISABLED


# Faults.


def test_a_link_that_is_down() -> None:
    with manage_config("system", "galaxy"):
        ttnn.cluster.set_link_state(0, "S", 1, up=False)
        with pytest.raises(FabricError) as raised:
            ttnn.set_fabric_config(LINE)
        assert str(raised.value) == (
            "set_fabric_config: link 1 of GALAXY chip 0 -> 4 is down; FabricReliabilityMode.RELAXED_INIT uses the "
            "other links"
        )
        assert ttnn.get_fabric_config() is DISABLED
    with mesh("galaxy", 8, 4, fabric=LINE, reliability_mode=RELAXED) as device:
        assert [ttnn.get_num_links(device, axis) for axis in (0, 1, None)] == [3, 4, 3]
    with manage_config("system", "galaxy"):
        ttnn.cluster.set_link_state(4, "N", 1, up=True)
    with mesh("galaxy", 8, 4, fabric=LINE) as device:
        assert ttnn.get_num_links(device) == 4


def test_no_link_is_left() -> None:
    with manage_config("system", "t3k"):
        ttnn.cluster.set_link_state(4, "E", 0, up=False)
        ttnn.set_fabric_config(LINE, RELAXED)
        with pytest.raises(FabricError) as raised:
            ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
        assert str(raised.value) == "no link is left between chips 4 and 0: link 0 of T3K chip 0 -> 4 is down"
        ttnn.close_mesh_device(ttnn.open_mesh_device(ttnn.MeshShape(1, 4), offset=ttnn.MeshCoordinate(1, 0)))


def test_a_descriptor_without_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(
        "arch: {0: wormhole_b0, 1: wormhole_b0}\nethernet_connections: [[{chip: 0, chan: 8}, {chip: 1, chan: 0}]]\n"
        "chips_with_mmio: [0: 0]\nboards: [[{board_id: 1}, {board_type: n300}, {chips: [0, 1]}]]\n"
    )
    monkeypatch.setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", str(path))
    with pytest.raises(FabricError, match=r"^set_fabric_config: link 1 of N300 chip 0 -> 1 is down"):
        ttnn.set_fabric_config(LINE)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, "up", 0, False), ArgumentError, "direction must be N, E, S or W, got 'up'"),
        ((0, "E", "0", False), ArgumentError, "link must be an int, got '0'"),
        ((0, "E", 0, 1), ArgumentError, "up must be True or False, got 1"),
        ((9, "E", 0, False), DeviceError, "system t3k has no chip 9"),
        ((0, "E", 2, False), DeviceError, "chip 0 of system t3k has 2 links to E, not 2"),
        ((6, "E", 0, False), DeviceError, "chip 6 of system t3k has 0 links to E, not 0"),
    ],
)
def test_arguments_of_link_states(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with manage_config("system", "t3k"), pytest.raises(error) as raised:
        ttnn.cluster.set_link_state(*arguments)
    assert message in str(raised.value)


def test_links_do_not_change_under_a_device() -> None:
    with mesh("t3k", 1, 2), pytest.raises(DeviceError, match="a device is open; set links before"):
        ttnn.cluster.set_link_state(0, "E", 0, up=False)
