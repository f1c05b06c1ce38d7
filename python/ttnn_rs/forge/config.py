"""Configurations."""

from ttnn.compiler.frontends.forge.config import CompileDepth, CompilerConfig, MLIRConfig
from ttnn.compiler.frontends.forge.formats import DataFormat, MathFidelity

__all__ = ["CompileDepth", "CompilerConfig", "DataFormat", "MLIRConfig", "MathFidelity"]
