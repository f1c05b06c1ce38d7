"""ONNX models on the device."""

from ttnn.compiler.frontends.onnx_compile.program import OnnxProgram, compile_onnx

__all__ = ["OnnxProgram", "compile_onnx"]
