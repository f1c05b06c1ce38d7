"""Configuration."""

from ttnn.compiler.frontends.torch.config import CompileDepth, CompilerConfig, OpByOpBackend, OpCompilationStatus

__all__ = ["CompileDepth", "CompilerConfig", "OpByOpBackend", "OpCompilationStatus"]
