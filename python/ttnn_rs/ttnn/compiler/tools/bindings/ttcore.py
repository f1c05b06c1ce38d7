"""`ttmlir.dialects.ttcore`: grids, devices and tiles of the later versions.

Calls that two versions share make what the environment variable `TTMLIR_DEFAULT_VERSION` names, 2025-10 or 2026-08;
without it that of 2026-08.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from ttnn.base.exceptions import ArgumentError
from ttnn.compiler.dialects import attributes
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.dialects.ttcore.device import Device
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute, to_attribute
from ttnn.compiler.tools.bindings.ir import AffineMap, Attribute, Context, Type, default_version
from ttnn.compiler.tools.data_types import DataType
from ttnn.compiler.transforms.ttcore.device import device_attribute

__all__ = ["DataType", "Topology", "ir"]


#: Words of the data types of `DataType`, in its order.
_WORDS = ENUMS["ttcore.supportedDataTypes"]


class Topology(IntEnum):
    """A mesh dimension's chip connection, with the dialect's numbers."""

    Ring = 0
    Linear = 1
    Mesh = 2
    Torus = 3
    Disabled = 4


class TileType(Type):
    """`!ttcore.tile`."""

    @staticmethod
    def get(context: Context, height: int, width: int, data_type: int) -> TileType:
        """Return a tile's type; `data_type` is a `DataType` or number."""
        return TileType(attributes.TileType("ttcore", height, width, _WORDS[DataType(data_type)]))

    @property
    def _tile(self) -> attributes.TileType:
        assert isinstance(self.raw, attributes.TileType)
        return self.raw

    @property
    def data_type_as_int(self) -> int:
        """Number of its data type."""
        return _WORDS.index(self._tile.dtype)

    @property
    def shape(self) -> list[int]:
        """Rows and columns."""
        return [self._tile.height, self._tile.width]


class GridAttr(Attribute):
    """`#ttcore.grid`."""

    @staticmethod
    def get(context: Context, shape: Sequence[int], *maps: AffineMap) -> GridAttr:
        """Return a grid with its version's maps.

        Without maps, with the one to chips and cores (2025-10), or with that and the map back.
        """
        return GridAttr(_grid(shape, maps))

    @property
    def shape(self) -> list[int]:
        """Sizes."""
        assert isinstance(self.raw, attributes.GridAttr)
        return list(self.raw.shape)


def _grid(shape: Sequence[int], maps: Sequence[AffineMap]) -> attributes.GridAttr:
    """Return a grid with zero to two maps."""
    there, back = [*(one.raw for one in maps), None, None][:2]
    made = attributes.GridAttr("ttcore", tuple(shape), there, back, keyed=len(maps) == 2)
    made.verify()
    return made


class SystemDescAttr(Attribute):
    """`#ttcore.system_desc`."""

    @staticmethod
    def get_default(context: Context) -> SystemDescAttr:
        """Return the default descriptor."""
        return SystemDescAttr(to_attribute(SystemDesc.default(), "ttcore"))


class DeviceAttr(Attribute):
    """`#ttcore.device`."""

    @staticmethod
    def get(context: Context, grid_shape: Sequence[int], *parts: Any) -> DeviceAttr:
        """Return a device.

        Args:
            context: What it belongs to.
            grid_shape: Cores per dimension.
            parts: Maps of the grid to (chip, y, x) and, in 2026-08, back; maps of L1 and of DRAM, sizes of
                the mesh, and its chips; in 2026-08 then the topology of each of its dimensions.

        Raises:
            ArgumentError: These are arguments neither of 2025-10 nor of 2026-08.
        """
        count = sum(isinstance(part, AffineMap) for part in parts)
        if (count, len(parts)) not in ((3, 5), (4, 6), (4, 7)):
            raise ArgumentError(
                "DeviceAttr.get: three maps, mesh_shape and chip_ids (2025-10), or four maps, mesh_shape, chip_ids and "
                f"mesh_topology (2026-08), got {count} maps among {len(parts)} arguments."
            )
        rest: list[tuple[str, str]] = []
        if count == 4:
            rest.append(("dramGrid", "#ttcore.grid<1x1>"))
            topology = ", ".join(Topology(one).name.lower() for one in (parts[6] if len(parts) == 7 else ()))
            rest += [("meshTopology", f"[{topology}]")] if topology else []
        made = attributes.DeviceAttr(
            "ttcore",
            _grid(grid_shape, parts[: count - 2]),
            parts[count - 2].raw,
            parts[count - 1].raw,
            tuple(parts[count]),
            tuple(parts[count + 1]),
            tuple(rest),
        )
        made.verify()
        return DeviceAttr(made)

    @staticmethod
    def from_system_desc(context: Context, system_desc: SystemDescAttr, mesh_shape: Sequence[int]) -> DeviceAttr:
        """Return the device of a mesh of a system's chips.

        Raises:
            DeviceError: The mesh is larger than the system.
        """
        assert isinstance(system_desc.raw, attributes.SystemDescAttr)
        desc = from_attribute(system_desc.raw)
        return DeviceAttr(
            device_attribute(desc, Device.of_system(desc, mesh_shape), tuple(mesh_shape), default_version())
        )

    def unwrap(self) -> DeviceAttr:
        """Return the attribute."""
        return self

    @property
    def _device(self) -> attributes.DeviceAttr:
        assert isinstance(self.raw, attributes.DeviceAttr)
        return self.raw

    @property
    def grid_attr(self) -> GridAttr:
        """The grid of its cores."""
        return GridAttr(self._device.grid)

    @property
    def mesh_shape(self) -> list[int]:
        """Chips per dimension."""
        return list(self._device.mesh_shape)

    @property
    def chip_ids(self) -> list[int]:
        """Its chips."""
        return list(self._device.chip_ids)


ir = SimpleNamespace(
    DeviceAttr=DeviceAttr,
    GridAttr=GridAttr,
    SystemDescAttr=SystemDescAttr,
    TileType=TileType,
    Topology=Topology,
)
"""Attributes and types."""
