"""Dispatch cores.

The compute grid is the rest of the chip's worker cores.
"""

from __future__ import annotations

from ttnn.base.call import shown
from ttnn.base.enums import DispatchCoreAxis, DispatchCoreType
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.device.systems import default_arch_name


class DispatchCoreConfig:
    """Worker cores for dispatch.

    They are a row or a column of them on Wormhole and a column on Blackhole.
    """

    __slots__ = ("_axis", "_type")

    def __init__(
        self,
        type: DispatchCoreType | None = None,
        axis: DispatchCoreAxis | None = None,
        fabric_tensix_config: object = None,
    ) -> None:
        if type is not None and not isinstance(type, DispatchCoreType):
            raise ArgumentError(f"DispatchCoreConfig(): type must be a DispatchCoreType, got {shown(type)}")
        if axis is not None and not isinstance(axis, DispatchCoreAxis):
            raise ArgumentError(f"DispatchCoreConfig(): axis must be a DispatchCoreAxis, got {shown(axis)}")
        if fabric_tensix_config is not None:
            raise UnsupportedError(
                "DispatchCoreConfig(): the fabric between chips is not modelled; fabric_tensix_config must be None"
            )
        self._type = type or DispatchCoreType.WORKER
        self._axis = axis

    @property
    def type(self) -> DispatchCoreType:
        """Return the kind of core."""
        return self._type

    @property
    def axis(self) -> DispatchCoreAxis:
        """Return the axis of the dispatch cores.

        Default: that of the chips of `open_device`.
        """
        return self._axis or dispatch_axis(default_arch_name())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DispatchCoreConfig):
            return NotImplemented
        return (self._type, self.axis) == (other._type, other.axis)

    def __hash__(self) -> int:
        return hash((self._type, self.axis))

    def __repr__(self) -> str:
        return f"DispatchCoreConfig(type={self._type}, axis={self.axis})"


def axis_of(chip: str, arch_name: str, config: DispatchCoreConfig | None) -> DispatchCoreAxis:
    """Return the dispatch cores of a chip that is opened with `config`.

    Raises:
        ArgumentError: no `DispatchCoreConfig`.
        UnsupportedError: dispatch on Ethernet cores, or a row of a Blackhole.
    """
    own = dispatch_axis(arch_name)
    if config is None:
        return own
    if not isinstance(config, DispatchCoreConfig):
        raise ArgumentError(f"open_device: dispatch_core_config must be a DispatchCoreConfig, got {shown(config)}")
    axis = config._axis or own
    if config.type is not DispatchCoreType.WORKER or (axis is not own and own is DispatchCoreAxis.COL):
        axes = " or ".join(str(each) for each in DispatchCoreAxis if own is DispatchCoreAxis.ROW or each is own)
        raise UnsupportedError(
            f"open_device: {config} is not modelled on {chip}; choose type={DispatchCoreType.WORKER}, axis={axes}"
        )
    return axis


def dispatch_axis(arch_name: str) -> DispatchCoreAxis:
    """Return whether dispatch uses a row or column of a generation."""
    return DispatchCoreAxis.ROW if arch_name == "wormhole_b0" else DispatchCoreAxis.COL
