"""StableHLO programs: reading them, and their import as `ttir`."""

from ttnn.compiler.importers.stablehlo.importer import to_ttir
from ttnn.compiler.importers.stablehlo.reader import read

__all__ = ["read", "to_ttir"]
