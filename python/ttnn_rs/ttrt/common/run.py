"""The official name of `ttnn.compiler.tools.ttrt.run`."""

from ttnn.compiler.tools.ttrt.run import Run as Run
