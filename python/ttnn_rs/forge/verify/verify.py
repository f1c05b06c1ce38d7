"""Comparison with frameworks."""

from ttnn.compiler.frontends.forge.verify import verify

__all__ = ["verify"]
