"""Comparison with PyTorch."""

from ttnn.compiler.frontends.torch.verify import verify_against_golden, verify_module

__all__ = ["verify_against_golden", "verify_module"]
