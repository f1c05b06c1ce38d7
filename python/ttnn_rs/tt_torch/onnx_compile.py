"""ONNX models; the code is in `ttnn.compiler.frontends.onnx_compile`."""

from ttnn.compiler.frontends.onnx_compile import compile_onnx

__all__ = ["compile_onnx"]
