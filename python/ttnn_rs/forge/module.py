"""Modules."""

from ttnn.compiler.frontends.forge.modules import ForgeModule, JaxModule, Module, OnnxModule, PyTorchModule

__all__ = ["ForgeModule", "JaxModule", "Module", "OnnxModule", "PyTorchModule"]
