"""The official module of this name: enumerations, and the classes that it re-exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn.base.enums import *  # noqa: F403

# Defined above `ttnn.base.enums`, so looked up when asked for.
_ELSEWHERE = frozenset(
    {
        "DRAM_MEMORY_CONFIG",
        "L1_BLOCK_SHARDED_MEMORY_CONFIG",
        "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
        "L1_MEMORY_CONFIG",
        "L1_WIDTH_SHARDED_MEMORY_CONFIG",
        "BlackholeComputeKernelConfig",
        "CoreCoord",
        "CoreGrid",
        "CoreRange",
        "CoreRangeSet",
        "Device",
        "DeviceComputeKernelConfig",
        "MemoryConfig",
        "MeshDevice",
        "NdShardSpec",
        "Shape",
        "ShardSpec",
        "Tensor",
        "TensorSpec",
        "Tile",
        "WormholeComputeKernelConfig",
    }
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return a name that the official module has and another one defines."""
        if name not in _ELSEWHERE:
            raise AttributeError(f"module 'ttnn.types' has no attribute {name!r}")
        import ttnn

        return getattr(ttnn, name)
