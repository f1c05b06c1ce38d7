"""Compiled programs of frameworks, and how they run."""

from ttnn.compiler.frontends.plan import Plan, compile_stablehlo, compile_ttir

__all__ = ["Plan", "compile_stablehlo", "compile_ttir"]
