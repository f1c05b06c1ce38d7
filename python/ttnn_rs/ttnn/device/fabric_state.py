"""The fabric of the process: configuration and broken links.

The fabric routes packets between chips; without one, chips compute but no collective works.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ttnn.base.call import shown
from ttnn.base.enums import FabricConfig
from ttnn.base.exceptions import FabricError
from ttnn.base.system_enums import FabricReliabilityMode, FabricTensixConfig, Topology
from ttnn.device.system import Link, System, pairs_of
from ttnn.device.systems import named_systems

TOPOLOGIES: Final = {
    FabricConfig.FABRIC_1D: Topology.Linear,
    FabricConfig.FABRIC_1D_RING: Topology.Ring,
    FabricConfig.FABRIC_2D: Topology.Mesh,
    FabricConfig.FABRIC_2D_TORUS_X: Topology.Torus,
    FabricConfig.FABRIC_2D_TORUS_Y: Topology.Torus,
    FabricConfig.FABRIC_2D_TORUS_XY: Topology.Torus,
}
"""The topologies of configurations. Others are not supported."""
UNINITIALIZED: Final = "Trying to get un-initialized fabric context"
_PAYLOAD_BYTES: Final = 4352
_HEADER_1D, _HEADER_1D_LONG, _HEADER_2D = 48, 64, 96
_LONG_RING: Final = 16
"""Chips of the largest ring with short headers.

Recorded are 8 chips, and 32 with the long header.
"""


@dataclass
class Fabric:
    """The fabric.

    Attributes:
        config: Its configuration.
        reliability: Its behaviour if links are missing.
        planes: Links of each pair that it uses, at most; None for all.
        payload_bytes: The largest payload of a packet; None for the default.
        tensix: Its use of worker cores.
        down: Links that do not work, by the name of the system.
    """

    config: FabricConfig = FabricConfig.DISABLED
    reliability: FabricReliabilityMode = FabricReliabilityMode.STRICT_INIT
    planes: int | None = None
    payload_bytes: int | None = None
    tensix: FabricTensixConfig = FabricTensixConfig.DISABLED
    down: dict[str, set[Link]] = field(default_factory=dict)

    @property
    def is_on(self) -> bool:
        """Return whether packets are routed."""
        return self.config is not FabricConfig.DISABLED

    @property
    def is_1d(self) -> bool:
        """Return whether packets go along one row or column."""
        return self.topology() in (Topology.Linear, Topology.Ring) if self.is_on else False

    def require_on(self, call: str) -> None:
        """Check that there is a fabric.

        Raises:
            FabricError: it is off.
        """
        if not self.is_on:
            raise FabricError(
                f"{call}: there is no fabric; call ttnn.set_fabric_config(...) before opening the mesh",
                vendor=UNINITIALIZED,
            )

    def topology(self) -> Topology:
        """Return the topology of the whole fabric.

        Raises:
            FabricError: there is no fabric.
        """
        self.require_on("get_fabric_topology")
        return TOPOLOGIES[self.config]

    def wraps(self, system: System) -> tuple[bool, bool]:
        """Return whether columns and rows of the system mesh are rings.

        A 2-D torus does, and a 1-D ring on some systems. Other fabrics have the links inside of the mesh only.
        """
        if self.config is FabricConfig.FABRIC_1D_RING:
            return system.torus or system.rings[0], system.torus or system.rings[1]
        columns = self.config in (FabricConfig.FABRIC_2D_TORUS_Y, FabricConfig.FABRIC_2D_TORUS_XY)
        return columns, self.config in (FabricConfig.FABRIC_2D_TORUS_X, FabricConfig.FABRIC_2D_TORUS_XY)

    def usable_topology(
        self, system: System, chips: Sequence[int], shape: Sequence[int], asked: Topology | None, axis: int | None
    ) -> Topology:
        """Return the topology that a collective has.

        Ring and Torus need a fabric with rings, and links of it that close them; otherwise they are Linear and Mesh.

        Args:
            system: The system of the chips.
            chips: Numbers of the chips of the mesh, row-major.
            shape: Its rows and columns.
            asked: The topology that is asked for; None for that of the fabric.
            axis: The axis of the mesh; None for all chips.

        Raises:
            FabricError: nothing is asked for, and there is no fabric.
            IndexRangeError: a ring is asked for on an axis that the mesh does not have.
        """
        topology = self.topology() if asked is None else asked
        if topology not in (Topology.Ring, Topology.Torus):
            return topology
        if axis is not None and not -2 * len(shape) <= axis < len(shape):
            raise FabricError(
                f"cluster_axis must be one of {len(shape)} axes, got {shown(axis)}",
                vendor=f"ShapeBase[] index out of range. {shown(axis)} not in [-{2 * len(shape)}, {len(shape)})",
            )
        rings = self.is_on and self.topology() in (Topology.Ring, Topology.Torus)
        if rings and len(shape) == 2 and system.closes(chips, shape, axis, self.wraps(system)):
            return topology
        return Topology.Mesh if topology is Topology.Torus else Topology.Linear

    def header_bytes(self, system: System) -> int:
        """Return the size of packet headers.

        Raises:
            FabricError: there is no fabric.
        """
        self.require_on("get_tt_fabric_packet_header_size_bytes")
        if not self.is_1d:
            return _HEADER_2D
        long = self.config is FabricConfig.FABRIC_1D_RING and len(system.chips) > _LONG_RING
        return _HEADER_1D_LONG if long else _HEADER_1D

    def max_payload_bytes(self) -> int:
        """Return the largest payload of a packet.

        Raises:
            FabricError: there is no fabric.
        """
        self.require_on("get_tt_fabric_max_payload_size_bytes")
        return _PAYLOAD_BYTES if self.payload_bytes is None else self.payload_bytes

    # Links.

    def links_down(self, system: System) -> tuple[Link, ...]:
        """Return the links of a system that do not work.

        Links that its descriptor lacks count, if the system is a known one.
        """
        down = set(self.down.get(system.name, ()))
        for known in named_systems().values():
            if known.name != system.name and known.type is system.type and known.chips == system.chips:
                down |= set(known.links) - set(system.links)
                break
        return tuple(sorted(down))

    def num_links(self, system: System, chips: Sequence[int], shape: Sequence[int], axis: int | None) -> int:
        """Return how many links collectives use.

        It is 1 on an axis of one chip.
        """
        down = self.links_down(system)
        pairs = [
            (chip, other)
            for chip, other in pairs_of(chips, shape)
            if axis is None or _axis(chips, shape, chip, other) == axis
        ]
        usable = [system.usable_between(chip, other, down) for chip, other in pairs]
        count = min(usable, default=1)
        return count if self.planes is None else min(count, self.planes)

    def require_links(self, system: System, chips: Sequence[int], shape: Sequence[int]) -> None:
        """Check that neighbours in a mesh have a link that works.

        Without a fabric, nothing is checked.

        Raises:
            FabricError: two of them have none; the message names them and the link.
        """
        if not self.is_on or len(shape) != 2:
            return
        down = self.links_down(system)
        for chip, other in pairs_of(chips, shape) if down else ():
            if system.links_between(chip, other) and not system.usable_between(chip, other, down):
                broken = [link for link in down if {link.chip, link.other} == {chip, other}]
                raise FabricError(f"no link is left between chips {chip} and {other}: {describe(system, broken[0])}")


def _axis(chips: Sequence[int], shape: Sequence[int], chip: int, other: int) -> int:
    return int(abs(list(chips).index(chip) - list(chips).index(other)) == 1 and shape[1] > 1)


def describe(system: System, link: Link) -> str:
    """Return the sentence that a link is down."""
    links = sorted({*system.links_between(link.chip, link.other), link})
    return f"link {links.index(link)} of {system.type.name} chip {link.chip} -> {link.other} is down"


def first_down(system: System, links: Iterable[Link]) -> str | None:
    """Return the sentence of the first broken link of the system mesh."""
    down = list(links)
    for chip, other in system.mesh_pairs():
        for link in down:
            if {link.chip, link.other} == {chip, other}:
                return describe(system, link)
    return None


FABRIC: Final = Fabric()
"""The fabric of the process."""
