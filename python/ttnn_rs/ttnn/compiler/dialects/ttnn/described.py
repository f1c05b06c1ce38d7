"""Layout of a tensor in the form of operation attributes."""

from __future__ import annotations

from ttnn.compiler.dialects.attributes import EnumAttr, MemoryConfigAttr, TTNNLayoutAttr

__all__ = ["data_type_attr", "layout_enum", "memory_config"]


def data_type_attr(layout: TTNNLayoutAttr) -> EnumAttr:
    """Return the data type of a layout."""
    return EnumAttr("ttcore.supportedDataTypes", layout.dtype)


def layout_enum(layout: TTNNLayoutAttr) -> EnumAttr:
    """Return whether a layout is of tiles or rows."""
    return EnumAttr("ttnn.layout", "tile" if layout.tiled else "row_major")


def memory_config(layout: TTNNLayoutAttr) -> MemoryConfigAttr:
    """Return the memory configuration of a layout."""
    space = layout.memref.memory_space
    buffer = space if isinstance(space, EnumAttr) else EnumAttr("ttnn.buffer_type", "system_memory")
    return MemoryConfigAttr(buffer, layout.mem_layout)
