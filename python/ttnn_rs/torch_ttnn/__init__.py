"""Names of the older FX compiler; the code is in `ttnn.compiler.frontends.torch`."""

from ttnn.compiler.frontends.torch import TorchTtnnOption
from ttnn.compiler.frontends.torch import ttnn as backend

__all__ = ["TorchTtnnOption", "backend"]
