"""StableHLO programs: reading them, and their import as `ttir`."""

from ttnn.compiler.importers.stablehlo.control_flow import UNROLLED
from ttnn.compiler.importers.stablehlo.importer import to_ttir
from ttnn.compiler.importers.stablehlo.reader import read

__all__ = ["UNROLLED", "read", "to_ttir"]
