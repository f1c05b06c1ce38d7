"""Import of ONNX models."""

from ttnn.compiler.importers.onnx.importer import Imported, Limits, import_model
from ttnn.compiler.importers.onnx.types import Dtype, dtype_of

__all__ = ["Dtype", "Imported", "Limits", "dtype_of", "import_model"]
