"""The official name of `ttnn.compiler.tools.ttrt.query`."""

from ttnn.compiler.tools.ttrt.query import Query as Query
