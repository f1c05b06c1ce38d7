"""Fabric between chips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.call import shown
from ttnn.base.enums import FabricConfig
from ttnn.base.exceptions import (
    ArgumentError,
    DeviceError,
    FabricError,
    ParameterError,
    StorageError,
    UnsupportedError,
)
from ttnn.base.refused import SEVERAL_CHIPS, refusing
from ttnn.base.system_enums import (
    FabricManagerMode,
    FabricReliabilityMode,
    FabricTensixConfig,
    FabricType,
    FabricUDMMode,
    Topology,
)
from ttnn.device.fabric_state import FABRIC, TOPOLOGIES, first_down
from ttnn.device.mesh_device import MeshDevice, open_devices
from ttnn.device.processes import Number
from ttnn.device.system import Link, System
from ttnn.device.systems import system_of_environment

__all__ = [
    "FabricRouterConfig",
    "MeshId",
    "get_all_fabric_mesh_ids",
    "get_all_mgd_fabric_types",
    "get_fabric_config",
    "get_num_links",
    "get_physical_mesh_shapes",
    "get_tt_fabric_max_payload_size_bytes",
    "get_tt_fabric_packet_header_size_bytes",
    "get_usable_topology",
    "set_fabric_config",
]

_MAX_PAYLOAD_BYTES: Final = 1 << 16

_REFUSED = refusing(
    "ttnn",
    "attach_absent_mcast",
    SEVERAL_CHIPS,
)
globals().update(_REFUSED)
__all__ += list(_REFUSED)


@dataclass
class FabricRouterConfig:
    """Router settings between chips.

    Attributes:
        max_packet_payload_size_bytes: The largest payload of a packet; None for the default.
    """

    max_packet_payload_size_bytes: int | None = None


class MeshId(Number):
    """The number of a mesh of the fabric."""

    def __repr__(self) -> str:
        return f"MeshId({shown(int(self))})"


def current_system() -> System:
    """Return the system of open devices, or the chosen one."""
    for device in open_devices.values():
        if device.is_open:
            return device._system
    return system_of_environment()


def get_fabric_config() -> FabricConfig:
    """Return the configuration of the fabric; DISABLED without one."""
    return FABRIC.config


def set_fabric_config(
    config: FabricConfig,
    reliability_mode: FabricReliabilityMode = FabricReliabilityMode.STRICT_INIT,
    num_planes: int | None = None,
    fabric_tensix_config: FabricTensixConfig = FabricTensixConfig.DISABLED,
    fabric_udm_mode: FabricUDMMode = FabricUDMMode.DISABLED,
    fabric_manager_mode: FabricManagerMode = FabricManagerMode.DEFAULT,
    router_config: FabricRouterConfig | None = None,
) -> None:
    """Set the fabric configuration, before a mesh is opened.

    Args:
        config: The fabric. From one to another it has to be DISABLED first.
        reliability_mode: STRICT_INIT refuses a system with a link that is down, RELAXED_INIT uses fewer links.
        num_planes: Links of each pair that are used, at most.
        fabric_tensix_config: MUX keeps mux cores in the row or column of dispatch cores; no value changes.
        fabric_udm_mode: DISABLED.
        fabric_manager_mode: DEFAULT or ENABLED.
        router_config: The largest payload of packets.

    Raises:
        ArgumentError: an argument of another type.
        DeviceError: a device is open, or there is another fabric.
        FabricError: a link is down.
        UnsupportedError: a fabric or mode that is not modelled.
    """
    call = "set_fabric_config"
    for name, value, kind in (
        ("config", config, FabricConfig),
        ("reliability_mode", reliability_mode, FabricReliabilityMode),
        ("fabric_tensix_config", fabric_tensix_config, FabricTensixConfig),
        ("fabric_udm_mode", fabric_udm_mode, FabricUDMMode),
        ("fabric_manager_mode", fabric_manager_mode, FabricManagerMode),
    ):
        if not isinstance(value, kind):
            raise ArgumentError(f"{call}: {name} must be a {kind.__name__}, got {type(value).__name__} {shown(value)}")
    if num_planes is not None and (isinstance(num_planes, bool) or not isinstance(num_planes, int)):
        raise ArgumentError(f"{call}: num_planes must be an int, got {shown(num_planes)}")
    if num_planes is not None and not 1 <= num_planes <= 255:
        raise ParameterError(f"{call}: num_planes must be between 1 and 255, got {shown(num_planes)}")
    payload = _payload(router_config)
    for value, modelled in (
        (config, {FabricConfig.DISABLED, *TOPOLOGIES}),
        (reliability_mode, {FabricReliabilityMode.STRICT_INIT, FabricReliabilityMode.RELAXED_INIT}),
        (fabric_udm_mode, {FabricUDMMode.DISABLED}),
        (fabric_manager_mode, {FabricManagerMode.DEFAULT, FabricManagerMode.ENABLED}),
    ):
        if value not in modelled:
            raise UnsupportedError(f"{call}: {value} is not modelled", "unimplemented")
    opened = next((device for device in open_devices.values() if device.is_open), None)
    if opened is not None and config is not FABRIC.config:
        raise DeviceError(f"{call}: {opened!r} is open; set the fabric before devices are opened")
    if FABRIC.is_on and config not in (FabricConfig.DISABLED, FABRIC.config):
        raise DeviceError(
            f"{call}: the fabric is {FABRIC.config}; set it to DISABLED before {config}",
            vendor=f"Tried to override previous value of fabric config: {FABRIC.config.name}, with: {config.name}",
        )
    if config is not FabricConfig.DISABLED:
        system = system_of_environment()
        broken = first_down(system, FABRIC.links_down(system))
        if broken is not None and reliability_mode is FabricReliabilityMode.STRICT_INIT:
            raise FabricError(f"{call}: {broken}; FabricReliabilityMode.RELAXED_INIT uses the other links")
    FABRIC.config, FABRIC.reliability = config, reliability_mode
    FABRIC.planes, FABRIC.payload_bytes, FABRIC.tensix = num_planes, payload, fabric_tensix_config


def _payload(router_config: object) -> int | None:
    if router_config is None:
        return None
    if not isinstance(router_config, FabricRouterConfig):
        raise ArgumentError(
            f"set_fabric_config: router_config must be a FabricRouterConfig, got {type(router_config).__name__}"
        )
    size = router_config.max_packet_payload_size_bytes
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int):
        raise ArgumentError(f"FabricRouterConfig: max_packet_payload_size_bytes must be an int, got {shown(size)}")
    if not 16 <= size <= _MAX_PAYLOAD_BYTES or size % 16:
        raise ParameterError(
            f"FabricRouterConfig: max_packet_payload_size_bytes must be a multiple of 16 up to {_MAX_PAYLOAD_BYTES}, "
            f"got {shown(size)}"
        )
    return size


def _axis(call: str, axis: object) -> int | None:
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int) or axis < 0):
        raise ArgumentError(f"{call}: cluster_axis must be an int from 0 on or None, got {shown(axis)}")
    return axis


def get_usable_topology(tensor: Any, topology: Topology | None = None, cluster_axis: int | None = None) -> Topology:
    """Return the topology that a collective of a tensor has.

    Ring becomes Linear, and Torus Mesh, where the fabric or the links have no ring, and on two chips.

    Args:
        tensor: A tensor on a mesh.
        topology: The topology that is asked for; None for that of the fabric.
        cluster_axis: Axis of the mesh; None for all chips.

    Raises:
        ArgumentError: no tensor, topology or axis.
        FabricError: no topology is asked for, and there is no fabric; or the mesh has no such axis.
        StorageError: the tensor is not on a device.
    """
    call = "get_usable_topology"
    if not callable(getattr(tensor, "device", None)):
        raise ArgumentError(f"{call}: expected a ttnn.Tensor, got {type(tensor).__name__}")
    if not isinstance(topology, Topology | None):
        raise ArgumentError(f"{call}: topology must be a ttnn.Topology, got {shown(topology)}")
    axis = _axis(call, cluster_axis)
    device = tensor.device()
    if not isinstance(device, MeshDevice):
        raise StorageError(f"{call}: the tensor is on the host; collectives need one on a mesh")
    return FABRIC.usable_topology(device._system, device.get_device_ids(), tuple(device.shape), topology, axis)


def get_num_links(mesh_device: MeshDevice, cluster_axis: int | None = None) -> int:
    """Return how many links of neighbours collectives use.

    It is the smallest number on the axis, or on all axes, and 1 on an axis of one chip.

    Raises:
        ArgumentError: no mesh, or no axis.
        FabricError: the mesh has no such axis.
    """
    call = "get_num_links"
    if not isinstance(mesh_device, MeshDevice):
        raise ArgumentError(f"{call}: expected a ttnn.MeshDevice, got {type(mesh_device).__name__}")
    axis, shape = _axis(call, cluster_axis), tuple(mesh_device.shape)
    if axis is not None and axis >= len(shape):
        raise FabricError(
            f"{call}: cluster_axis must be one of {len(shape)} axes, got {shown(axis)}",
            vendor=f"ShapeBase[] index out of range. {shown(axis)} not in [-{2 * len(shape)}, {len(shape)})",
        )
    if len(shape) != 2:
        raise UnsupportedError(f"{call}: {mesh_device!r} has {len(shape)} dimensions", "unimplemented")
    return FABRIC.num_links(mesh_device._system, mesh_device.get_device_ids(), shape, axis)


def get_tt_fabric_packet_header_size_bytes() -> int:
    """Return the size of packet headers.

    Raises:
        FabricError: there is no fabric.
    """
    return FABRIC.header_bytes(current_system())


def get_tt_fabric_max_payload_size_bytes() -> int:
    """Return the largest payload of a packet.

    Raises:
        FabricError: there is no fabric.
    """
    return FABRIC.max_payload_bytes()


def get_all_fabric_mesh_ids() -> list[MeshId]:
    """Return the numbers of the meshes of the fabric: 0."""
    return [MeshId(0)]


def get_physical_mesh_shapes() -> dict[int, list[int]]:
    """Return the shape of the system mesh, by its number."""
    return {0: list(current_system().shape)}


def get_all_mgd_fabric_types() -> list[FabricType]:
    """Return the kinds of the meshes.

    MESH, or TORUS_X, TORUS_Y or TORUS_XY for declared rings.
    """
    columns, rows = current_system().rings
    if rows and columns:
        return [FabricType.TORUS_XY]
    return [FabricType.TORUS_X if rows else FabricType.TORUS_Y if columns else FabricType.MESH]


_DIRECTIONS: Final = {"E": (0, 1), "W": (0, -1), "N": (-1, 0), "S": (1, 0)}


def set_link_state(chip: int, direction: str, link: int, up: bool) -> None:
    """Set whether a link between two chips works.

    Not official; for tests of faults.

    Args:
        chip: Number of a chip.
        direction: N, E, S or W of it in the system mesh; a ring goes on at the other side.
        link: Number of the link of this pair, from 0 on.
        up: Whether it works.

    Raises:
        ArgumentError: an argument of another type.
        DeviceError: a device is open, or there is no such chip or link.
    """
    call = "ttnn.cluster.set_link_state"
    if not isinstance(direction, str) or direction not in _DIRECTIONS:
        raise ArgumentError(f"{call}: direction must be N, E, S or W, got {shown(direction)}")
    for name, value in (("chip", chip), ("link", link)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ArgumentError(f"{call}: {name} must be an int, got {shown(value)}")
    if not isinstance(up, bool):
        raise ArgumentError(f"{call}: up must be True or False, got {shown(up)}")
    if any(device.is_open for device in open_devices.values()):
        raise DeviceError(f"{call}: a device is open; set links before devices are opened")
    system = system_of_environment()
    system.fabric_node(chip)
    place, step = system.place_of[chip], _DIRECTIONS[direction]
    row, column = ((place[axis] + step[axis]) % system.shape[axis] for axis in (0, 1))
    links = system.links_between(chip, system.at((row, column))) if (row, column) != place else ()
    if not 0 <= link < len(links):
        raise DeviceError(
            f"{call}: chip {chip} of system {system.name} has {len(links)} links to {direction}, not {shown(link)}"
        )
    found = links[link] if links[link] in system.links else Link(*links[link][2:], *links[link][:2])
    down = FABRIC.down.setdefault(system.name, set())
    (down.discard if up else down.add)(found)
