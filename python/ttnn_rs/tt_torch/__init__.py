"""Names of tt-torch; the code is in `ttnn.compiler.frontends.torch`."""

from ttnn.compiler.frontends.torch import tt, tt_experimental, tt_legacy
from ttnn.compiler.frontends.torch.exported import compile_exported

__all__ = ["compile_exported", "tt", "tt_experimental", "tt_legacy"]
