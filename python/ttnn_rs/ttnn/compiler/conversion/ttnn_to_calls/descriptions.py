"""Tensor descriptions of binaries, for all versions.

Shape, data type, layout and memory config.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Name, New

__all__ = ["DTYPE_NAMES", "Description", "describe", "dtype_name", "memory_config"]

#: Public names of data types by their names in binaries. A block float of 8 bits with a 5-bit exponent, and the two-bit
#: ones, have no tensors in TT-NN.
DTYPE_NAMES: Final = {
    "Float32": "ttnn.float32",
    "BFloat16": "ttnn.bfloat16",
    "BFP_BFloat8": "ttnn.bfloat8_b",
    "BFP_BFloat4": "ttnn.bfloat4_b",
    "UInt32": "ttnn.uint32",
    "UInt16": "ttnn.uint16",
    "UInt8": "ttnn.uint8",
    "Int32": "ttnn.int32",
}
_LAYOUTS: Final = {
    "None": "INTERLEAVED",
    "Interleaved": "INTERLEAVED",
    "HeightSharded": "HEIGHT_SHARDED",
    "WidthSharded": "WIDTH_SHARDED",
    "BlockSharded": "BLOCK_SHARDED",
}
_BUFFERS: Final = {"DRAM": "DRAM", "L1": "L1", "SystemMemory": "SYSTEM_MEMORY", "L1Small": "L1_SMALL", "Trace": "TRACE"}
_SPACES: Final = {"DeviceDRAM": "DRAM", "DeviceL1": "L1"}


def dtype_name(data_type: str | int) -> Name:
    """Return the public name of a data type.

    Raises:
        UnsupportedError: TT-NN has no tensors of it.
    """
    if data_type not in DTYPE_NAMES:
        raise UnsupportedError(
            f"data type {data_type}: TT-NN has no tensors of it. There are {', '.join(DTYPE_NAMES)}."
        )
    return Name(DTYPE_NAMES[str(data_type)])


@dataclass(frozen=True)
class Description:
    """A tensor as a binary describes it.

    Attributes:
        shape: Logical sizes.
        data_type: Name in binaries, such as "BFloat16".
        tiled: Whether it is in tiles; otherwise row-major.
        memory: Its memory configuration, or `None` on the host.
        mesh_shape: Chips that it is spread over.
    """

    shape: tuple[int, ...]
    data_type: str
    tiled: bool
    memory: New | None
    mesh_shape: tuple[int, ...] = (1, 1)

    @cached_property
    def key(self) -> str:
        """Text that equal descriptions share."""
        return repr(self)

    def in_tiles(self) -> Description:
        """Return the tensor's description in tiles; shards become whole tiles."""
        memory = self.memory
        if memory is not None and len(memory.arguments) == 3:
            spec = memory.arguments[2]
            ranges, shape, orientation = spec.arguments
            padded = [-(-size // 32) * 32 for size in shape]
            memory = replace(
                memory, arguments=(*memory.arguments[:2], replace(spec, arguments=(ranges, padded, orientation)))
            )
        return replace(self, tiled=True, memory=memory)

    @property
    def on_host(self) -> bool:
        """Return True if the tensor is in host memory."""
        return self.memory is None

    @property
    def dtype(self) -> Name:
        """Public name of the data type."""
        return dtype_name(self.data_type)

    @property
    def layout(self) -> Name:
        """Public name of the layout."""
        return Name("ttnn.TILE_LAYOUT" if self.tiled else "ttnn.ROW_MAJOR_LAYOUT")


def _core(x: int, y: int) -> New:
    return New("ttnn.CoreCoord", (x, y))


def _memory(layout: str, buffer: str, shard: New | None) -> New:
    parts: tuple[Any, ...] = (Name(f"ttnn.TensorMemoryLayout.{layout}"), Name(f"ttnn.BufferType.{buffer}"))
    return New("ttnn.MemoryConfig", (*parts, shard) if shard is not None else parts)


def _shard(ranges: list[New], shape: tuple[int, ...], orientation: str = "ROW_MAJOR") -> New:
    return New(
        "ttnn.ShardSpec",
        (New("ttnn.CoreRangeSet", (list(ranges),)), list(shape), Name(f"ttnn.ShardOrientation.{orientation}")),
    )


def memory_config(table: dict[str, Any] | None, shard: New | None = None) -> New | None:
    """Return a table's memory configuration, or `None` for host.

    The table is `MemoryConfig` or `MemoryConfigDesc`.

    Args:
        table: The table, or `None` if the binary has none.
        shard: Where the shards are, if the table does not say it.

    Raises:
        UnsupportedError: A placement that the package does not have.
    """
    if table is None or table["buffer_type"] == "SystemMemory":
        return None
    layout = table["tensor_memory_layout"]
    if layout not in _LAYOUTS:
        raise UnsupportedError(f"memory layout {layout} is not supported; there are {', '.join(_LAYOUTS)}.")
    spec = table.get("shard_spec")
    if spec is not None:
        ranges = [
            New(
                "ttnn.CoreRange",
                (
                    _core(part["start_coord"]["x"], part["start_coord"]["y"]),
                    _core(part["end_coord"]["x"], part["end_coord"]["y"]),
                ),
            )
            for part in spec["core_range_set"]["core_ranges"]
        ]
        orientation = {"RowMajor": "ROW_MAJOR", "ColMajor": "COL_MAJOR"}[spec["orientation"]]
        shard = _shard(ranges, tuple(spec["shape"]), orientation)
    return _memory(_LAYOUTS[layout], _BUFFERS[table["buffer_type"]], shard if "Sharded" in layout else None)


def describe(reference: dict[str, Any]) -> Description:
    """Return the description of a table `TensorRef` of any version.

    Upgraded tables contain the description itself.

    Raises:
        FileFormatError: The description lacks its layout.
        UnsupportedError: A placement that the package does not have.
    """
    try:
        desc = reference["desc"]
        if isinstance(desc, Description):
            return desc
        layout = desc["layout"]
        memory = layout["memory_desc"]
        tile = memory.get("tile_shape", {"y": 1, "x": 1})
        tiled = (tile["y"], tile["x"]) != (1, 1)
        shape = tuple(desc.get("shape", ()))
        data_type = str(memory["data_type"])
        if "memory_space" in memory:
            return Description(shape, data_type, tiled, _tt_memory(layout, memory))
        on_host = memory["storage_type"] == "Host"
        config = None if on_host else memory_config(memory.get("memory_config"))
        mesh = tuple(desc.get("mesh_shape", ())) or (1, 1)
        return Description(shape, data_type, tiled, config, mesh)
    except KeyError as error:
        number = reference.get("global_id")
        raise FileFormatError(f"tensor {number} of the binary has no {error}. Build the binary again.") from None


def _tt_memory(layout: dict[str, Any], memory: dict[str, Any]) -> New | None:
    """The memory configuration of 2024-09.

    Shards follow from grid and memory shape there.
    """
    if memory["memory_space"] in ("System", "SystemMMIO"):
        return None
    kind = memory["memory_layout"]
    if kind not in _LAYOUTS:
        raise UnsupportedError(f"memory layout {kind} is not supported; there are {', '.join(_LAYOUTS)}.")
    shard = None
    if "Sharded" in kind:
        ranges = [
            New(
                "ttnn.CoreRange",
                (
                    _core(part["loc"]["x"], part["loc"]["y"]),
                    _core(part["loc"]["x"] + part["size"]["x"] - 1, part["loc"]["y"] + part["size"]["y"] - 1),
                ),
            )
            for part in layout["core_range_set"]
        ]
        tile = memory["tile_shape"]
        rows, columns = memory["shape"][-2:]
        shard = _shard(ranges, (rows * tile["y"], columns * tile["x"]))
    return _memory(_LAYOUTS[kind], _SPACES[memory["memory_space"]], shard)
