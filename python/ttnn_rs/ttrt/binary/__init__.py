"""Binaries under their official name: `ttnn.compiler.tools.ttrt.binary`."""

from ttnn.compiler.tools.ttrt.binary import *  # noqa: F403
from ttnn.compiler.tools.ttrt.binary import __all__ as __all__
