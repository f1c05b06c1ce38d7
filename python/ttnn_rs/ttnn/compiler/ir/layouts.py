"""Layouts of memrefs that belong to dialects of the chip."""

from __future__ import annotations

from dataclasses import dataclass

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.ir.attributes import OpaqueDialectAttr
from ttnn.compiler.ir.xdsl_adapter import AffineMap, Attribute, MemRefLayoutAttr

__all__ = ["OpaqueLayoutAttr", "is_layout"]

_LAYOUTS = {"ttcore.shard", "ttcore.view", "ttcore.interleaved", "ttcore.host_layout", "ttcore.metal_layout"}


@dataclass(frozen=True)
class OpaqueLayoutAttr(OpaqueDialectAttr, MemRefLayoutAttr):
    """A layout of a memref of which the text is known."""

    def get_affine_map(self) -> AffineMap:
        """Unknown: the chip's layouts depend on the grid too."""
        raise UnsupportedError(
            f"#{self.mnemonic} has no affine map of its own: where elements are depends on the grid too",
            "unimplemented",
        )


def is_layout(attribute: Attribute) -> bool:
    """Return whether an attribute can only be a memref layout.

    It is not the memory space then.
    """
    return isinstance(attribute, OpaqueDialectAttr) and attribute.mnemonic in _LAYOUTS
