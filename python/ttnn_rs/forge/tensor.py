"""Tensors."""

from ttnn.compiler.frontends.forge.tensor import Tensor, to_forge_tensors, to_pt_tensor, to_pt_tensors

__all__ = ["Tensor", "to_forge_tensors", "to_pt_tensor", "to_pt_tensors"]
