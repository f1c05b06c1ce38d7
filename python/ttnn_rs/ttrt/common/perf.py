"""The official name of `ttnn.compiler.tools.ttrt.perf`."""

from ttnn.compiler.tools.ttrt.perf import Perf as Perf
