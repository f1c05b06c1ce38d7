"""Canonical forms of `ttnn` operations, in order."""

from __future__ import annotations

from ttnn.compiler.transforms.rewriting import pattern
from ttnn.compiler.transforms.ttnn.canonical import chains, collectives, creation

__all__ = ["LIBRARY"]

LIBRARY = (
    pattern(chains.same_type, "typecast", "reshape", "to_tensor_spec", versions="2025-10..", dialect="ttnn"),
    pattern(chains.same_type, "to_dtype", versions="2025-10", dialect="ttnn"),
    pattern(chains.casts, "typecast", versions="2025-10..", dialect="ttnn"),
    pattern(chains.casts, "to_dtype", versions="2025-10", dialect="ttnn"),
    pattern(chains.reshapes, "reshape", versions="2025-10..", dialect="ttnn"),
    pattern(chains.same_type, "to_layout", versions="2025-10..", dialect="ttnn"),
    pattern(chains.layouts, "to_layout", "to_tensor_spec", versions="2025-10..", dialect="ttnn"),
    pattern(
        collectives.of_one_chip, "all_gather", "all_reduce", "reduce_scatter", versions="2025-10..", dialect="ttnn"
    ),
    pattern(creation.created, "to_tensor_spec", versions="2025-10..", dialect="ttnn"),
    pattern(chains.cast_and_back, "to_tensor_spec", versions="2026-08..", dialect="ttnn"),
    pattern(chains.repeated_right, "matmul", versions="2026-08..", dialect="ttnn"),
    pattern(chains.permutes, "permute", versions="2026-08..", dialect="ttnn"),
    pattern(chains.permute_of_units, "permute", versions="2026-08..", dialect="ttnn"),
)
"""Canonical forms of operations of the chains."""
