"""The official name of `ttnn.compiler.tools.ttrt.api`."""

from ttnn.compiler.tools.ttrt.api import API as API
