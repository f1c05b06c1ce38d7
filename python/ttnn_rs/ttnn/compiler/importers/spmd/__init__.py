"""StableHLO programs with shardings, divided among the devices of a mesh.

The result is the program of one device: shapes of parts, and collectives where a device needs those of others.
"""

from ttnn.compiler.importers.spmd.program import Partitioned, partition
from ttnn.compiler.importers.spmd.propagation import propagate

__all__ = ["Partitioned", "partition", "propagate"]
