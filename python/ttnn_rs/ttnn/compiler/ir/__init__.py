"""MLIR text: parser, writer, diagnostics, and xdsl adapter.

Only that module knows the version of xdsl.

The functions that know all dialects are in `ttnn.compiler.dialects`; this package takes the dialects as a `Registry`.
"""

from ttnn.compiler.ir.attributes import DenseAttr, DialectAttr, OpaqueDialectAttr, ResourceAttr
from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic
from ttnn.compiler.ir.module import Module, location_name
from ttnn.compiler.ir.printing import attribute_text

__all__ = [
    "CompileError",
    "DenseAttr",
    "Diagnostic",
    "DialectAttr",
    "Module",
    "OpaqueDialectAttr",
    "ResourceAttr",
    "attribute_text",
    "location_name",
]
