"""The MLIR bindings under their official name: `ttnn.compiler.tools.bindings.ir`."""

from ttnn.compiler.tools.bindings.ir import *  # noqa: F403
from ttnn.compiler.tools.bindings.ir import __all__ as __all__
