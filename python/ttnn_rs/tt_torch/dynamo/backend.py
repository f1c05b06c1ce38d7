"""The backend and its options."""

from ttnn.compiler.frontends.torch import BackendOptions
from ttnn.compiler.frontends.torch import tt as backend

__all__ = ["BackendOptions", "backend"]
