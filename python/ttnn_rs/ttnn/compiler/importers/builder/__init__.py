"""Typed construction of `ttir` programs."""

from ttnn.compiler.importers.builder.builder import Builder, program
from ttnn.compiler.importers.builder.types import element_of, scalar, shape_of, tensor

__all__ = ["Builder", "element_of", "program", "scalar", "shape_of", "tensor"]
