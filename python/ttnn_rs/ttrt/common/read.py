"""The official name of `ttnn.compiler.tools.ttrt.read`."""

from ttnn.compiler.tools.ttrt.read import Read as Read
