"""Comparison of values."""

from ttnn.compiler.frontends.forge.checkers import compare_with_golden

__all__ = ["compare_with_golden"]
