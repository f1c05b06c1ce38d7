"""Differences between versions: one line for each, with its versions.

Passes follow the tt-mlir of the version that their module is of. They ask for a difference by its name, so that this
list says all that versions change besides the fields of operations (`dialects/*/ops.table`) and the rows of tables of
passes and patterns, which have a first or an only version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ttnn.compiler.version import Version, span

__all__ = ["Feature"]


@dataclass(frozen=True)
class Feature:
    """A difference.

    Attributes:
        versions: The span of versions that have it.
    """

    versions: str = ".."

    def of(self, version: Version) -> bool:
        """Return whether a version has it."""
        return version in span(self.versions)


# Text.
DIALECT_TT: Final = Feature("2024-09")
"""Dialect `tt` for devices and layouts, constraints, own program tables.

Operands have constraints, programs have tables of their own.
"""
SHARDED_DRAM: Final = Feature("2026-08..")
"""Tensors in DRAM may be in shards, by height or width."""
CORE_RANGES: Final = Feature("2026-08..")
"""Layouts in shards say on which cores the shards lie."""
DEVICE_MAPS: Final = Feature("2026-08..")
"""Devices have the map back and the grid of DRAM, too."""
FUNCTION_KINDS: Final = Feature("2026-08..")
"""Functions have kinds: program, constants, trace, input generator."""

# The dialect `ttir`.
CONSTANTS_AFTER_OUTPUTS: Final = Feature("2025-10")
"""Constants created by a pass follow the output of their operation."""
FIXED_UNITS: Final = Feature("2025-10")
"""A permutation of dimensions of size one stays."""
BOUNDS_THROUGH_MOVES: Final = Feature("2025-10")
"""Bounds of a clamp are looked for through reshapes, broadcasts and casts."""
SPLAT_CONSTANTS: Final = Feature("2026-08..")
"""A folded one-number tensor is a constant; before, `full`."""
FULL_SIZES: Final = Feature("2026-08..")
"""The size of a dimension is `full`; before it is a constant."""
OUTER_PRODUCTS: Final = Feature("2026-08..")
"""Products over one element are multiplications."""
SHARED_BIASES: Final = Feature("2026-08..")
"""Convolutions that have a bias take in another one, and a scale."""
RELU6_OF_ONE_USE: Final = Feature("2026-08..")
"""`relu6` is made only from otherwise unused operations."""
EARLY_FOLD: Final = Feature("2026-08..")
"""Broadcasts fold before reshapes and permutations move, and last."""
BFP8_CONVERSION: Final = Feature("2025-10")
"""The option `enable-bfp8-conversion` converts functions from bfloat16."""
OPTIMIZATION_LEVEL: Final = Feature("2026-08..")
"""Pipelines have levels of optimization."""

# The dialect `ttnn`.
HOST_LAYOUTS: Final = Feature("2025-10")
"""Tiles of most data types are made and undone on the host."""
HOST_DTYPES: Final = Feature("2025-10")
"""Data types change on the host by `to_dtype`."""
HOST_SHARDS: Final = Feature("2025-10..")
"""Arguments and results that become shards of chips lie on the host."""
MASKED_ATTENTION: Final = Feature("2026-08..")
"""Attention lowers with kernel masks and sinks; one position decodes."""
COMPOSITES: Final = Feature("2026-08..")
"""Composites are resolved, and what they leave is cleaned up."""
LINEAR_BIASES: Final = Feature("2026-08..")
"""A bias that the kernel adds stays in a product with batches."""
LAZY_CREATIONS: Final = Feature("2025-10")
"""Created tensors move to constant functions only with users.

With what needs them.
"""
EMPTY_CALLS: Final = Feature("2025-10")
"""The main function calls programs without inputs, too."""
TRACE_SLOTS: Final = Feature("2026-08..")
"""Traces have slot allocation functions and host inputs."""

# Kernels.
CORE_ARGUMENTS: Final = Feature("2026-08..")
"""Kernel programs have per-core arguments, and union tables.

They are a union in binaries.
"""
KERNEL_OBJECTS: Final = Feature("2026-08..")
"""Circular buffers and the NoC are objects with methods."""
