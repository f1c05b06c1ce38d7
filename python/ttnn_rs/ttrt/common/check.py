"""The official name of `ttnn.compiler.tools.ttrt.check`."""

from ttnn.compiler.tools.ttrt.check import Check as Check
