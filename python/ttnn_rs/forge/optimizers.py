"""Optimizers."""

from ttnn.compiler.frontends.forge.optimizers import SGD, Adam, AdamW, Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
