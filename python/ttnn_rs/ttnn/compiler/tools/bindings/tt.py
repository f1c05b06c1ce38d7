"""`ttmlir.dialects.tt`: enumerations, attributes and types of the base dialect.

The attributes and types are in `ir`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from types import SimpleNamespace
from typing import Any

from ttnn.compiler.dialects import attributes
from ttnn.compiler.dialects.ttcore.algebra import collapsed_map, shard_shape, tiled_shape
from ttnn.compiler.dialects.ttcore.device import Device
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.dialects.ttcore.system_desc_attribute import from_attribute, to_attribute
from ttnn.compiler.ir.xdsl_adapter import MemRefType, NoneAttr
from ttnn.compiler.tools.bindings.ir import WRAPPERS, AffineMap, Attribute, Context, RankedTensorType, Type

__all__ = ["DataType", "MemorySpace", "OOBVal", "TensorMemoryLayout", "ir", "register_dialect"]


class MemorySpace(Enum):
    """Memory space of a tensor."""

    System = "system"
    SystemMMIO = "mmio"
    DeviceDRAM = "dram"
    DeviceL1 = "l1"


class TensorMemoryLayout(Enum):
    """Memory layout of a tensor on the device."""

    None_ = "none"
    Interleaved = "interleaved"
    SingleBank = "single_bank"
    HeightSharded = "height_sharded"
    WidthSharded = "width_sharded"
    BlockSharded = "block_sharded"


class OOBVal(Enum):
    """Padding value."""

    Undef = "undef"
    Zero = "zero"
    One = "one"
    Inf = "inf"
    NegInf = "neginf"


class DataType(Enum):
    """Data types of elements."""

    Float32 = "f32"
    Float16 = "f16"
    BFloat16 = "bf16"
    BFP_Float8 = "bfp_f8"
    BFP_BFloat8 = "bfp_bf8"
    BFP_Float4 = "bfp_f4"
    BFP_BFloat4 = "bfp_bf4"
    BFP_Float2 = "bfp_f2"
    BFP_BFloat2 = "bfp_bf2"
    UInt32 = "u32"
    UInt16 = "u16"
    UInt8 = "u8"


def register_dialect(context: Context, load: bool = True) -> None:
    """Make the dialect known to a context; all are."""


class TileType(Type):
    """`!tt.tile`."""

    @staticmethod
    def get(context: Context, height: int, width: int, data_type: DataType) -> TileType:
        """Return the type of a tile."""
        return TileType(attributes.TileType("tt", height, width, data_type.value))


class GridAttr(Attribute):
    """`#tt.grid`."""

    @staticmethod
    def get(context: Context, shape: Sequence[int], mapping: AffineMap | None = None) -> GridAttr:
        """Return a grid."""
        made = attributes.GridAttr("tt", tuple(shape), mapping.raw if mapping is not None else None)
        made.verify()
        return GridAttr(made)

    @property
    def shape(self) -> list[int]:
        """Sizes."""
        assert isinstance(self.raw, attributes.GridAttr)
        return list(self.raw.shape)


def _memref(linear: Any, shape: Sequence[int], grid: Sequence[int], element: Any, space: Any) -> MemRefType[Any]:
    shard = shard_shape(linear, tuple(shape), tuple(grid))
    if isinstance(element, attributes.TileType):
        shard = tiled_shape(shard, (element.height, element.width))
    return MemRefType(element, list(shard), NoneAttr(), space)


class LayoutAttr(Attribute):
    """`#tt.layout`."""

    @property
    def _layout(self) -> attributes.LayoutAttr:
        assert isinstance(self.raw, attributes.LayoutAttr)
        return self.raw

    @staticmethod
    def get(
        context: Context,
        tensor_type: RankedTensorType,
        memory_space: MemorySpace,
        grid: GridAttr,
        collapse_intervals: Sequence[tuple[int, int]] = ((0, -1),),
        oob_val: OOBVal = OOBVal.Undef,
        memory_layout: TensorMemoryLayout = TensorMemoryLayout.None_,
    ) -> LayoutAttr:
        """Return the layout of a tensor on a grid.

        Raises:
            LayoutError: The collapse intervals do not fit the tensor and the grid.
        """
        linear = collapsed_map(tensor_type.shape, len(grid.shape), collapse_intervals)
        space = attributes.enum("tt.memory_space", memory_space.value)
        memref = _memref(linear, tensor_type.shape, grid.shape, tensor_type.element_type.raw, space)
        assert isinstance(grid.raw, attributes.GridAttr)
        return LayoutAttr(attributes.LayoutAttr(linear, oob_val.value, grid.raw, memref, memory_layout.value))

    @staticmethod
    def with_grid_(
        context: Context,
        layout: LayoutAttr,
        tensor_shape: Sequence[int],
        grid: GridAttr,
        collapse_intervals: Sequence[tuple[int, int]] = ((0, -1),),
    ) -> LayoutAttr:
        """Return a layout on another grid."""
        old = layout._layout
        linear = collapsed_map(tensor_shape, len(grid.shape), collapse_intervals)
        memref = _memref(linear, tensor_shape, grid.shape, old.element, old.memref.memory_space)
        assert isinstance(grid.raw, attributes.GridAttr)
        return LayoutAttr(replace(old, linear=linear, grid=grid.raw, memref=memref))

    @staticmethod
    def with_element_type_(context: Context, layout: LayoutAttr, element_type: Type) -> LayoutAttr:
        """Return a layout with another element.

        Tiles divide the shard, scalars undo tiles.
        """
        old, element = layout._layout, element_type.raw
        shape = list(old.memref.get_shape())
        if isinstance(old.element, attributes.TileType):
            shape[-2:] = [shape[-2] * old.element.height, shape[-1] * old.element.width]
        if isinstance(element, attributes.TileType):
            shape = list(tiled_shape(shape, (element.height, element.width)))
        memref = MemRefType(element, shape, NoneAttr(), old.memref.memory_space)
        return LayoutAttr(replace(old, memref=memref))

    def wrapped(self) -> LayoutAttr:
        """Return the attribute."""
        return self


class SystemDescAttr(Attribute):
    """`#tt.system_desc`."""

    @staticmethod
    def get_default(context: Context) -> SystemDescAttr:
        """Return the default descriptor."""
        return SystemDescAttr(to_attribute(SystemDesc.default(), "tt"))


class DeviceAttr(Attribute):
    """`#tt.device`."""

    @staticmethod
    def get(
        context: Context,
        grid_shape: Sequence[int],
        worker_grid_mapping: AffineMap,
        l1_map: AffineMap,
        dram_map: AffineMap,
        mesh_shape: Sequence[int],
        chip_ids: Sequence[int],
    ) -> DeviceAttr:
        """Return a device."""
        grid = attributes.GridAttr("tt", tuple(grid_shape), worker_grid_mapping.raw)
        made = attributes.DeviceAttr("tt", grid, l1_map.raw, dram_map.raw, tuple(mesh_shape), tuple(chip_ids))
        made.verify()
        return DeviceAttr(made)

    @staticmethod
    def from_system_desc(context: Context, system_desc: SystemDescAttr, mesh_shape: Sequence[int]) -> DeviceAttr:
        """Return the device of a mesh of a system's chips.

        Raises:
            DeviceError: The mesh is larger than the system.
        """
        assert isinstance(system_desc.raw, attributes.SystemDescAttr)
        device = Device.of_system(from_attribute(system_desc.raw), mesh_shape)
        grid = attributes.GridAttr("tt", device.grid, device.workers)
        return DeviceAttr(attributes.DeviceAttr("tt", grid, device.l1, device.dram, device.mesh_shape, device.chip_ids))

    def unwrap(self) -> DeviceAttr:
        """Return the attribute."""
        return self


WRAPPERS |= {
    attributes.TileType: TileType,
    attributes.GridAttr: GridAttr,
    attributes.LayoutAttr: LayoutAttr,
    attributes.SystemDescAttr: SystemDescAttr,
    attributes.DeviceAttr: DeviceAttr,
}

ir = SimpleNamespace(
    DeviceAttr=DeviceAttr,
    GridAttr=GridAttr,
    LayoutAttr=LayoutAttr,
    SystemDescAttr=SystemDescAttr,
    TileType=TileType,
)
"""Attributes and types."""
