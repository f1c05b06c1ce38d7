"""Helpers for programs of jax: texts and predicted times."""

from ttnn.compiler.frontends.jax.helpers import predicted_time, ttir

__all__ = ["predicted_time", "ttir"]
