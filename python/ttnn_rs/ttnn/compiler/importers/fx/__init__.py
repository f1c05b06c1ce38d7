"""Import of graphs of PyTorch (FX, aten operations)."""

from ttnn.compiler.importers.fx.importer import Imported, import_graph, row_of
from ttnn.compiler.importers.fx.types import element_for

__all__ = ["Imported", "element_for", "import_graph", "row_of"]
