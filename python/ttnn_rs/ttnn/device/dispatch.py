"""Dispatch cores.

The compute grid is the rest of the chip's worker cores: all of them if dispatch runs on Ethernet cores.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ttnn.base.call import shown
from ttnn.base.enums import DispatchCoreAxis, DispatchCoreType, FabricTensixConfig
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.base.system_enums import ClusterType
from ttnn.device.fabric_state import FABRIC
from ttnn.device.system import System
from ttnn.device.systems import default_arch_name, named_systems, system_for

_ON_ETHERNET: Final = (ClusterType.N300, ClusterType.T3K, ClusterType.N300_2x2)
"""Systems that dispatch from Ethernet cores by default."""
_ETHERNET_CORES: Final = 16
"""Ethernet cores of a Wormhole chip; each has a channel."""


class DispatchCoreConfig:
    """Cores for dispatch.

    They are Ethernet cores, or a row or column of worker cores; on Blackhole a column, or a row if the fabric has mux
    cores. The default is that of the system: Ethernet cores on systems of n300 cards, worker cores on others.
    """

    __slots__ = ("_axis", "_mux", "_type")

    def __init__(
        self,
        type: DispatchCoreType | None = None,
        axis: DispatchCoreAxis | None = None,
        fabric_tensix_config: FabricTensixConfig | None = None,
    ) -> None:
        if type is not None and not isinstance(type, DispatchCoreType):
            raise ArgumentError(f"DispatchCoreConfig(): type must be a DispatchCoreType, got {shown(type)}")
        if axis is not None and not isinstance(axis, DispatchCoreAxis):
            raise ArgumentError(f"DispatchCoreConfig(): axis must be a DispatchCoreAxis, got {shown(axis)}")
        if fabric_tensix_config is not None and not isinstance(fabric_tensix_config, FabricTensixConfig):
            raise ArgumentError(
                "DispatchCoreConfig(): fabric_tensix_config must be a FabricTensixConfig, got "
                f"{shown(fabric_tensix_config)}"
            )
        if type is DispatchCoreType.ETH and axis is DispatchCoreAxis.COL:
            raise UnsupportedError("COL axis is not supported for ETH dispatch core type")
        self._type = type
        self._axis = axis
        self._mux = fabric_tensix_config is FabricTensixConfig.MUX

    @property
    def type(self) -> DispatchCoreType:
        """Return the kind of core.

        Default: that of the chosen system.
        """
        return self._type_on(system_for(None).type)

    @property
    def axis(self) -> DispatchCoreAxis:
        """Return the axis of the dispatch cores.

        Default: that of the chips of `open_device`.
        """
        return self._axis or dispatch_axis(default_arch_name(), mux=self._mux)

    def _type_on(self, cluster: ClusterType) -> DispatchCoreType:
        by_default = cluster in _ON_ETHERNET and self._axis is not DispatchCoreAxis.COL
        return self._type or (DispatchCoreType.ETH if by_default else DispatchCoreType.WORKER)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DispatchCoreConfig):
            return NotImplemented
        return (self.type, self.axis) == (other.type, other.axis)

    def __hash__(self) -> int:
        return hash((self.type, self.axis))

    def __repr__(self) -> str:
        return f"DispatchCoreConfig(type={self.type}, axis={self.axis})"


class Dispatch(NamedTuple):
    """The dispatch cores of an open device."""

    type: DispatchCoreType
    axis: DispatchCoreAxis

    @property
    def cores(self) -> str:
        """Return the engine's name of the cores."""
        if self.type is DispatchCoreType.ETH:
            return "ethernet"
        return "row" if self.axis is DispatchCoreAxis.ROW else "column"


def dispatch_of(system: System, chip: str, arch_name: str, config: DispatchCoreConfig | None) -> Dispatch:
    """Return the dispatch cores of chips that are opened with `config`.

    Args:
        system: The system that the chips belong to.
        chip: The engine's name of the chips; one that is not the system's is on a card of its own.
        arch_name: Their generation.
        config: None for the default of the system.

    Raises:
        ArgumentError: no `DispatchCoreConfig`.
        UnsupportedError: Ethernet cores that are not idle, or a row or Ethernet cores of a Blackhole.
    """
    if config is None:
        config = DispatchCoreConfig(fabric_tensix_config=FABRIC.tensix)
    if not isinstance(config, DispatchCoreConfig):
        raise ArgumentError(f"open_device: dispatch_core_config must be a DispatchCoreConfig, got {shown(config)}")
    if chip != system.chip:
        system = named_systems()[chip]
    mux = FABRIC.tensix is FabricTensixConfig.MUX
    dispatch = Dispatch(config._type_on(system.type), config._axis or dispatch_axis(arch_name, mux=mux and config._mux))
    wormhole = arch_name == "wormhole_b0"
    if dispatch.type is DispatchCoreType.ETH and mux:
        raise UnsupportedError(
            f"open_device: the fabric has mux cores ({FABRIC.tensix}), which are modelled beside dispatch on worker "
            f"cores only; choose DispatchCoreConfig(type={DispatchCoreType.WORKER})"
        )
    if dispatch.type is DispatchCoreType.ETH and wormhole:
        busy = next((number for number in system.chips if len(system.channels(number)) >= _ETHERNET_CORES), None)
        if busy is not None:
            raise UnsupportedError(
                f"open_device: dispatch on Ethernet cores needs idle ones: all {_ETHERNET_CORES} of chip {busy} of "
                f"system {system.name} have links; choose type={DispatchCoreType.WORKER}"
            )
    elif (
        not wormhole and dispatch.type is DispatchCoreType.WORKER and dispatch.axis is DispatchCoreAxis.ROW and not mux
    ):
        raise UnsupportedError(
            f"open_device: ROW dispatch core axis is not supported for {arch_name} arch unless fabric tensix MUX is "
            f"enabled; choose axis={DispatchCoreAxis.COL}, or set_fabric_config(fabric_tensix_config=...)"
        )
    elif not wormhole and dispatch.type is DispatchCoreType.ETH:
        raise UnsupportedError(
            f"open_device: DispatchCoreConfig(type={dispatch.type}, axis={dispatch.axis}) is not modelled on {chip}; "
            f"choose type={DispatchCoreType.WORKER}, axis={DispatchCoreAxis.COL}"
        )
    return dispatch


def dispatch_axis(arch_name: str, *, mux: bool = False) -> DispatchCoreAxis:
    """Return whether dispatch uses a row or column of a generation."""
    return DispatchCoreAxis.ROW if mux or arch_name == "wormhole_b0" else DispatchCoreAxis.COL
