"""Execution of binaries under its official name: `ttnn.compiler.tools.ttrt.runtime`."""

from ttnn.compiler.tools.ttrt.runtime import *  # noqa: F403
from ttnn.compiler.tools.ttrt.runtime import __all__ as __all__
